"use strict";
// The pages work without this: it submits choices at once, moves dates by a slider, and shows what is new.
(() => {
  const all = (selector) => document.querySelectorAll(selector);
  const tabs = document.querySelector("nav [aria-current=page]")?.closest("ul");
  if (tabs) tabs.scrollLeft = tabs.querySelector("[aria-current]").offsetLeft - tabs.clientWidth / 2;
  all("[data-submit]").forEach((field) => {
    field.addEventListener("change", () => field.form.requestSubmit());
    field.form.querySelectorAll("[data-hidden]").forEach((button) => { button.hidden = true; });
  });
  all("[data-needs-script]").forEach((field) => field.classList.add("ready"));
  all("[data-date]").forEach((slider) => {
    const date = document.getElementById(slider.dataset.date);
    const today = Date.parse(date.dataset.today);
    const day = 86400000;
    if (date.value) slider.value = Math.round((today - Date.parse(date.value)) / day);
    slider.addEventListener("input", () => {
      date.value = slider.value === "0" ? "" : new Date(today - slider.value * day).toISOString().slice(0, 10);
    });
    slider.addEventListener("change", () => { if (slider.form.elements.q.value) slider.form.requestSubmit(); });
  });
  all("[data-all]").forEach((box) => box.addEventListener("change", () => {
    box.form.querySelectorAll("input[name=chosen]").forEach((one) => { one.checked = box.checked; });
  }));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    const field = document.getElementById("q");
    if (field) field.focus(); else location.href = `${document.querySelector("nav a[href*='/search']").href}#q`;
  });
  if (location.hash === "#q") document.getElementById("q")?.focus();
  // A second click while the first is being answered would be a second call, of what has changed by then.
  const sent = new WeakMap();
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    if (Date.now() - (sent.get(event.target) ?? 0) < 5000) event.preventDefault();
    else sent.set(event.target, Date.now());
  });
  addEventListener("pageshow", (event) => { if (event.persisted) all("form").forEach((form) => sent.delete(form)); });
  const part = document.querySelector("[data-refresh]");
  const line = document.getElementById("changed");
  if (!document.body.dataset.live || !(part || line) || !window.EventSource) return;
  let waiting = false;
  let late = false;  // something has happened that the part does not show
  const isEdited = (field) =>
    field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  const isUsed = () => part.contains(document.activeElement)
    || [...part.querySelectorAll("input:not([type=hidden]), textarea")].some(isEdited);
  const refresh = async () => {
    if (waiting) return;
    if (isUsed()) {
      line.hidden = false;
      return;
    }
    waiting = true;
    late = false;
    try {
      const reply = await fetch(part.dataset.refresh, { credentials: "same-origin" });
      if (reply.ok) {
        const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-refresh]");
        if (fresh && isUsed()) late = true;
        else if (fresh) part.replaceChildren(...fresh.childNodes);
        if (line.dataset.always === undefined) line.hidden = true;
      }
    } finally { waiting = false; }
    if (late) refresh();
  };
  part?.addEventListener("focusout", () => setTimeout(() => { if (late) refresh(); }));
  const hear = (event) => {
    const name = JSON.parse(event.data).name;
    const isAlert = event.type === "alerts";
    document.getElementById("news").textContent = isAlert ? "What needs attention has changed." : `New: ${name}.`;
    if (line.dataset.always !== undefined && !isAlert && name !== "upkeep") line.hidden = false;
    if (!part) return;
    late = true;
    refresh();
  };
  const source = new EventSource(document.body.dataset.live);
  source.addEventListener("operation", hear);
  source.addEventListener("alerts", hear);
})();
