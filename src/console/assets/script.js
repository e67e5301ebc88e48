// Adds live parts, copy buttons, upload progress and relative times to the console.
// Every page works without script.
"use strict";

const page = document.documentElement;
const words = document.body.dataset;

// The service shows and reads times in the browser's time zone, unless the person chose another one.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.cookie = `pombo_zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax`;

// Relative times, such as "5 minutes ago", with the exact time in the title.

const STEPS = [["second", 60], ["minute", 60], ["hour", 24], ["day", 7]];
const relative = new Intl.RelativeTimeFormat(page.lang, { numeric: "auto" });

function showTime(time) {
  const at = Date.parse(time.dateTime);
  if (Number.isNaN(at)) return;
  let distance = (at - Date.now()) / 1000;
  for (const [unit, most] of STEPS) {
    if (Math.abs(distance) < most) {
      time.dataset.exact ??= time.textContent;
      time.title = `${time.dataset.exact} (${time.dataset.zone ??= time.title})`;
      time.textContent = relative.format(Math.round(distance), unit);
      return;
    }
    distance /= most;
  }
  // Beyond a week, show the date.
  if (time.dataset.exact) time.textContent = time.dataset.exact;
}

function showTimes(root = document) {
  for (const time of root.querySelectorAll("time[data-relative]")) showTime(time);
}

// Copy buttons.

function showCopyButtons(root = document) {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
}

async function copy(button) {
  const value = button.dataset.copy;
  try {
    await navigator.clipboard.writeText(value);
  } catch {
    // Without https there is no clipboard API.
    const area = Object.assign(document.createElement("textarea"), { value, className: "unseen" });
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  say(words.copied);
  const { textContent: label, ariaLabel: name } = button;
  if (button.dataset.label) return;
  button.dataset.label = label;
  button.textContent = words.copied;
  button.ariaLabel = null;
  setTimeout(() => {
    button.textContent = label;
    button.ariaLabel = name;
    delete button.dataset.label;
  }, 1500);
}

// Announces a text to screen readers.
function say(sentence) {
  let speaker = document.getElementById("speaker");
  if (!speaker) {
    speaker = Object.assign(document.createElement("p"), { id: "speaker", className: "unseen" });
    speaker.setAttribute("role", "status");
    document.body.append(speaker);
  }
  speaker.textContent = sentence;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});

// A question is a modal dialog, which keeps the focus. It begins on the harmless answer, and goes back to the button.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[popovertarget]");
  const dialog = button && document.getElementById(button.getAttribute("popovertarget"));
  if (dialog?.matches("dialog")) {
    event.preventDefault();
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }
  // An open menu closes at a click anywhere else.
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// A form is not submitted again while its request is under way. A search form submits itself while the user types.

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  // A file comes, and the page with the form stays.
  if (event.submitter?.hasAttribute("formaction")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  if (form.querySelector("input[type=file]")) return upload(event, form);
  form.dataset.sent = "yes";
});

// Repeats a request that takes longer than the page waits, unless the user types on.
const later = document.querySelector("button[data-again]");
if (later) {
  const asking = setTimeout(() => later.click(), 2000);
  later.form.addEventListener("input", () => clearTimeout(asking));
}

// A page that comes back from the browser's memory has forms that may be sent again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// What a form finds, or what it would make, is shown while the user types.
let typing;
document.addEventListener("input", (event) => {
  const form = event.target.closest?.("form[data-search], form[data-preview]");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => (form.dataset.search ? search(form, event.target) : preview(form)), 250);
});

let searching;
async function search(form, field) {
  const target = document.getElementById(form.dataset.search);
  if (!target) return;
  const address = new URL(form.action || location.href);
  address.search = new URLSearchParams(new FormData(form)).toString();
  searching?.abort();
  searching = new AbortController();
  try {
    const answer = await fetch(address, { signal: searching.signal });
    if (answer.redirected || !answer.ok) return;
    replace(target, new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(target.id));
    history.replaceState(null, "", address);
    field.focus();
  } catch {
    // The next letter canceled the request, or there is no network: the button remains.
  }
}

async function preview(form) {
  try {
    const body = new URLSearchParams(new FormData(form));
    // A preview needs only the first recipients, and a total all of them.
    if (!("whole" in form.dataset)) for (const name of ["numbers", "tag", "person"]) body.set(name, (body.get(name) ?? "").slice(0, 1000));
    const answer = await fetch(form.dataset.preview, { method: "POST", body });
    if (answer.ok && !answer.redirected) show(await answer.text());
  } catch {
    // There is no network: the next check brings the preview.
  }
}

// Shows the progress of uploads. The answer replaces the page, as it does without script.

function upload(event, form) {
  event.preventDefault();
  const field = form.querySelector("input[type=file]");
  if (field.files[0]?.size > Number(form.dataset.most)) return complain(field, form.dataset.tooLarge);
  form.dataset.sent = "yes";
  const bar = Object.assign(document.createElement("progress"), { max: 1, value: 0 });
  bar.setAttribute("aria-label", words.upload);
  form.append(bar);
  say(words.upload);
  const request = new XMLHttpRequest();
  request.open("POST", form.action || location.href);
  request.upload.addEventListener("progress", (progress) => {
    if (progress.lengthComputable) bar.value = progress.loaded / progress.total;
  });
  const again = () => {
    delete form.dataset.sent;
    bar.remove();
  };
  request.addEventListener("load", () => {
    if (request.status < 400 && request.responseURL) {
      location.assign(request.responseURL);
      return;
    }
    again();
    const shown = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
    if (shown) {
      // The fault gets the focus, as in a page that the browser loads itself.
      const faults = shown.querySelectorAll("[autofocus]");
      faults.forEach((fault) => fault.removeAttribute("autofocus"));
      replace(document.querySelector("main"), shown);
      (faults[0]?.isConnected ? faults[0] : document.querySelector("main")).focus();
    }
  });
  request.addEventListener("error", async () => {
    again();
    // The connection ended. If the service refused the file, its page says why.
    const answer = await fetch(form.action || location.href).catch(() => undefined);
    const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
    complain(field, page.getElementById(`${field.id}-fault`)?.textContent ?? form.dataset.broken);
  });
  request.addEventListener("abort", again);
  request.send(new FormData(form));
}

// Shows an error beside its field.
function complain(field, sentence) {
  document.getElementById(`${field.id}-fault`)?.remove();
  const said = { id: `${field.id}-fault`, className: "fault", textContent: sentence };
  const fault = Object.assign(document.createElement("p"), said);
  fault.setAttribute("role", "alert");
  field.after(fault);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", fault.id);
  field.focus();
}

// Live parts: fragments replace the elements with their ids. The stream is closed while the page is hidden.

let stream;
function hush() {
  stream?.close();
  stream = undefined;
}

function listen() {
  const { live: address, always } = document.querySelector("[data-live]")?.dataset ?? {};
  if (!address || (document.hidden && always === undefined)) return hush();
  if (stream && stream.readyState !== EventSource.CLOSED) return;
  stream = new EventSource(address);
  stream.addEventListener("fragment", (event) => show(event.data));
  // The work that the page shows is over, and the page of its result follows.
  stream.addEventListener("leave", (event) => location.assign(event.data));
}

// Shows fragments in place of the elements with their ids; while a sound plays or a question is open in one, afterwards.
const waiting = new Map();
function show(fragments) {
  const holder = document.createElement("template");
  holder.innerHTML = fragments;
  for (const fresh of [...holder.content.children]) waiting.set(fresh.id, fresh);
  showWaiting();
}
function showWaiting() {
  for (const [id, fresh] of waiting) {
    const shown = document.getElementById(id);
    if (shown && isBusy(shown)) continue;
    waiting.delete(id);
    if (shown) replace(shown, fresh);
  }
}
setInterval(showWaiting, 1000);

function isBusy(shown) {
  const plays = [...shown.querySelectorAll("audio, video")].some((sound) => !sound.paused);
  return plays || shown.querySelector(":popover-open, dialog[open]") !== null;
}

// Replaces a part of the page, except the elements that the user is using.
function replace(shown, fresh) {
  if (!fresh || isBusy(shown) || shown.isEqualNode(fresh)) return;
  const used = document.activeElement;
  const inside = used && used !== shown && shown.contains(used);
  if (inside && /^(INPUT|SELECT|TEXTAREA)$/.test(used.tagName)) return;
  const open = [...shown.querySelectorAll("details[open][id]")].map((details) => details.id);
  const mark = inside ? used.id : "";
  shown.replaceWith(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (mark) document.getElementById(mark)?.focus();
  showCopyButtons(fresh);
  showTimes(fresh);
}

document.addEventListener("visibilitychange", listen);
window.addEventListener("pagehide", hush);
window.addEventListener("pageshow", listen);

// A sign-in link is used up only in a browser, not by programs that prefetch it.
document.querySelector("form[data-submit]")?.requestSubmit();

showTimes();
showCopyButtons();
listen();
setInterval(showTimes, 15_000, document);
