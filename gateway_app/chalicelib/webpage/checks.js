// What came of asking one provider.

import { el } from "./dom.js";
import { outcomeState } from "./outcomes.js";
import { counted, duration } from "./units.js";

const STEPS = [["dns", "DNS"], ["connect", "connect"], ["tls", "TLS"], ["first_byte", "first byte"], ["total", "total"]];

/** A line of outcome and inventory, and one of timings. */
export function checkResult({ provider, timings_ms: timings, inventory }) {
  const found = inventory && [
    counted(inventory.nodes, "node"),
    `${counted(inventory.devices, "device")}, ${inventory.devices_unused} unused`,
    inventory.source && `source ${inventory.source}`,
  ].filter(Boolean).join(" · ");
  const steps = STEPS.filter(([name]) => timings[name]);
  return el("div.check", {},
    outcomeState(provider),
    el("span", {}, found || provider.message || "no inventory"),
    el("span.check-times", {}, steps.map(([name, words]) => el("span", {}, `${words} `, el("b", {}, duration(timings[name]))))),
    provider.warnings.length ? el("span", {}, counted(provider.warnings.length, "warning")) : null,
  );
}
