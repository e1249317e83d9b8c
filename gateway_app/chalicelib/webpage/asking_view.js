// The views with a request form: search, and the comparison of the strategies.

import { search } from "./api.js";
import { answerView, verdictInWords } from "./answer.js";
import { compareStrategies, comparisonView } from "./comparison.js";
import { el, fill, speak } from "./dom.js";
import { RequestForm } from "./form.js";
import { failure, loading } from "./notices.js";
import { bodyOf, isAsking, parameterAt, PRESETS, tidy } from "./request.js";
import { hashOf } from "./routes.js";

const NARROW = matchMedia("(max-width: 859px)");

/** Search and compare: one form, and the answers beside it. */
export class AskingView {
  constructor() {
    this.view = "search";
    this.form = new RequestForm((parameters) => this.ask(parameters));
    this.results = el("div.results");
    this.root = el("div.asking", {}, el("aside", {}, this.form.root), this.results);
    this.running = new AbortController();
  }

  /** Goes to the request's own address, or asks again where that is this one. */
  ask(parameters) {
    const hash = hashOf(this.view, tidy(parameters));
    if (hash === location.hash) this.show(this.view, parameters);
    else location.hash = hash;
  }

  async show(view, parameters) {
    this.view = view;
    this.running.abort();
    this.running = new AbortController();
    this.form.show(parameters);
    if (!isAsking(parameters)) {
      this.fold(true);
      fill(this.results, this.welcome());
      return;
    }
    const { body, faults } = bodyOf(parameters);
    this.form.showFaults(faults);
    if (Object.keys(faults).length) {
      fill(this.results, this.welcome());
      return;
    }
    await this.answer(view, tidy(parameters), body, this.running.signal);
  }

  async answer(view, parameters, body, signal) {
    this.wait();
    try {
      if (view === "compare") {
        const answers = await compareStrategies(parameters, signal);
        fill(this.results, comparisonView(parameters, answers));
        speak("The four strategies are compared.");
      } else {
        const { body: answer } = await search(body, signal);
        fill(this.results, answerView(parameters, answer, signal, (relaxed) => this.ask(relaxed)));
        speak(verdictInWords(answer));
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(this.results, el("h1.unseen", {}, "No answer"), failure(error, () => this.show(view, parameters)));
      this.form.showFaults(faultsOf(error));
    } finally {
      if (!signal.aborted) this.results.removeAttribute("aria-busy");
    }
  }

  /** Keeps an earlier answer in sight, dimmed, until the next one is there. */
  wait() {
    this.results.setAttribute("aria-busy", "true");
    this.fold(true);
    if (!this.results.querySelector(".verdict")) fill(this.results, el("h1.unseen", {}, "Waiting for the answer"), loading("the answer", 6));
  }

  /** On a phone the form makes room for what stands below it. */
  fold(isWished) {
    this.form.root.open = !(isWished && NARROW.matches);
  }

  welcome() {
    const preset = ({ name, about, parameters }) =>
      el("li", {}, el("a.preset", { href: hashOf(this.view, parameters) }, el("b", {}, name), el("span", {}, about)));
    return el("section.welcome", {},
      el("h1", {}, this.view === "compare" ? "How would each strategy choose?" : "Where can this job run now?"),
      el("p", {}, this.view === "compare"
        ? "One request, ranked in four ways, side by side."
        : "Every provider of the federation is asked at once. Nothing is reserved or started."),
      el("ul.presets", {}, PRESETS.map(preset)),
    );
  }
}

function faultsOf({ errors = [] }) {
  return Object.fromEntries(errors.map(({ pointer, message }) => [parameterAt(pointer), message]).filter(([name]) => name));
}
