// Why nodes do not fit: words for each reason, and the amounts that it speaks of.

import { cores, count, percent, size, sizeOfMib } from "./units.js";

const inCores = (amount) => (amount === null ? "unknown" : `${cores(amount)} cores`);

const REASONS = {
  node_not_ready: { words: "Node not ready" },
  node_not_schedulable: { words: "Node cordoned" },
  untolerated_taint: { words: "Taint not tolerated" },
  no_free_pod: { words: "No free pod" },
  unknown_cpu: { words: "Free CPU unknown" },
  insufficient_cpu: { words: "Too little CPU", short: "CPU", show: inCores },
  unknown_memory: { words: "Free memory unknown" },
  insufficient_memory: { words: "Too little memory", short: "Memory", show: size },
  no_gpu: { words: "No GPU" },
  gpu_vendor_mismatch: { words: "GPU of another vendor" },
  gpu_model_mismatch: { words: "GPU of another model" },
  gpu_unhealthy: { words: "GPU unhealthy" },
  unknown_gpu_slots: { words: "Free GPU slots unknown" },
  no_free_gpu_slot: { words: "No free GPU slot" },
  gpu_in_use: { words: "GPU in use or shared" },
  unknown_gpu_memory: { words: "Free GPU memory unknown" },
  insufficient_gpu_memory: { words: "Too little GPU memory", short: "GPU memory", show: sizeOfMib },
  unknown_gpu_compute: { words: "Free GPU compute unknown" },
  insufficient_gpu_compute: { words: "Too little GPU compute", short: "GPU compute", show: percent },
  insufficient_gpu_count: { words: "Too few GPUs", short: "GPUs", show: count },
};

/** {words, short, show}: `show` writes an amount of this reason, where it has amounts. */
export function reasonOf(name) {
  return REASONS[name] ?? { words: name.replaceAll("_", " ") };
}
