// The fields of a provider's record.

import { el, freshId } from "./dom.js";
import { labelsOf } from "./request.js";

const FIELDS_OF_RECORD = [
  { name: "id", label: "Id", hint: "a-z, 0-9 and hyphens; the provider answers under this id", placeholder: "lab-d", isCode: true },
  { name: "name", label: "Name", hint: "for people", placeholder: "Lab D" },
  { name: "base_url", label: "Address", hint: "the inventory is at this plus /api/v1/inventory", placeholder: "https://lab-d.example", isCode: true },
  { name: "timeout_ms", label: "Timeout", hint: "the most that one call may take", placeholder: "1500", unit: "ms" },
  { name: "labels", label: "Labels", hint: "to choose providers by in a search", placeholder: "region=eu, tier=gold" },
];

/** The fields with their values and faults. */
export class RecordFields {
  constructor(record = {}, { hasId = true } = {}) {
    this.inputs = {};
    this.faults = {};
    const shown = { ...record, labels: Object.entries(record.labels ?? {}).map(([name, value]) => `${name}=${value}`).join(", ") };
    this.root = el("div.record-fields", {},
      FIELDS_OF_RECORD.filter(({ name }) => hasId || name !== "id").map((field) => this.field(field, shown[field.name] ?? "")),
    );
  }

  field({ name, label, hint, unit, placeholder, isCode }, value) {
    const id = freshId(`record-${name}`);
    const fault = (this.faults[name] = el("p.fault", { id: `${id}-fault`, hidden: true }));
    const input = (this.inputs[name] = el(isCode ? "input.code" : "input", {
      id, value: String(value), placeholder, autocomplete: "off", spellcheck: "false", "aria-describedby": `${fault.id} ${id}-hint`,
    }));
    return el("div.field", {},
      el("label", { for: id }, label),
      el("div.input", {}, input, unit && el("span.unit", { "aria-hidden": "true" }, unit)),
      fault,
      el("small", { id: `${id}-hint` }, hint),
    );
  }

  /** The record's writable fields, or null where one can't be read, which is shown. */
  read() {
    this.showErrors([]);
    const text = (name) => this.inputs[name]?.value.trim() ?? "";
    const record = { name: text("name"), base_url: text("base_url"), timeout_ms: Number(text("timeout_ms") || 1500) };
    if (this.inputs.id) record.id = text("id");
    try {
      return { ...record, labels: labelsOf(text("labels")) };
    } catch (error) {
      this.showErrors([{ pointer: "/labels", message: error.message }]);
      return null;
    }
  }

  /** Shows the API's errors beside their fields. Returns those that belong to none. */
  showErrors(errors) {
    for (const [name, place] of Object.entries(this.faults)) {
      const message = errors.find(({ pointer }) => `${pointer}/`.startsWith(`/${name}/`))?.message ?? "";
      place.textContent = message;
      place.hidden = !message;
      this.inputs[name].toggleAttribute("aria-invalid", Boolean(message));
    }
    Object.values(this.inputs).find((input) => input.hasAttribute("aria-invalid"))?.focus();
    return errors.filter(({ pointer }) => !Object.keys(this.faults).some((name) => `${pointer}/`.startsWith(`/${name}/`)));
  }
}
