// The registry: who takes part, and what their owners can change.

import { allRecords, call, recordPath } from "./api.js";
import { checkResult } from "./checks.js";
import { el, fill, icon, speak } from "./dom.js";
import { confirmRemoval, editRecord } from "./editing.js";
import { failure, loading, nothing, pageTitle, state } from "./notices.js";
import { registerRecord } from "./registering.js";
import { counted, duration, moment } from "./units.js";

/** The list of providers. */
export class RegistryView {
  constructor() {
    this.root = el("div.page");
  }

  async show() {
    if (!this.root.querySelector(".records")) fill(this.root, pageTitle("Providers"), loading("the providers", 5));
    this.root.setAttribute("aria-busy", "true");
    try {
      this.list(await allRecords());
    } catch (error) {
      fill(this.root, pageTitle("Providers"), failure(error, () => this.show()));
    }
    this.root.removeAttribute("aria-busy");
  }

  list(records) {
    const register = () => el("button.primary", { type: "button", click: () => registerRecord(() => this.show()) }, icon("plus"), "Register a provider");
    fill(this.root,
      pageTitle("Providers",
        el("span.page-note", {}, `${records.filter(({ enabled }) => enabled).length} of ${records.length} enabled`),
        records.length ? register() : null,
      ),
      records.length
        ? el("ul.records", {}, records.map((record) => this.row(record)))
        : nothing("No provider yet", "A provider is an address that tells what its nodes have free. Register one, and searches ask it.", register()),
    );
  }

  row(record) {
    const isOwn = record.base_url !== null; // the gateway tells an address to its owner only
    const outcome = el("div.record-check", { "aria-live": "polite" });
    const trouble = el("div", { "aria-live": "polite" });
    const attempt = (work) => async ({ currentTarget: button }) => {
      fill(trouble);
      button.disabled = true;
      try {
        await work();
      } catch (error) {
        fill(trouble, failure(error, error.status === 401 ? () => this.show() : null));
      }
      button.disabled = false;
    };
    return el("li.record", { "data-id": record.id },
      el("div.record-main", {},
        this.toggle(record, attempt, trouble),
        el("div.record-name", {}, el("h2", {}, record.name), el("code", {}, record.id), record.enabled ? null : state("quiet", "disabled")),
        el("div.record-about", {},
          el("code.record-address", {}, record.base_url ?? "another owner's"),
          el("span.record-fact", { title: `The most that one call may take; version ${record.version}, changed ${moment(record.updated_at)}` },
            `${duration(record.timeout_ms)} timeout`),
          el("span.record-labels", {}, Object.entries(record.labels).map(([name, value]) => el("code.tag", {}, `${name}=${value}`))),
        ),
        isOwn && el("div.buttons", {},
          el("button", { type: "button", "aria-label": `Check ${record.name}`, click: attempt(() => this.check(record, outcome)) }, "Check"),
          el("button", { type: "button", "aria-label": `Edit ${record.name}`, click: () => editRecord(record, () => this.show()) }, "Edit"),
          el("button.danger", { type: "button", "aria-label": `Delete ${record.name}`, click: () => confirmRemoval(record, () => this.show()) }, "Delete"),
        ),
      ),
      outcome,
      trouble,
    );
  }

  toggle(record, attempt, trouble) {
    const flip = attempt(async () => {
      const { body } = await call("PATCH", recordPath(record.id), { body: { enabled: !record.enabled }, etag: `"${record.version}"` });
      if (body.enabled === record.enabled) {
        record.version = body.version;
        fill(trouble, el("p.banner", {}, el("b", {}, "It stays disabled "), "until a check of its address has passed."));
        return;
      }
      speak(`${record.name} ${record.enabled ? "disabled" : "enabled"}`);
      await this.show();
      this.root.querySelector(`[data-id="${CSS.escape(record.id)}"] .switch`)?.focus();
    });
    const title = record.enabled ? "Searches ask it" : "Searches leave it out";
    return el("button.switch", { type: "button", role: "switch", "aria-checked": String(record.enabled), "aria-label": `${record.name} enabled`, disabled: record.base_url === null, title, click: flip });
  }

  async check(record, outcome) {
    fill(outcome, el("p.trying", {}, `Asking ${record.name}…`));
    const { body } = await call("POST", `${recordPath(record.id)}/check`).catch((error) => {
      fill(outcome);
      throw error;
    });
    // A check that passes may change the record: it is noted there, and can enable the provider.
    const { body: current } = await call("GET", recordPath(record.id));
    const shown = outcome.closest(".record");
    const row = this.row(current);
    fill(row.querySelector(".record-check"), checkResult(body));
    shown.replaceWith(row);
    row.querySelector(".buttons button").focus();
    if (body.inventory) speak(`${record.name} answered with ${counted(body.inventory.nodes, "node")}.`);
  }
}
