// Ranked candidates: a row each, opened for devices, provenance and the score's parts.

import { dimension, dimensionsOf, legend } from "./bars.js";
import { deviceCards, devicesInWords } from "./devices.js";
import { copyButton } from "./copying.js";
import { el, freshId, icon } from "./dom.js";
import { counted, duration, moment } from "./units.js";

const MANIFESTS = {
  hami: "A pod with this share of this card",
  kubernetes: "A pod for this node",
  dra: "A ResourceClaim and a pod that uses it",
};

/** The list of an answer's candidates; the first is open. */
export function candidateList({ candidates, request, total_candidates: total }) {
  if (!candidates.length) return null;
  const id = freshId("candidates");
  return el("section.block", { "aria-labelledby": id },
    el("div.block-head", {},
      el("h2", { id }, "Candidates"),
      el("span.block-note", {}, candidates.length < total ? `best ${candidates.length} of ${total}` : ""),
      legend(),
    ),
    el("ol.candidates", {}, candidates.map((candidate, index) => candidateRow(candidate, request, index === 0))),
  );
}

function candidateRow(candidate, request, isOpen) {
  const { rank, score, copies, node, devices, provenance } = candidate;
  const id = freshId("candidate");
  const more = el(`div.candidate-more${devices.length > 2 ? "" : ".is-beside"}`, { id, hidden: !isOpen, "--cards": String(devices.length) });
  const toggle = el("button.disclose", {
    type: "button",
    "aria-expanded": String(isOpen),
    "aria-controls": id,
    "aria-label": `Details of ${node.name}`,
    click: () => {
      const opens = toggle.getAttribute("aria-expanded") === "false";
      toggle.setAttribute("aria-expanded", String(opens));
      more.hidden = !opens;
      if (opens && !more.childElementCount) more.append(...details(candidate, request));
    },
  }, icon("chevron"));
  if (isOpen) more.append(...details(candidate, request));
  return el("li.candidate", {},
    el("div.candidate-head", {},
      el("span.rank", { "aria-label": `Rank ${rank}` }, String(rank)),
      el("div.candidate-name", {},
        el("h3", {}, node.name),
        el("span.candidate-provider", { title: provenance.provider_id }, provenance.provider_name),
      ),
      el("span.candidate-devices", {}, devicesInWords(devices)),
      el("div.candidate-facts", {},
        el("span", { title: "How many such requests fit on this node side by side" }, copies === 1 ? "1 copy" : `${copies} copies`),
        el("span", { title: `Observed ${moment(provenance.observed_at)}` }, age(provenance)),
      ),
      el("span.score", { title: "Score, 0 to 1" }, score.toFixed(3)),
      toggle,
    ),
    el("div.dimensions", {}, dimensionsOf(candidate, request).map(dimension)),
    more,
  );
}

function age({ source, age_ms: ms }) {
  return [source, ms === null ? "age unknown" : `${duration(ms)} old`].filter(Boolean).join(", ");
}

function details({ node, devices, provenance, score_parts: parts, hint }, request) {
  return [
    devices.length ? deviceCards(devices, request.gpu ?? {}) : null,
    el("dl.facts", {},
      fact("Provider", `${provenance.provider_name} (${provenance.provider_id})`),
      fact("Address", provenance.base_url),
      fact("Source", provenance.source),
      fact("Observed", `${moment(provenance.observed_at)}, ${provenance.age_ms === null ? "age unknown" : `${duration(provenance.age_ms)} old`}`),
      fact("Version", provenance.etag && el("code", {}, provenance.etag)),
      fact("Score by part", Object.entries(parts).map(([name, score]) => el("span.part", {}, `${name} `, el("b", {}, score.toFixed(3))))),
      fact("Pods", node.pods && node.pods.available !== null ? `${counted(node.pods.available, "more pod")} of ${node.pods.total}` : null),
      fact("Labels", tags(Object.entries(node.labels).map(([name, value]) => (value ? `${name}=${value}` : name)))),
      fact("Taints", tags(node.taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`))),
    ),
    hint?.kind in MANIFESTS ? manifest(hint) : null,
  ].filter(Boolean);
}

function manifest({ kind, text }) {
  return el("div.manifest", {},
    el("div.manifest-head", {}, el("b", {}, MANIFESTS[kind]), el("span", {}, "for kubectl create -f -"), copyButton("manifest", () => text, { word: "Copy" })),
    el("pre", { tabindex: "0", "aria-label": MANIFESTS[kind], role: "group" }, el("code", {}, text)),
  );
}

function fact(name, value) {
  if (!value || value.length === 0) return null;
  return [el("dt", {}, name), el("dd", {}, value)];
}

function tags(texts) {
  return texts.map((text) => el("code.tag", {}, text));
}
