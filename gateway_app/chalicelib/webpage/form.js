// The request form: parameters in, parameters out. It does not search by itself.

import { call } from "./api.js";
import { el, fill, freshId, icon } from "./dom.js";
import { bodyOf, inWords, isAsking, PRESETS, STRATEGIES, tidy } from "./request.js";

const SHARING = [
  { value: "", name: "Auto", title: "Shares where memory or compute is asked for, else whole devices" },
  { value: "whole", name: "Whole", title: "Unused devices only" },
  { value: "any", name: "Any", title: "Also devices that others use" },
];

/** The form. `onAsk(parameters)` is called when the person wants an answer. */
export class RequestForm {
  constructor(onAsk) {
    this.onAsk = onAsk;
    this.inputs = {};
    this.faults = {};
    this.asked = "";
    this.summary = el("span.request-words");
    this.button = el("button.primary.wide", { type: "submit" }, "Search");
    this.form = el("form.request-form", { novalidate: true, "aria-label": "Request", submit: (event) => this.submit(event) },
      this.presets(),
      this.gpu(),
      this.node(),
      this.strategy(),
      this.more(),
      el("div.request-submit", {}, this.button),
    );
    this.form.addEventListener("input", () => this.markEdited());
    this.root = el("details.request", { open: true },
      el("summary", {}, el("span.request-label", {}, "Request"), this.summary, icon("chevron")),
      this.form,
    );
  }

  presets() {
    const choose = (event) => {
      const preset = PRESETS[event.target.value];
      event.target.value = "";
      if (preset) this.ask({ ...preset.parameters, strategy: this.parameters().strategy });
    };
    const id = freshId("presets");
    const options = PRESETS.map((preset, index) => el("option", { value: String(index) }, preset.name));
    return el("div.request-head", {},
      el("h2", {}, "Request"),
      el("label.unseen", { for: id }, "Preset"),
      el("select.quiet", { id, change: choose }, el("option", { value: "" }, "Presets"), options),
    );
  }

  gpu() {
    return el("fieldset", {},
      el("legend", {}, "GPU"),
      el("div.fields.is-uneven", {},
        this.field("gpu", "Count", { inputmode: "numeric", placeholder: "none" }),
        this.choice("sharing", "Sharing", SHARING),
      ),
      el("div.fields", {},
        this.field("gpu-memory", "Memory, each", { unit: "GiB", inputmode: "decimal", placeholder: "any" }),
        this.field("gpu-compute", "Compute, each", { unit: "%", inputmode: "numeric", placeholder: "any" }),
        this.field("vendor", "Vendor", { placeholder: "any", list: "vendors", focus: () => this.suggest() }),
        this.field("model", "Model", { placeholder: "any", list: "models", focus: () => this.suggest() }),
      ),
      (this.vendors = el("datalist", { id: "vendors" })),
      (this.models = el("datalist", { id: "models" })),
    );
  }

  node() {
    return el("fieldset", {},
      el("legend", {}, "Node"),
      el("div.fields", {},
        this.field("cpu", "CPU", { unit: "cores", inputmode: "decimal", placeholder: "any" }),
        this.field("memory", "Memory", { unit: "GiB", inputmode: "decimal", placeholder: "any" }),
      ),
    );
  }

  strategy() {
    const options = STRATEGIES.map(({ name, about }) => ({ value: name === "best-fit" ? "" : name, name, about }));
    return el("fieldset.strategy", {},
      el("legend", {}, "Strategy"),
      el("div.options", {},
        options.map(({ value, name, about }) =>
          el("label.option", {},
            this.radio("strategy", value),
            el("span", {}, el("b", {}, name), el("small", {}, about)),
          ),
        ),
      ),
    );
  }

  more() {
    this.others = el("details.more", {},
      el("summary", {}, "More options", icon("chevron")),
      el("div.fields", {},
        this.field("provider", "Only from", { placeholder: "provider ids" }),
        this.field("exclude", "Not from", { placeholder: "provider ids" }),
        this.field("label", "Provider labels", { placeholder: "region=eu" }),
        this.field("toleration", "Tolerations", { placeholder: "key=value:NoSchedule" }),
        this.field("limit", "Candidates", { inputmode: "numeric", placeholder: "20" }),
        this.field("deadline", "Deadline", { unit: "s", inputmode: "decimal", placeholder: "8" }),
      ),
      el("label.tick", {}, this.radio("partial", "require_all", "checkbox"), "Only if every provider answers"),
    );
    return this.others;
  }

  field(name, label, { unit, focus, ...attributes }) {
    const id = `request-${name}`;
    const fault = el("p.fault", { id: `${id}-fault`, hidden: true });
    const input = el("input", { id, autocomplete: "off", spellcheck: "false", "aria-describedby": fault.id, focus, ...attributes });
    this.inputs[name] = [input];
    this.faults[name] = fault;
    return el("div.field", {},
      el("label", { for: id }, label),
      el("div.input", {}, input, unit && el("span.unit", { "aria-hidden": "true" }, unit)),
      fault,
    );
  }

  choice(name, label, options) {
    const id = freshId(name);
    return el("div.field", { role: "radiogroup", "aria-labelledby": id },
      el("span.label", { id }, label),
      el("div.segments", {},
        options.map((option) =>
          el("label", { title: option.title }, this.radio(name, option.value), el("span", {}, option.name)),
        ),
      ),
    );
  }

  radio(name, value, type = "radio") {
    const input = el("input", { type, name: `request-${name}`, value });
    (this.inputs[name] ??= []).push(input);
    if (name === "strategy") input.addEventListener("change", () => isAsking(this.parameters()) && this.form.requestSubmit());
    return input;
  }

  /** What stands in the form. */
  parameters() {
    const values = Object.entries(this.inputs).map(([name, inputs]) => {
      const chosen = inputs.find((input) => !["radio", "checkbox"].includes(input.type) || input.checked);
      return [name, chosen ? chosen.value.trim() : ""];
    });
    return tidy(Object.fromEntries(values));
  }

  /** Puts parameters into the form; what they do not name is emptied. */
  show(parameters) {
    for (const [name, inputs] of Object.entries(this.inputs)) {
      for (const input of inputs) {
        if (["radio", "checkbox"].includes(input.type)) input.checked = input.value === (parameters[name] ?? "");
        else input.value = bare(name, parameters[name] ?? "");
      }
    }
    const hidden = [...this.others.querySelectorAll("input")].some((input) => input.checked || (input.type === "text" && input.value));
    if (hidden) this.others.open = true;
    fill(this.summary, inWords(parameters) || "write your own");
    this.asked = JSON.stringify(tidy(parameters));
    this.showFaults({});
    this.markEdited();
  }

  markEdited() {
    for (const input of this.form.querySelectorAll(".input input")) input.classList.toggle("has-unit", /\d\s*[a-z%]/i.test(input.value));
    this.form.classList.toggle("is-edited", JSON.stringify(this.parameters()) !== this.asked);
  }

  /** Texts beside the fields that they are about, by parameter. */
  showFaults(faults) {
    for (const [name, place] of Object.entries(this.faults)) {
      place.hidden = !faults[name];
      place.textContent = faults[name] ?? "";
      for (const input of this.inputs[name]) input.toggleAttribute("aria-invalid", Boolean(faults[name]));
    }
    const first = Object.keys(this.faults).find((name) => faults[name]);
    if (!first) return;
    this.root.open = true;
    this.others.open ||= this.others.contains(this.inputs[first][0]);
    this.inputs[first][0].focus();
  }

  submit(event) {
    event.preventDefault();
    this.ask(this.parameters());
  }

  ask(parameters) {
    const { faults } = bodyOf(parameters);
    if (!isAsking(parameters)) faults.gpu = "Ask for a GPU, CPU or memory.";
    this.showFaults(faults);
    if (!Object.keys(faults).length) this.onAsk(parameters);
  }

  /** Vendors and models that there are, once somebody is about to type one. */
  async suggest() {
    if (this.suggested) return;
    this.suggested = true;
    const { body } = await call("GET", "/api/v1/resources").catch(() => ({ body: { by_vendor: [], by_model: [] } }));
    fill(this.vendors, body.by_vendor.filter(({ vendor }) => vendor).map(({ vendor }) => el("option", { value: vendor })));
    fill(this.models, body.by_model.filter(({ model }) => model).map(({ model }) => el("option", { value: model })));
  }
}

/** A value without the unit that stands beside its field anyway. */
function bare(name, value) {
  const unit = { "gpu-memory": "GiB", memory: "GiB", "gpu-compute": "%", deadline: "s" }[name];
  return unit && value.endsWith(unit) && /^[\d.]+$/.test(value.slice(0, -unit.length)) ? value.slice(0, -unit.length) : value;
}
