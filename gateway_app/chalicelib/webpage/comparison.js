// The four strategies side by side: whom each would choose, and where each node stands with each.

import { search } from "./api.js";
import { bar } from "./bars.js";
import { devicesInWords } from "./devices.js";
import { el, freshId } from "./dom.js";
import { nothing } from "./notices.js";
import { bodyOf, STRATEGIES } from "./request.js";
import { hashOf } from "./routes.js";
import { counted } from "./units.js";

const MOST_NODES = 100;
const MOST_ROWS = 25;

/** The answers of the four strategies to one request, in their order. */
export function compareStrategies(parameters, signal) {
  const { body } = bodyOf(parameters);
  return Promise.all(
    STRATEGIES.map(async ({ name }) => {
      const answer = await search({ ...body, strategy: name, limit: MOST_NODES, explain: false }, signal);
      return answer.body;
    }),
  );
}

/** The elements of a comparison. */
export function comparisonView(parameters, answers) {
  if (!answers.some(({ candidates }) => candidates.length)) {
    return nothing("Nothing to compare", "No node fits this request.", el("p", {}, el("a.button", { href: hashOf("search", parameters) }, "See why")));
  }
  const rows = nodesOf(answers);
  const id = freshId("matrix");
  return [
    el("header.verdict.is-feasible", {},
      el("div.verdict-words", {},
        el("h1", {}, `${counted(answers[0].total_candidates, "node")}, four opinions`),
        el("p.verdict-facts", {}, el("span", {}, agreement(answers)), answers.some(({ partial }) => partial) && el("span", {}, "not every provider answered")),
      ),
    ),
    el("ul.winners", {}, STRATEGIES.map((strategy, index) => winner(strategy, answers[index].candidates[0], parameters))),
    el("section.block", { "aria-labelledby": id },
      el("div.block-head", {}, el("h2", { id }, "Rank and score"), el("span.block-note", {}, rows.length > MOST_ROWS ? `the first ${MOST_ROWS} of ${rows.length}` : "ordered by best rank")),
      el("div.scroll", { role: "group", "aria-labelledby": id, tabindex: "0" }, matrix(rows.slice(0, MOST_ROWS))),
    ),
  ];
}

function agreement(answers) {
  const firsts = new Set(answers.map(({ candidates: [first] }) => first && keyOf(first)));
  return firsts.size === 1 ? "all four choose the same node" : `${firsts.size} different first choices`;
}

function keyOf({ provenance, node }) {
  return `${provenance.provider_id}/${node.name}`;
}

function nodesOf(answers) {
  const rows = new Map();
  answers.forEach(({ candidates }, index) => {
    for (const candidate of candidates) {
      const key = keyOf(candidate);
      if (!rows.has(key)) rows.set(key, { candidate, places: answers.map(() => null) });
      rows.get(key).places[index] = candidate;
    }
  });
  const best = ({ places }) => Math.min(...places.map((place) => place?.rank ?? Infinity));
  const sum = ({ places }) => places.reduce((total, place) => total + (place?.rank ?? MOST_NODES), 0);
  return [...rows.values()].sort((one, other) => best(one) - best(other) || sum(one) - sum(other));
}

function winner({ name, about }, candidate, parameters) {
  return el("li.winner", {},
    el("div.winner-head", {},
      el("a", { href: hashOf("search", { ...parameters, strategy: name === "best-fit" ? "" : name }) }, name),
      el("small", {}, about),
    ),
    candidate
      ? [
          el("b.winner-node", {}, candidate.node.name),
          el("span.winner-about", {}, candidate.provenance.provider_name),
          el("span.winner-about", {}, devicesInWords(candidate.devices)),
          el("span.score", {}, candidate.score.toFixed(3)),
        ]
      : el("span", {}, "nothing fits"),
  );
}

function matrix(rows) {
  return el("table.matrix", {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Node"), STRATEGIES.map(({ name }) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map(({ candidate, places }) =>
      el("tr", {},
        el("th", { scope: "row" },
          el("span.name", {}, candidate.node.name),
          el("span.id", {}, [candidate.provenance.provider_name, devicesInWords(candidate.devices)].filter(Boolean).join(" · ")),
        ),
        places.map((place) => cell(place)),
      ),
    )),
  );
}

function cell(place) {
  if (!place) return el("td", {}, "–");
  return el(`td${place.rank === 1 ? ".is-first" : ""}`, {},
    el("div.cell", {},
      el("b", {}, String(place.rank)),
      el("span", {}, place.score.toFixed(3)),
      bar([[place.rank === 1 ? "asked" : "used", place.score]]),
    ),
  );
}
