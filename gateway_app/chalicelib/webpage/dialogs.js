// Dialogs that hold a form.

import { el, fill, freshId } from "./dom.js";
import { failure } from "./notices.js";

/** A modal dialog around a form; `submit` is awaited, and `onClose` called however it closes. */
export function openDialog(title, about, submit, content, onClose = () => {}) {
  const id = freshId("dialog");
  const send = async (event) => {
    event.preventDefault();
    dialog.setAttribute("aria-busy", "true");
    await submit();
    dialog.removeAttribute("aria-busy");
  };
  const close = () => {
    dialog.remove();
    onClose();
  };
  const dialog = el("dialog", { "aria-labelledby": id, close },
    el("form", { novalidate: true, submit: send }, el("h2", { id }, title), el("div.dialog-about", {}, about), content),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Does some work; what goes wrong is shown beside the fields that it is about, and else in `place`. */
export async function attempt(place, fields, work) {
  try {
    await work();
  } catch (error) {
    const left = fields?.showErrors(error.errors ?? []) ?? [];
    const isShown = error.errors?.length && !left.length;
    fill(place, isShown ? null : failure(error));
  }
}
