// Registering a provider.
//
// The gateway checks providers that are registered. So a new one is first kept disabled, where no search asks it, then
// checked, and enabled or taken back as the person decides.

import { call, recordPath } from "./api.js";
import { checkResult } from "./checks.js";
import { copyButton } from "./copying.js";
import { attempt, openDialog } from "./dialogs.js";
import { el, fill, speak } from "./dom.js";
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
    draft.end().then(onChange);
  });
  const leave = () => draft.end({ keepalive: true });
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
    this.isOver = false;
  }

  async check(wanted) {
    await this.put({ ...wanted, enabled: false });
    const path = recordPath(wanted.id);
    const { body: result } = await call("POST", `${path}/check`);
    // A check that passes is noted in the record, which is then of another version.
    const { etag } = await call("GET", path);
    if (this.record) this.record.etag = etag;
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
    if (this.isOver) await this.discard(); // the dialog was closed while this was under way
  }

  async discard({ keepalive = false } = {}) {
    if (!this.record) return;
    const { id } = this.record;
    this.record = null;
    await call("DELETE", recordPath(id), { keepalive });
  }

  /** Takes back what was not saved, now and when it comes later. */
  end(options) {
    this.isOver = true;
    return this.discard(options);
  }
}

function newKey(key) {
  return el("div.new-key", {},
    el("p", {}, "The provider's own key. It is shown this once: set it as PROVIDER_KEY there."),
    el("code", {}, key),
    copyButton("key", () => key, { word: "Copy" }),
  );
}
