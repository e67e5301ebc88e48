// The inbox: keeps what is typed, marks what is seen, offers quick replies, moves with the keyboard, and tells of what arrives.
// Reading and answering work without it.
"use strict";

{
  const inbox = document.querySelector(".inbox");
  const main = document.querySelector("main");
  const form = document.querySelector("form[data-draft]");
  const field = form?.querySelector("textarea");
  const body = (values) => new URLSearchParams(values);
  const post = (address, values) => fetch(address, { method: "POST", body: body(values) }).catch(() => undefined);

  // What is typed is kept soon, and once more when the page is left.

  let kept = field?.value;
  let keeping;
  let keepsIt;
  // With the id of the form: once its answer went, what was on its way is not kept any more.
  const begun = () => ({ message: field.value, once: form.elements.once.value });
  async function keep() {
    keeping = undefined;
    if (!field || field.value === kept || form.dataset.sent) return;
    const before = kept;
    kept = field.value;
    keepsIt = post(form.dataset.draft, begun());
    // What could not be kept is tried again with the next letter, and when the page is left.
    if ((await keepsIt)?.status !== 204) kept = before;
  }
  field?.addEventListener("input", () => (keeping ??= setTimeout(keep, 2000)));
  document.querySelector("#upload form")?.addEventListener("submit", keep);
  window.addEventListener("pagehide", () => {
    if (!field || field.value === kept || form.dataset.sent) return;
    navigator.sendBeacon(form.dataset.draft, body(begun()));
  });

  // A link to another form of the same answer waits until what was typed is kept: the next page shows it.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.('.inbox a[href$="#answer"]');
    if (!link || !field || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    keep();
    await keepsIt;
    location.assign(link.href);
  });

  // The answer goes with Ctrl+Enter, or with ⌘ and Enter.

  field?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("button[type=submit]:not([name])"));
  });

  // Quick replies: "/" and the beginning of a word at the beginning of the answer offer those that fit.

  const quick = [...(form?.querySelectorAll("#quick option") ?? [])];
  const offer = Object.assign(document.createElement("ul"), { className: "offer", hidden: true });
  if (quick.length) field.after(offer);
  function take(option) {
    // The service fills it in for the person, as it does without script.
    field.value = "";
    option.selected = true;
    form.requestSubmit(form.querySelector("button[name=action]"));
  }
  field?.addEventListener("input", () => {
    const word = /^\/(\S*)$/.exec(field.value)?.[1].toLowerCase();
    const fits = word === undefined ? [] : quick.filter((option) => option.value.toLowerCase().startsWith(word));
    offer.replaceChildren(...fits.slice(0, 8).map((option) => {
      const item = document.createElement("li");
      const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet" });
      button.textContent = `/${option.value}: ${option.dataset.text}`;
      button.addEventListener("click", () => take(option));
      item.append(button);
      return item;
    }));
    offer.hidden = !fits.length;
  });
  form?.addEventListener("keydown", (event) => {
    if (offer.hidden) return;
    const buttons = [...offer.querySelectorAll("button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      offer.hidden = true;
      field.focus();
    } else if (step) {
      event.preventDefault();
      const place = buttons.indexOf(document.activeElement) + step;
      (buttons[place] ?? field).focus();
    }
  });

  // Alt with an arrow leads to the next conversation of the list.

  document.addEventListener("keydown", (event) => {
    const step = event.altKey && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const links = [...inbox.querySelectorAll(".conversations a")];
    const here = links.findIndex((link) => link.hasAttribute("aria-current"));
    const next = links[here < 0 && step < 0 ? links.length - 1 : here + step];
    if (!next) return;
    event.preventDefault();
    next.click();
  });

  // What a person sees is read.

  let seen = 0;
  function see() {
    const thread = document.getElementById("thread");
    if (!inbox.dataset.seen || !thread || document.hidden || !document.hasFocus()) return;
    const upTo = Number(thread.dataset.upTo);
    if (!Number(thread.dataset.unread) || upTo <= seen) return;
    seen = upTo;
    post(inbox.dataset.seen, { up_to: upTo });
  }
  window.addEventListener("focus", see);

  // The title says how many conversations are unread; a sound and a notification tell that one came, if the person wants
  // them: in any conversation, or in those of the person and of nobody. Then the page is followed while it is hidden, too.

  const title = document.title;
  const notify = document.getElementById("notify");
  const sound = document.getElementById("sound");
  const may = () => "Notification" in window && Notification.permission === "granted";
  const rings = document.getElementById("rings");
  const count = (of) => Number(document.getElementById(`unread-${of}`)?.dataset.unread ?? 0);
  // The same numbers, by what the person may choose.
  const counts = () => ({ all: count("side"), own: count("own"), none: 0 });
  let before = counts();

  function follow() {
    notify.checked = localStorage.pomboNotify === "yes" && may();
    sound.checked = localStorage.pomboSound === "yes";
    rings.value = ["own", "none"].includes(localStorage.pomboRings) ? localStorage.pomboRings : "all";
    if (rings.value !== "none" && (notify.checked || sound.checked)) main.dataset.always = "";
    else delete main.dataset.always;
  }
  notify.closest(".arrivals").hidden = false;
  notify.closest("label").hidden = !("Notification" in window);
  notify.addEventListener("change", async () => {
    const wanted = notify.checked && (may() || (await Notification.requestPermission()) === "granted");
    localStorage.pomboNotify = wanted ? "yes" : "no";
    follow();
  });
  sound.addEventListener("change", () => {
    localStorage.pomboSound = sound.checked ? "yes" : "no";
    follow();
    if (sound.checked) ring();
  });

  rings.addEventListener("change", () => {
    localStorage.pomboRings = rings.value;
    follow();
  });

  function ring() {
    const context = new AudioContext();
    const [tone, level] = [context.createOscillator(), context.createGain()];
    tone.frequency.value = 660;
    level.gain.setValueAtTime(0.1, context.currentTime);
    level.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.4);
    tone.connect(level).connect(context.destination);
    tone.start();
    tone.stop(context.currentTime + 0.4);
    tone.addEventListener("ended", () => context.close());
  }

  function arrived() {
    const now = counts();
    document.title = now.all ? `(${now.all > 99 ? "99+" : now.all}) ${title}` : title;
    const isMore = now[rings.value] > before[rings.value];
    before = now;
    if (!isMore || (!document.hidden && document.hasFocus())) return;
    if (sound.checked) ring();
    if (notify.checked && may()) {
      // One notification for all: a later one takes the place of the one before.
      try {
        const shown = new Notification(inbox.dataset.arrived, { tag: "pombo-inbox", renotify: true });
        shown.addEventListener("click", () => window.focus());
      } catch {
        // Browsers of some phones have notifications for other programs alone: the sound and the title remain.
      }
    }
  }

  let due;
  new MutationObserver(() => {
    due ??= setTimeout(() => {
      due = undefined;
      arrived();
      see();
    }, 50);
  }).observe(document.body, { childList: true, subtree: true });
  follow();
  arrived();
  see();
}
