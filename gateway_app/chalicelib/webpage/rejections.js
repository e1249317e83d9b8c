// Why nothing fits, or why the rest does not: counts per reason, the nearest nodes, and what to ask for instead.

import { bar } from "./bars.js";
import { el, fill, freshId, icon, speak } from "./dom.js";
import { reasonOf } from "./reasons.js";
import { inSteps, relaxations } from "./relaxations.js";
import { counted } from "./units.js";

/** The section of an answer's rejections; folded away where something fits. */
export function rejectionSection({ rejections, providers, candidates }) {
  if (!rejections.nodes) return null;
  const names = new Map(providers.map(({ id, name }) => [id, name]));
  return el("details.block.rejections", { open: !candidates.length },
    el("summary", {},
      el("h2", {}, candidates.length ? "Why the others do not fit" : "Why nothing fits"),
      el("span.block-note", {}, counted(rejections.nodes, "node")),
      icon("chevron"),
    ),
    el("div.rejections-body", {}, reasonCounts(rejections), nearestNodes(rejections.nearest, names)),
  );
}

function reasonCounts({ by_reason: counts, nodes }) {
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return el("div", {},
    el("h3", {}, "Nodes by reason"),
    el("ul.reasons", {}, sorted.map(([name, number]) =>
      el("li", {}, el("span.reason-number", {}, String(number)), el("span", { title: name }, reasonOf(name).words), bar([["used", number / nodes]])),
    )),
  );
}

function nearestNodes(nearest, names) {
  if (!nearest.length) return null;
  return el("div", {},
    el("h3", {}, "Nearest nodes"),
    el("ul.nearest", {}, nearest.map(({ provider_id: id, node, reasons }) =>
      el("li", {},
        el("div.nearest-head", {}, el("b", {}, node), el("span", {}, names.get(id) ?? id)),
        el("ul", {}, reasons.map((reason) => el("li", {}, lack(reason)))),
      ),
    )),
  );
}

function lack({ reason, have, need, short_by: shortBy, devices }) {
  const { words, short, show } = reasonOf(reason);
  const on = devices ? el("small", {}, counted(devices, "device")) : null;
  if (!show || need === null) return [el("span", {}, words), on];
  return [
    el("span", {}, short),
    el("span.amounts", {}, `${show(have)} of ${show(need)}`),
    shortBy === null ? null : el("b.short", {}, `${show(shortBy)} short`),
    on,
  ];
}

/** Buttons that ask for less, each tried before it is offered. */
export function relaxationSection(parameters, answer, signal, onAsk) {
  const id = freshId("relaxations");
  const place = el("div.relaxations", {}, el("p.trying", {}, "Trying what would fit…"));
  const section = el("section.block", { "aria-labelledby": id },
    el("div.block-head", {}, el("h2", { id }, "Ask for this instead"), el("span.block-note", {}, "each was tried just now")),
    place,
  );
  relaxations(parameters, answer.rejections, signal).then((found) => {
    if (!found.length) section.remove();
    else fill(place, found.map((one) => offer(one, parameters, onAsk)));
    if (found.length) speak(`${counted(found.length, "change")} of the request would find a node.`);
  }).catch(() => section.remove());
  return section;
}

function offer({ change, parameters: relaxed, nodes }, parameters, onAsk) {
  return el("button.relaxation", { type: "button", click: () => onAsk(relaxed) },
    el("span.steps", {}, inSteps(change, parameters).map(([words, before, after]) =>
      el("span.step", {}, `${words} `, el("s", {}, before), el("span.unseen", {}, " becomes "), el("b", {}, after)),
    )),
    el("span.finds", {}, counted(nodes, "node")),
  );
}
