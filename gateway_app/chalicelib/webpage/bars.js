// One dimension of a node or a device: what is used, what was asked for and what would be left.

import { el } from "./dom.js";
import { cores, count, percent, size, sizeOfMib } from "./units.js";

/** A dimension: `{label, total, available, asked, show}`; amounts are null where they are unknown, `asked` also where it was not. */
export function dimension({ label, total, available, asked, show, note }) {
  const isKnown = total !== null && available !== null && total > 0;
  const left = isKnown ? Math.max(0, available - (asked ?? 0)) : null;
  const used = isKnown ? total - available : null;
  return el(`div.dimension${asked ? "" : ".is-unasked"}`, {},
    el("div.dimension-head", {},
      el("span.dimension-label", {}, label),
      el("span.dimension-left", {}, isKnown ? [el("b", {}, show(left)), " left"] : (note ?? "unknown")),
    ),
    bar(isKnown ? [["used", used / total], ["asked", (asked ?? 0) / total]] : null),
    el("div.dimension-foot", {},
      isKnown && [
        el("span", {}, `${beside(show(used), show(total))} used`),
        asked ? el("span.asked", {}, `${beside(show(asked), show(total))} asked`) : null,
        el("span", {}, `of ${show(total)}`),
      ],
      !isKnown && el("span", {}, total ? `of ${show(total)}` : "not told"),
    ),
  );
}

/** "16" of "16 GiB" where "124.9 GiB" stands beside it. */
function beside(text, total) {
  const unit = total.slice(total.indexOf(" "));
  return total.includes(" ") && text.endsWith(unit) ? text.slice(0, -unit.length) : text;
}

/** A bar of named shares between 0 and 1; null draws one for what is unknown. */
export function bar(shares) {
  if (shares === null) return el("div.bar.is-unknown", { "aria-hidden": "true" });
  return el("div.bar", { "aria-hidden": "true" },
    shares.filter(([, share]) => share > 0).map(([name, share]) => el(`i.is-${name}`, { "--share": share.toFixed(4) })),
  );
}

/** What the colours mean. */
export function legend() {
  return el("div.legend", { "aria-hidden": "true" },
    el("span", {}, el("i.is-used"), "used"),
    el("span", {}, el("i.is-asked"), "asked"),
    el("span", {}, el("i.is-left"), "left"),
  );
}

/** The dimensions of a candidate for a request, in the ranking's order. */
export function dimensionsOf({ node, devices }, request) {
  const found = [
    { label: "Cores", total: node.cpu.total_millicores, available: node.cpu.available_millicores,
      asked: request.cpu?.minimum_millicores ?? null, show: cores },
    { label: "Memory", total: node.memory.total_bytes, available: node.memory.available_bytes,
      asked: request.memory?.minimum_bytes ?? null, show: size },
  ];
  if (request.gpu) found.push(...ofDevices(devices, request.gpu));
  else if (node.pods) found.push({ label: "Pods", total: node.pods.total, available: node.pods.available, asked: 1, show: count });
  return found;
}

/** The dimensions of devices together: of the chosen ones, or of one. */
export function ofDevices(devices, gpu) {
  const sum = (read) => devices.reduce((total, device) => (total === null || read(device) === null ? null : total + read(device)), 0);
  const each = (minimum, available) => (minimum ? minimum * devices.length : gpu.sharing === "whole" ? available : null);
  const memory = sum((device) => device.memory_available_mib ?? device.largest_free_mib);
  const compute = sum((device) => device.compute_available_percent);
  return [
    { label: "GPU memory", total: sum((device) => device.memory_total_mib), available: memory,
      asked: each(gpu.minimum_memory_mib, memory), show: sizeOfMib },
    { label: "GPU compute", total: sum((device) => device.compute_total_percent), available: compute,
      asked: each(gpu.minimum_compute_percent, compute), show: percent },
    { label: "GPU slots", total: sum((device) => device.slots_total), available: sum((device) => device.slots_available),
      asked: devices.length, show: count },
  ];
}
