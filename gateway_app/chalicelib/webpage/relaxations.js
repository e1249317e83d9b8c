// What to ask for instead: changes of the request that the gateway itself says would find a node.

import { search } from "./api.js";
import { bodyOf } from "./request.js";
import { GIB, plain } from "./units.js";

const MOST = 8;

// By reason: the change that would take it away, given what the node has. Null takes a parameter out.
const CHANGES = {
  insufficient_cpu: ({ have }) => ({ cpu: have ? plain(have / 1000, 3) : null }),
  insufficient_memory: ({ have }) => ({ memory: have ? floored(have / GIB, "GiB") : null }),
  insufficient_gpu_memory: ({ have }) => ({ "gpu-memory": have ? floored(have / 1024, "GiB") : null }),
  insufficient_gpu_compute: ({ have }) => ({ "gpu-compute": have ? String(have) : null }),
  insufficient_gpu_count: ({ have }) => (have ? { gpu: String(have) } : {}),
  unknown_cpu: () => ({ cpu: null }),
  unknown_memory: () => ({ memory: null }),
  unknown_gpu_memory: () => ({ "gpu-memory": null }),
  unknown_gpu_compute: () => ({ "gpu-compute": null }),
  gpu_vendor_mismatch: () => ({ vendor: null }),
  gpu_model_mismatch: () => ({ model: null }),
  gpu_in_use: () => ({ sharing: "any" }),
  untolerated_taint: () => ({ toleration: "*" }),
};

function floored(amount, unit) {
  const tenths = Math.floor(amount * 10) / 10;
  return tenths ? `${tenths}${unit}` : null;
}

/** Changes worth trying, the smallest first: each as parameters that differ from `parameters`. */
function proposals(parameters, { by_reason: counts, nearest }) {
  const single = Object.keys(counts).filter((name) => name in CHANGES && !name.startsWith("insufficient")).map((name) => CHANGES[name]({}));
  const perNode = nearest.flatMap(({ reasons }) => {
    const changes = reasons.filter(({ reason }) => reason in CHANGES).map((reason) => CHANGES[reason.reason](reason));
    return [...changes, Object.assign({}, ...changes)];
  });
  const found = new Map();
  for (const change of [...perNode, ...single]) {
    const changed = Object.entries(change).filter(([name, value]) => (parameters[name] ?? null) !== value);
    if (changed.length) found.set(JSON.stringify(changed.sort()), Object.fromEntries(changed));
  }
  return [...found.values()].sort((one, other) => Object.keys(one).length - Object.keys(other).length).slice(0, MOST);
}

/** The proposals that find a node, each as {change, parameters, nodes}; those that give up least first. */
export async function relaxations(parameters, rejections, signal) {
  const tried = await Promise.all(
    proposals(parameters, rejections).map(async (change) => {
      const relaxed = Object.fromEntries(Object.entries({ ...parameters, ...change }).filter(([, value]) => value));
      const { body } = bodyOf(relaxed);
      if (!body.gpu && !body.cpu && !body.memory) return null;
      const answer = await search({ ...body, limit: 1, explain: false }, signal);
      return { change, parameters: relaxed, nodes: answer.body.total_candidates };
    }),
  );
  const effort = ({ change }) => Object.keys(change).length;
  return tried.filter((one) => one?.nodes).sort((one, other) => effort(one) - effort(other) || one.nodes - other.nodes);
}

const WORDS = {
  gpu: ["GPU count", ""],
  "gpu-memory": ["GPU memory", "GiB"],
  "gpu-compute": ["GPU compute", "%"],
  vendor: ["Vendor", ""],
  model: ["Model", ""],
  sharing: ["Sharing", ""],
  cpu: ["CPU", "cores"],
  memory: ["Memory", "GiB"],
  toleration: ["Tolerate", ""],
};

/** A change in words: [["GPU count", "16", "8"], ...]. */
export function inSteps(change, parameters) {
  return Object.entries(change).map(([name, value]) => {
    const [words, unit] = WORDS[name];
    const before = { gpu: "1", sharing: "whole", toleration: "no taint" }[name] ?? "any";
    const after = name === "toleration" ? "every taint" : "any";
    return [words, written(parameters[name] || before, unit), value === "*" ? after : written(value ?? "any", unit)];
  });
}

function written(value, unit) {
  const bare = value.replace(/^([\d.]+)([A-Za-z%]+)$/, "$1 $2");
  return /^[\d.]+$/.test(bare) && unit ? `${bare} ${unit}` : bare;
}
