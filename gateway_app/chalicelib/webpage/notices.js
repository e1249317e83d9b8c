// The states that every view has: loading, failed, a key is needed, and nothing to show.

import { heldKey, holdKey } from "./api.js";
import { el, freshId } from "./dom.js";

/** A view's heading, with what stands beside it. */
export function pageTitle(title, ...beside) {
  return el("header.page-head", {}, el("h1", {}, title), beside);
}

/** Grey lines where something will stand. */
export function loading(what, rows = 4) {
  return el("div.loading", { role: "status", "aria-label": `Loading ${what}` },
    Array.from({ length: rows }, () => el("div.bone", { "aria-hidden": "true" })),
  );
}

/** A problem, with what can be done about it. `retry` asks again, where that makes sense. */
export function failure(problem, retry = null) {
  if (problem.status === 401) return keyNeeded(retry);
  return el("section.notice.is-bad", { role: "alert" },
    el("h2", {}, problem.title || "Something went wrong"),
    el("p", {}, problem.detail ?? problem.message),
    problem.errors?.length
      ? el("ul.faults", {}, problem.errors.map(({ pointer, message }) => el("li", {}, el("code", {}, pointer || "/"), " ", message)))
      : null,
    el("p.notice-facts", {},
      problem.code && el("span", {}, "code ", el("code", {}, problem.code)),
      problem.status ? el("span", {}, `status ${problem.status}`) : null,
      problem.requestId && el("span", {}, "request ", el("code", {}, problem.requestId)),
    ),
    retry && el("div.buttons", {}, el("button", { type: "button", click: retry }, "Try again")),
  );
}

function keyNeeded(retry) {
  const id = freshId("key");
  const input = el("input", { id, type: "password", autocomplete: "off", spellcheck: "false", placeholder: "fc_…" });
  const use = (event) => {
    event.preventDefault();
    holdKey(input.value.trim());
    retry?.();
  };
  return el("section.notice", { role: "alert" },
    el("h2", {}, heldKey() ? "This key was not accepted" : "A key is needed"),
    el("p", {}, "This gateway answers callers with a key. It stays in this tab until you close it, and goes to this gateway only."),
    el("form.key-form", { submit: use },
      el("label", { for: id }, "API key"),
      el("div.input", {}, input),
      el("button.primary", { type: "submit" }, "Use key"),
    ),
  );
}

/** A quiet place with a word on what could stand there. */
export function nothing(title, text, ...more) {
  return el("section.nothing", {}, el("h2", {}, title), el("p", {}, text), more);
}

/** A coloured dot with its word; `tone` is good, busy, bad or quiet. */
export function state(tone, word) {
  return el(`span.state.is-${tone}`, {}, word);
}
