// Changing and removing a record, in the version that was shown and no other.

import { call, recordPath } from "./api.js";
import { attempt, openDialog } from "./dialogs.js";
import { el, fill, speak } from "./dom.js";
import { RecordFields } from "./record_form.js";

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
