// Dialogs that change the registry: register, edit, delete.
//
// The gateway checks providers that are registered. So a new one is first kept disabled, where no search asks it, then
// checked, and enabled or taken back as the person decides.

import { call, recordPath } from "./api.js";
import { checkResult } from "./checks.js";
import { copyButton } from "./copying.js";
import { el, fill, freshId, speak } from "./dom.js";
import { failure } from "./notices.js";
import { RecordFields } from "./record_form.js";

/** Registers a provider, with a check before it takes part. */
export function registerRecord(onChange) {
  const fields = new RecordFields();
  const draft = new Draft();
  const place = el("div.dialog-result", { "aria-live": "polite" });
  const check = el("button.primary", { type: "submit" }, "Check");
  const keep = el("button", { type: "button", hidden: true, click: () => finish(false) }, "Save disabled");
  const enable = el("button.primary", { type: "button", hidden: true, click: () => finish(true) }, "Save and enable");
  const dialog = openDialog("Register a provider", "It is checked before any search asks it.", submit, [
    fields.root, place, el("div.buttons", {}, el("button", { type: "button", click: () => dialog.close() }, "Cancel"), keep, check, enable),
  ], () => {
    removeEventListener("pagehide", leave);
    draft.discard().then(onChange);
  });
  const leave = () => draft.discard({ keepalive: true });
  addEventListener("pagehide", leave);

  async function submit() {
    const record = fields.read();
    if (!record) return;
    await attempt(place, fields, async () => {
      fill(place, el("p.trying", {}, `Asking ${record.base_url}…`));
      const { result, key } = await draft.check(record);
      fill(place, checkResult(result), key && newKey(key));
      const isGood = Boolean(result.inventory);
      fill(check, "Check again");
      check.classList.toggle("primary", !isGood);
      enable.hidden = !isGood;
      keep.hidden = false;
      if (isGood) enable.focus();
    });
  }

  async function finish(isEnabled) {
    const record = fields.read();
    if (!record) return;
    await attempt(place, fields, async () => {
      await draft.save({ ...record, enabled: isEnabled });
      speak(`${record.name} is registered`);
      dialog.close();
    });
  }
}

/** A record that is in the registry, disabled, until it is saved or discarded. */
class Draft {
  constructor() {
    this.record = null;
    this.key = null;
  }

  async check(wanted) {
    await this.put({ ...wanted, enabled: false });
    const path = recordPath(this.record.id);
    const { body: result } = await call("POST", `${path}/check`);
    // A check that passes is noted in the record, which is then of another version.
    this.record.etag = (await call("GET", path)).etag;
    return { result, key: this.key };
  }

  async save(wanted) {
    await this.put(wanted);
    this.record = null;
  }

  async put(wanted) {
    if (this.record && this.record.id !== wanted.id) await this.discard();
    const { body, etag } = this.record
      ? await call("PUT", recordPath(this.record.id), { body: wanted, etag: this.record.etag })
      : await call("POST", "/api/v1/providers", { body: wanted });
    this.key = body.key ?? this.key;
    this.record = { id: body.id, etag };
  }

  async discard({ keepalive = false } = {}) {
    if (!this.record) return;
    const { id, etag } = this.record;
    this.record = null;
    await call("DELETE", recordPath(id), { etag, keepalive });
  }
}

function newKey(key) {
  return el("div.new-key", {},
    el("p", {}, "The provider's own key. It is shown this once: set it as PROVIDER_KEY there."),
    el("code", {}, key),
    copyButton("key", () => key),
  );
}

/** Edits a record; the change is made only to the version that was shown. */
export function editRecord(record, onChange) {
  let etag = `"${record.version}"`;
  const fields = new RecordFields(record, { hasId: false });
  const place = el("div.dialog-result", { "aria-live": "polite" });
  const dialog = openDialog(`Edit ${record.name}`, el("code", {}, record.id), save, [
    fields.root, place,
    el("div.buttons", {}, el("button", { type: "button", click: () => dialog.close() }, "Cancel"), el("button.primary", { type: "submit" }, "Save")),
  ]);

  async function save() {
    const changed = fields.read();
    if (!changed) return;
    await attempt(place, fields, async () => {
      try {
        await call("PUT", recordPath(record.id), { body: { ...changed, enabled: record.enabled }, etag });
      } catch (error) {
        if (error.code !== "version_conflict") throw error;
        await tellConflict();
        return;
      }
      speak(`${changed.name} saved`);
      dialog.close();
      onChange();
    });
  }

  async function tellConflict() {
    const { body: theirs, etag: current } = await call("GET", recordPath(record.id));
    const reopen = () => {
      dialog.close();
      editRecord(theirs, onChange);
    };
    const overwrite = () => {
      etag = current;
      record.enabled = theirs.enabled;
      return save();
    };
    fill(place, el("section.notice.is-bad", { role: "alert" },
      el("h3", {}, "Somebody changed this record meanwhile"),
      el("p", {}, `It is at version ${theirs.version} now: ${theirs.name}, ${theirs.base_url ?? "address not shown"}.`),
      el("div.buttons", {},
        el("button", { type: "button", click: reopen }, "Edit theirs"),
        el("button.danger", { type: "button", click: overwrite }, "Save mine over it"),
      ),
    ));
  }
}

/** Asks before a record is deleted. */
export function confirmRemoval(record, onChange) {
  const place = el("div.dialog-result", { "aria-live": "polite" });
  const dialog = openDialog(`Delete ${record.name}?`, el("p", {}, "Searches no longer ask ", el("code", {}, record.id), ". Its nodes keep running."), remove, [
    place,
    el("div.buttons", {}, el("button", { type: "button", autofocus: true, click: () => dialog.close() }, "Cancel"), el("button.primary.danger", { type: "submit" }, "Delete")),
  ]);

  async function remove() {
    await attempt(place, null, async () => {
      await call("DELETE", recordPath(record.id), { etag: `"${record.version}"` });
      speak(`${record.name} deleted`);
      dialog.close();
      onChange();
    });
  }
}

function openDialog(title, about, submit, content, onClose = () => {}) {
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

async function attempt(place, fields, work) {
  try {
    await work();
  } catch (error) {
    const left = fields?.showErrors(error.errors ?? []) ?? [];
    const isShown = error.errors?.length && !left.length;
    fill(place, isShown ? null : failure(error));
  }
}
