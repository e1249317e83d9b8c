// One answer to one request: the verdict, then candidates, who answered and why the rest does not fit.

import { candidateList } from "./candidates.js";
import { asCli, asCurl } from "./commands.js";
import { copyButton } from "./copying.js";
import { el } from "./dom.js";
import { isAnswered, outcomeTable, outcomeWord, warningList } from "./outcomes.js";
import { rejectionSection, relaxationSection } from "./rejections.js";
import { bodyOf } from "./request.js";
import { counted, duration } from "./units.js";

const VERDICTS = {
  busy: ["Nothing is free right now", "Nodes that could take this are in use or not well. Ask for less, or come back later."],
  unknown: ["No answer can be given", "Nothing that fits is known, and not every provider answered."],
  infeasible: ["Nothing fits", "No node of this federation could take this, not even an empty one."],
};

/** The elements of an answer. `onAsk(parameters)` asks something else. */
export function answerView(parameters, answer, signal, onAsk) {
  return [
    verdict(parameters, answer),
    partialNotice(answer),
    answer.candidates.length ? null : relaxationSection(parameters, answer, signal, onAsk),
    candidateList(answer),
    answer.candidates.length ? null : rejectionSection(answer),
    outcomeTable(answer.providers),
    answer.candidates.length ? rejectionSection(answer) : null,
    warningList(answer.warnings),
  ];
}

/** The verdict as one sentence. */
export function verdictInWords({ feasibility, total_candidates: total, candidates }) {
  if (feasibility !== "feasible") return (VERDICTS[feasibility] ?? VERDICTS.unknown)[0];
  const [{ node, provenance }] = candidates;
  return `${counted(total, "node")} ${total === 1 ? "fits" : "fit"}. Best: ${node.name} of ${provenance.provider_name}.`;
}

function verdict(parameters, answer) {
  const { feasibility, total_candidates: total, rejections, providers, took_ms: ms } = answer;
  const nodes = total + rejections.nodes;
  const [title, text] = feasibility === "feasible" ? [`${counted(total, "node")} ${total === 1 ? "fits" : "fit"}`, null] : (VERDICTS[feasibility] ?? VERDICTS.unknown);
  const answered = providers.filter(isAnswered).length;
  const facts = [`${counted(nodes, "node")} compared`, `${answered} of ${counted(providers.length, "provider")} answered`, duration(ms)];
  return el(`header.verdict.is-${feasibility}`, {},
    el("div.verdict-words", {},
      el("h1", {}, title),
      text && el("p", {}, text),
      el("p.verdict-facts", {}, facts.map((fact) => el("span", {}, fact))),
    ),
    copies(parameters, answer),
  );
}

function copies(parameters, answer) {
  const { body } = bodyOf(parameters);
  const command = asCli(parameters, body);
  return el("div.copies", { role: "group", "aria-label": "Copy" },
    copyButton("Link", () => location.href, { title: "The address of this request" }),
    copyButton("curl", () => asCurl(body), { title: "As a curl command" }),
    copyButton("CLI", () => command, { title: "As a command of fedcompute" }),
    copyButton("JSON", () => JSON.stringify(body, null, 2), { title: "The request's body" }),
    copyButton("Answer", () => JSON.stringify(answer, null, 2), { title: "The answer's body" }),
  );
}

function partialNotice({ partial, providers, request }) {
  const missing = providers.filter((entry) => !isAnswered(entry));
  if (!partial || !missing.length) return null;
  const names = missing.map(({ name, outcome }) => `${name} (${outcomeWord(outcome)})`).join(", ");
  const meaning = request.partial === "require_all" ? "You asked for an answer of all providers." : "What they have is not in this answer.";
  return el("p.banner", {}, el("b", {}, `${counted(missing.length, "provider")} did not answer: `), `${names}. ${meaning}`);
}
