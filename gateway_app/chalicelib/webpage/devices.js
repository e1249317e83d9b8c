// Devices as cards: what fills their memory and compute.

import { bar, ofDevices } from "./bars.js";
import { el } from "./dom.js";

/** A card for each device that was chosen for a request. */
export function deviceCards(devices, gpu) {
  return el("ul.devices", {}, devices.map((device) => el("li.device", {}, deviceHead(device), gauges(device, gpu), deviceFoot(device))));
}

function deviceHead(device) {
  return el("div.device-head", {},
    el("b", {}, device.model || device.resource || "Device"),
    device.index === null ? null : el("span.device-index", { title: "Index on the node" }, `#${device.index}`),
  );
}

function gauges(device, gpu) {
  const shown = ofDevices([device], gpu).filter(({ label, total }) => label !== "GPU slots" || total > 1);
  return shown.map(({ label, total, available, asked, show }) => {
    const isKnown = total !== null && available !== null && total > 0;
    return el("div.gauge", {},
      el("span.gauge-label", {}, label.replace("GPU ", "")),
      bar(isKnown ? [["used", (total - available) / total], ["asked", (asked ?? 0) / total]] : null),
      el("span.gauge-value", {}, isKnown ? [`${show(available)} free`, el("span.of", {}, ` of ${show(total)}`)] : "unknown"),
    );
  });
}

function deviceFoot(device) {
  const facts = [
    device.vendor,
    device.mode,
    device.pool ? "pool" : null,
    device.numa === null ? null : `NUMA ${device.numa}`,
    device.healthy ? null : "unhealthy",
  ];
  return el("div.device-foot", {},
    el("span", {}, facts.filter(Boolean).join(" · ")),
    el("code", { title: device.id }, device.id),
  );
}

/** "2 × NVIDIA A100-SXM4-40GB". */
export function devicesInWords(devices) {
  if (!devices.length) return "";
  return `${devices.length} × ${devices[0].model || devices[0].resource || "device"}`;
}
