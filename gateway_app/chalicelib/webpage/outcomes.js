// How asking each provider ended: outcome, time and message.

import { bar } from "./bars.js";
import { el, freshId, icon } from "./dom.js";
import { state } from "./notices.js";
import { count, duration } from "./units.js";

const ANSWERED = ["ok", "not_modified"];

/** Words for the outcomes that are no plain words themselves. */
const WORDS = { ok: "ok", not_modified: "ok, unchanged", http_status: "HTTP error", dns_failure: "DNS failure", tls_failure: "TLS failure", not_json: "not JSON" };

export function isAnswered({ outcome }) {
  return ANSWERED.includes(outcome);
}

export function outcomeWord(outcome) {
  return WORDS[outcome] ?? outcome.replaceAll("_", " ");
}

export function outcomeState(entry) {
  return el("span", { title: entry.outcome }, state(isAnswered(entry) ? "good" : "bad", outcomeWord(entry.outcome)));
}

/** The table of an answer's providers; those that did not answer come first. */
export function outcomeTable(providers, { hasCandidates = true } = {}) {
  if (!providers.length) return null;
  const id = freshId("outcomes");
  const slowest = Math.max(...providers.map((entry) => entry.took_ms ?? 0), 1);
  const sorted = [...providers].sort((one, other) => isAnswered(one) - isAnswered(other));
  const answered = providers.filter(isAnswered).length;
  return el("section.block", { "aria-labelledby": id },
    el("div.block-head", {}, el("h2", { id }, "Providers asked"), el("span.block-note", {}, `${answered} of ${providers.length} answered`)),
    el("div.scroll", { role: "group", "aria-labelledby": id, tabindex: "0" },
      el("table.outcomes", {},
        el("thead", {}, el("tr", {},
          el("th", { scope: "col" }, "Provider"),
          el("th", { scope: "col" }, "Outcome"),
          el("th.number", { scope: "col" }, "Nodes"),
          hasCandidates && el("th.number", { scope: "col" }, "Fit"),
          el("th.number", { scope: "col" }, "Time"),
          el("th.time-bar", { "aria-hidden": "true" }),
          el("th", { scope: "col" }, "Message"),
        )),
        el("tbody", {}, sorted.map((entry) => row(entry, slowest, hasCandidates))),
      ),
    ),
  );
}

function row(entry, slowest, hasCandidates) {
  const retry = entry.retry_at ? `asked again after ${new Date(entry.retry_at).toLocaleTimeString()}` : null;
  const warned = entry.warnings.length ? `${entry.warnings.length} warning${entry.warnings.length === 1 ? "" : "s"}` : null;
  const status = entry.http_status && entry.http_status !== 200 && entry.http_status !== 304 ? `HTTP ${entry.http_status}` : null;
  return el("tr", {},
    el("th", { scope: "row" }, el("span.name", {}, entry.name), el("span.id", {}, entry.id)),
    el("td", {}, outcomeState(entry)),
    el("td.number", {}, entry.nodes === null ? "–" : count(entry.nodes)),
    hasCandidates && el("td.number", {}, entry.candidates === null ? "–" : count(entry.candidates)),
    el("td.number", {}, duration(entry.took_ms)),
    el("td.time-bar", { "aria-hidden": "true" }, bar([[isAnswered(entry) ? "used" : "bad", (entry.took_ms ?? 0) / slowest]])),
    el("td.message", {}, [entry.message, status, retry, warned].filter(Boolean).join("; ")),
  );
}

/** What the providers and the search warn of. */
export function warningList(warnings) {
  if (!warnings.length) return null;
  return el("details.block.warnings", {},
    el("summary", {}, el("h2", {}, "Warnings"), el("span.block-note", {}, String(warnings.length)), icon("chevron")),
    el("ul", {}, warnings.map((warning) =>
      el("li", {},
        el("span", {}, warning.message),
        el("span.where", {}, [warning.provider_id, warning.node, warning.code].filter(Boolean).join(" · ")),
      ),
    )),
  );
}
