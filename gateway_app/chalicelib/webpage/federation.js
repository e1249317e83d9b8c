// What the federation has: totals, and the same by provider, vendor and model.

import { call } from "./api.js";
import { bar } from "./bars.js";
import { el, fill, freshId, icon, speak } from "./dom.js";
import { failure, loading, nothing, pageTitle } from "./notices.js";
import { outcomeTable } from "./outcomes.js";
import { hashOf } from "./routes.js";
import { cores, count, counted, size, sizeOfMib } from "./units.js";

/** The overview. */
export class FederationView {
  constructor() {
    this.root = el("div.page");
  }

  async show() {
    if (!this.root.querySelector(".tiles")) fill(this.root, pageTitle("Federation"), loading("the federation", 8));
    this.root.setAttribute("aria-busy", "true");
    try {
      const { body } = await call("GET", "/api/v1/resources");
      fill(this.root, this.overview(body));
      speak(`${counted(body.totals.nodes, "node")} of ${counted(body.by_provider.length, "provider")}.`);
    } catch (error) {
      fill(this.root, pageTitle("Federation"), failure(error, () => this.show()));
    }
    this.root.removeAttribute("aria-busy");
  }

  overview(found) {
    const { totals, providers, partial, observed_at: at } = found;
    const head = pageTitle("Federation",
      el("span.page-note", {}, `${counted(totals.nodes, "node")}, asked at ${new Date(at).toLocaleTimeString()}`),
      el("button", { type: "button", click: () => this.show() }, icon("refresh"), "Refresh"),
    );
    if (!providers.length) {
      return [head, nothing("No provider is enabled", "Register one, and what it has is counted here.", el("p", {}, el("a.button", { href: "#/providers" }, "Providers")))];
    }
    return [
      head,
      partial && el("p.banner", {}, el("b", {}, "Not every provider answered. "), "What is missing is not in these sums."),
      tiles(totals),
      byProvider(found.by_provider),
      byModel(found.by_model, found.by_vendor),
      outcomeTable(providers, { hasCandidates: false }),
    ];
  }
}

function tiles({ devices, cpu, memory }) {
  return el("ul.tiles", {},
    tile("Devices unused", count(devices.unused), `of ${count(devices.count)}, ${count(devices.count - devices.healthy)} unhealthy`, devices.unused, devices.count),
    tile("GPU memory free", sizeOfMib(devices.memory_available_mib), `of ${sizeOfMib(devices.memory_total_mib)}`, devices.memory_available_mib, devices.memory_total_mib),
    tile("GPU slots free", count(devices.slots_available), `of ${count(devices.slots_total)}`, devices.slots_available, devices.slots_total),
    tile("Cores free", cores(cpu.available_millicores), `of ${cores(cpu.total_millicores)}`, cpu.available_millicores, cpu.total_millicores),
    tile("Memory free", size(memory.available_bytes), `of ${size(memory.total_bytes)}`, memory.available_bytes, memory.total_bytes),
  );
}

function tile(label, value, about, free, total) {
  return el("li.tile", {}, el("span.tile-label", {}, label), el("b", {}, value), el("span.tile-about", {}, about), usage(free, total));
}

function usage(free, total) {
  return bar(total ? [["used", (total - free) / total]] : null);
}

function byProvider(rows) {
  return table("By provider", ["Provider", "GPU memory free", "Unused", "Devices", "Nodes", "Cores free", "Memory free"], rows.map((row) =>
    el("tr", {},
      el("th", { scope: "row" }, el("span.name", {}, row.provider_name), el("span.id", {}, row.provider_id)),
      share(sizeOfMib, row.devices.memory_available_mib, row.devices.memory_total_mib),
      number(count(row.devices.unused)),
      number(count(row.devices.count)),
      number(count(row.nodes)),
      share(cores, row.cpu.available_millicores, row.cpu.total_millicores),
      share(size, row.memory.available_bytes, row.memory.total_bytes),
    ),
  ));
}

function byModel(models, vendors) {
  if (!models.length) return null;
  const rows = vendors.flatMap(({ vendor, devices }) => [
    deviceRow(vendor || "Unknown vendor", devices, "tr.is-group", vendor ? { gpu: "1", vendor } : null),
    ...models.filter((model) => model.vendor === vendor).map(({ model, devices: some }) =>
      deviceRow(model || "Unknown model", some, "tr", model ? { gpu: "1", vendor, model } : null)),
  ]);
  return table("By vendor and model", ["Model", "GPU memory free", "Unused", "Devices", "Healthy", "Slots free"], rows);
}

function deviceRow(name, devices, kind, request) {
  return el(kind, {},
    el("th", { scope: "row" }, request ? el("a", { href: hashOf("search", request), title: `Search for ${name}` }, name) : name),
    share(sizeOfMib, devices.memory_available_mib, devices.memory_total_mib),
    number(count(devices.unused)),
    number(count(devices.count)),
    number(count(devices.healthy)),
    number(`${count(devices.slots_available)} / ${count(devices.slots_total)}`),
  );
}

function table(title, columns, rows) {
  const id = freshId("table");
  return el("section.block", { "aria-labelledby": id },
    el("div.block-head", {}, el("h2", { id }, title)),
    el("div.scroll", { role: "group", "aria-labelledby": id, tabindex: "0" },
      el("table", {},
        el("thead", {}, el("tr", {}, columns.map((column, index) => el(index ? "th.number" : "th", { scope: "col" }, column)))),
        el("tbody", {}, rows),
      ),
    ),
  );
}

function number(text) {
  return el("td.number", {}, text);
}

function share(show, free, total) {
  return el("td.share", {}, el("div", {}, total ? [el("b", {}, show(free)), ` / ${show(total)}`] : "–"), total ? usage(free, total) : null);
}
