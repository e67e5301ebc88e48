// A picker of emoji beside a text field: its button opens it, arrows move in it, and Escape leads back to the text.
"use strict";

{
  // In the order of the groups' names, which the button has in the language of the page.
  const GROUPS = [
    "😀 😃 😄 😁 😅 😂 🤣 🙂 🙃 😉 😊 😇 🥰 😍 😘 😋 😜 🤗 🤔 🤐 😐 😏 😒 🙄 😬 😌 😔 😴 🤯 🥳 😎 😮 😲 🥺 😢 😭 😱 😞 😤 😡",
    "👋 🤚 ✋ 👌 🤏 ✌️ 🤞 🤙 👈 👉 👆 👇 👍 👎 ✊ 👊 👏 🙌 👐 🤲 🤝 🙏 ✍️ 💪 👀 🙋 🙆 🤷 🤦",
    "❤️ 🧡 💛 💚 💙 💜 🖤 🤍 💔 💕 💝 💯 ✨ ⭐ 🌟 🔥 🎉 🎊 🎁 🎂 🎈 🏆",
    "🐶 🐱 🐰 🐻 🐦 🐟 🦋 🐝 🌱 🌳 🌷 🌹 🌻 🌸 ☀️ ⛅ 🌧️ ❄️ 🌈 🌙",
    "🍎 🍌 🍊 🍓 🍇 🍅 🌽 🥕 🍞 🧀 🍔 🍟 🍕 🌮 🍝 🍣 🍰 🍪 🍫 🍦 ☕ 🍵 🥤 🍺 🍷",
    "🏠 🏪 🏥 🏦 🏫 🚗 🚕 🚌 🚚 🚲 🏍️ 🚀 ✈️ 🚢 📍 🗺️ ⛱️ ⚽",
    "📱 💻 📷 📞 ✉️ 📧 📦 📎 📅 📌 📝 📄 🔑 🔒 🔧 💡 🛒 🛍️ 💳 💵 💰 🧾 💊 👕 👟 💍 ⏰ ⌛",
    "✅ ☑️ ✔️ ❌ ❗ ❓ ⚠️ 🚫 ➡️ ⬅️ ℹ️ 🆗 🆕 🔔 💬 🟢 🔴",
  ].map((group) => group.split(" "));

  function insert(field, place, emoji) {
    const length = field.value.length - (place.end - place.start) + emoji.length;
    if (field.maxLength >= 0 && length > field.maxLength) return;
    field.setRangeText(emoji, place.start, place.end, "end");
    // What follows the text, such as a preview or a draft, hears of it as of a letter.
    field.dispatchEvent(new Event("input", { bubbles: true }));
    say(emoji);
  }

  function group(title, emoji, id) {
    const part = document.createElement("div");
    const name = Object.assign(document.createElement("p"), { id, textContent: title });
    part.setAttribute("role", "group");
    part.setAttribute("aria-labelledby", id);
    part.append(name, ...emoji.map((one) => Object.assign(document.createElement("button"), { type: "button", textContent: one, tabIndex: -1 })));
    return part;
  }

  // The button that an arrow leads to: the next one, or the nearest one in the next row.
  function beside(buttons, from, key) {
    const place = buttons.indexOf(from);
    const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: buttons.length - 1 }[key];
    if (to !== undefined) return buttons[to];
    const { top, left } = from.getBoundingClientRect();
    const rows = key === "ArrowDown" ? buttons.slice(place) : buttons.slice(0, place).reverse();
    const row = rows.find((button) => Math.abs(button.getBoundingClientRect().top - top) > 1)?.getBoundingClientRect().top;
    const near = rows.filter((button) => button.getBoundingClientRect().top === row);
    const distance = (button) => Math.abs(button.getBoundingClientRect().left - left);
    return near.sort((one, other) => distance(one) - distance(other))[0];
  }

  function prepare(button) {
    const field = document.getElementById(button.dataset.emoji);
    if (!field) return;
    // Where the text is written; at its end, as long as nobody was in it.
    let isTouched = document.activeElement === field;
    field.addEventListener("focus", () => (isTouched = true));
    const caret = () => {
      const end = field.value.length;
      return isTouched ? { start: field.selectionStart, end: field.selectionEnd } : { start: end, end };
    };

    let panel;
    let here;
    function go(to) {
      if (!to) return;
      here.tabIndex = -1;
      here = to;
      here.tabIndex = 0;
      here.focus();
    }
    function make() {
      panel = Object.assign(document.createElement("div"), { id: `${field.id}-emoji`, className: "emoji" });
      panel.setAttribute("role", "group");
      panel.setAttribute("aria-label", button.textContent.trim());
      const names = button.dataset.groups.split("|");
      panel.append(...GROUPS.map((emoji, place) => group(names[place], emoji, `${panel.id}-${place}`)));
      here = panel.querySelector("button");
      here.tabIndex = 0;
      panel.addEventListener("click", (event) => {
        const chosen = event.target.closest("button");
        if (!chosen) return;
        go(chosen);
        insert(field, caret(), chosen.textContent);
        isTouched = true;
      });
      panel.addEventListener("keydown", (event) => {
        if (!/^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(event.key)) return;
        event.preventDefault();
        go(beside([...panel.querySelectorAll("button")], here, event.key));
      });
      button.after(panel);
      button.setAttribute("aria-controls", panel.id);
    }
    function open(isOpen) {
      if (!panel) make();
      panel.hidden = !isOpen;
      button.setAttribute("aria-expanded", String(isOpen));
      if (isOpen) here.focus();
    }
    button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
    document.addEventListener("keydown", (event) => {
      const isInside = event.target === button || panel?.contains(event.target);
      if (event.key !== "Escape" || !isInside || button.getAttribute("aria-expanded") !== "true") return;
      event.preventDefault();
      open(false);
      field.focus();
    });
    button.hidden = false;
  }

  document.querySelectorAll("button[data-emoji]").forEach(prepare);
}
