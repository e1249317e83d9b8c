// Copying to the clipboard, and showing the text where a browser does not let pages write there.

import { el, fill, icon, speak } from "./dom.js";

const SHOWN_MS = 1600;

/** A small button that copies what `text()` returns; it shows `word`, and is called by the name of what it copies. */
export function copyButton(name, text, { title, word = name } = {}) {
  const button = el("button.copy", { type: "button", title, "aria-label": `Copy ${name}`, click: copy }, word);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      showText(name, text());
      return;
    }
    speak(`${name} copied`);
    fill(button, icon("check"), word);
    setTimeout(() => fill(button, word), SHOWN_MS);
  }
  return button;
}

function showText(name, text) {
  const area = el("textarea", { readonly: true, rows: "10", "aria-label": name, value: text });
  const dialog = el("dialog", { "aria-label": `Copy ${name}`, close: () => dialog.remove() },
    el("h2", {}, `Copy ${name}`),
    el("p", {}, "This browser does not let the page copy. The text is selected."),
    area,
    el("form", { method: "dialog" }, el("div.buttons", {}, el("button", {}, "Close"))),
  );
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
