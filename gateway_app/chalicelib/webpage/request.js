// One request in its three shapes: parameters (what the form and the address hold), the API's body, and words.
// A parameter has the name of its flag on the command line.

import { bytesOf, mibOf, millicoresOf, percentOf, wholeOf } from "./units.js";

export const STRATEGIES = [
  { name: "best-fit", about: "Leaves the least over" },
  { name: "most-available", about: "Most headroom where it is scarcest" },
  { name: "binpack", about: "Fills what is already in use" },
  { name: "spread", about: "Keeps load low everywhere" },
];

export const PRESETS = [
  {
    name: "Slice of a GPU",
    about: "8 GiB and a quarter of one card, for a notebook or a small model",
    parameters: { gpu: "1", "gpu-memory": "8GiB", "gpu-compute": "25" },
  },
  {
    name: "Half a large GPU",
    about: "30 GiB and half the compute, with 4 cores and 16 GiB beside it",
    parameters: { gpu: "1", "gpu-memory": "30GiB", "gpu-compute": "50", cpu: "4", memory: "16GiB" },
  },
  {
    name: "One whole GPU",
    about: "A card that nobody else is using",
    parameters: { gpu: "1", sharing: "whole" },
  },
  {
    name: "80 GB card",
    about: "A whole card with 75 GiB free, for inference of a large model",
    parameters: { gpu: "1", "gpu-memory": "75GiB", sharing: "whole" },
  },
  {
    name: "8 GPUs on one node",
    about: "Eight unused cards together, for training",
    parameters: { gpu: "8", sharing: "whole", cpu: "32", memory: "256GiB" },
  },
  {
    name: "CPU only",
    about: "16 cores and 64 GiB, no accelerator",
    parameters: { cpu: "16", memory: "64GiB" },
  },
];

const SIZES_BY_NAME = ["gpu-memory", "memory"];

// Parameter: where its value stands in the body, and how it is read.
const FIELDS = {
  gpu: { pointer: "/gpu/count", read: wholeOf },
  "gpu-memory": { pointer: "/gpu/minimum_memory_mib", read: mibOf },
  "gpu-compute": { pointer: "/gpu/minimum_compute_percent", read: percentOf },
  vendor: { pointer: "/gpu/vendor", read: (text) => text.trim() },
  model: { pointer: "/gpu/model", read: (text) => text.trim() },
  sharing: { pointer: "/gpu/sharing", read: (text) => text },
  cpu: { pointer: "/cpu/minimum_millicores", read: millicoresOf },
  memory: { pointer: "/memory/minimum_bytes", read: bytesOf },
  toleration: { pointer: "/tolerations", read: (text) => listOf(text).map(tolerationOf) },
  strategy: { pointer: "/strategy", read: (text) => text },
  limit: { pointer: "/limit", read: wholeOf },
  deadline: { pointer: "/deadline_ms", read: millisecondsOf },
  provider: { pointer: "/providers/include", read: listOf },
  exclude: { pointer: "/providers/exclude", read: listOf },
  label: { pointer: "/providers/labels", read: labelsOf },
  partial: { pointer: "/partial", read: (text) => text },
};

/** Whether the parameters ask for anything that a node could have. */
export function isAsking(parameters) {
  return ["gpu", "gpu-memory", "gpu-compute", "vendor", "model", "cpu", "memory"].some((name) => parameters[name]);
}

/** The API's body, and by parameter what can't be read: {body, faults}. */
export function bodyOf(parameters) {
  const body = {};
  const faults = {};
  for (const [name, { pointer, read }] of Object.entries(FIELDS)) {
    if (!parameters[name]) continue;
    try {
      place(body, pointer.split("/").slice(1), read(parameters[name]));
    } catch (error) {
      faults[name] = error.message;
    }
  }
  return { body, faults };
}

function place(target, [step, ...rest], value) {
  if (rest.length) place((target[step] ??= {}), rest, value);
  else target[step] = value;
}

/** The parameter that a JSON pointer of the API's errors is about, or undefined. */
export function parameterAt(pointer) {
  return Object.keys(FIELDS).find((name) => `${pointer}/`.startsWith(`${FIELDS[name].pointer}/`));
}

/** Parameters in the address' order, without empty and unknown ones; bare sizes get their unit. */
export function tidy(parameters) {
  const known = Object.keys(FIELDS).filter((name) => parameters[name]);
  return Object.fromEntries(known.map((name) => [name, SIZES_BY_NAME.includes(name) ? withGib(parameters[name]) : parameters[name]]));
}

function withGib(text) {
  return /^[\d.]+$/.test(text) ? `${text}GiB` : text.replaceAll(" ", "");
}

/** The request as a short line: "1 GPU · 30GiB each · 4 cores". */
export function inWords(parameters) {
  const { gpu, vendor, model, cpu, memory, sharing } = parameters;
  const has = ["gpu", "gpu-memory", "gpu-compute", "vendor", "model"].some((name) => parameters[name]);
  const gpus = has && `${gpu || 1} ${[vendor, model, "GPU"].filter(Boolean).join(" ")}${Number(gpu) > 1 ? "s" : ""}`;
  const parts = [
    gpus,
    parameters["gpu-memory"] && `${withUnit(parameters["gpu-memory"], "GiB")} each`,
    parameters["gpu-compute"] && `${withUnit(parameters["gpu-compute"], "%")} each`,
    sharing,
    cpu && withUnit(cpu, "cores"),
    memory && `${withUnit(memory, "GiB")} memory`,
  ];
  return parts.filter(Boolean).join(" · ");
}

function withUnit(text, unit) {
  return /[a-z%]/i.test(text) ? text.replace(/(\d)([a-z%])/i, "$1 $2") : `${text} ${unit}`;
}

/** ["a", "b"] of "a, b". */
export function listOf(text) {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}

/** {"region": "eu"} of "region=eu, tier=gold". */
export function labelsOf(text) {
  return Object.fromEntries(
    listOf(text).map((part) => {
      const at = part.indexOf("=");
      if (at < 1) throw new Error("Write labels as name=value, separated by commas.");
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    }),
  );
}

/** Kubernetes' toleration of "key=value:Effect", "key:Effect", "key", or "*" for every taint. */
function tolerationOf(text) {
  const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?(?::(\w+))?$/.exec(text) ?? [];
  if (!key) throw new Error("Write tolerations as key=value:NoSchedule, key, or * for every taint.");
  return {
    ...(key === "*" ? {} : { key }),
    ...(value === undefined ? { operator: "Exists" } : { value }),
    ...(effect ? { effect } : {}),
  };
}

function millisecondsOf(text) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s)?$/.exec(text.trim()) ?? [];
  if (number === undefined) throw new Error("Write seconds such as 8, or 500ms.");
  return Math.ceil(Number(number) * (unit === "ms" ? 1 : 1000));
}
