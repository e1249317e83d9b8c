// Starts the page: which view the address names, the theme, and the key of this tab.

import { BASE, heldKey, holdKey } from "./api.js";
import { AskingView } from "./asking_view.js";
import { el, fill, icon } from "./dom.js";
import { FederationView } from "./federation.js";
import { inWords } from "./request.js";
import { hashOf, routeOf } from "./routes.js";
import { RegistryView } from "./registry.js";

const THEME = "fedcompute.theme";
const THEMES = ["auto", "light", "dark"];

const main = document.getElementById("main");
const asking = new AskingView();
const VIEWS = {
  search: { title: "Search", view: asking },
  compare: { title: "Compare", view: asking },
  federation: { title: "Federation", view: new FederationView() },
  providers: { title: "Providers", view: new RegistryView() },
};

let shown = null;

async function go() {
  const route = routeOf(location.hash);
  const name = route.view in VIEWS ? route.view : "search";
  const { title, view } = VIEWS[name];
  const isAnother = shown !== null && shown !== name;
  shown = name;
  document.title = [inWords(route.parameters), title, "Federated compute"].filter(Boolean).join(" – ");
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    // Search and compare are two looks at one request.
    if (["search", "compare"].includes(link.dataset.view) && ["search", "compare"].includes(name)) {
      link.href = hashOf(link.dataset.view, route.parameters);
    }
  }
  if (main.firstElementChild !== view.root) fill(main, view.root);
  if (isAnother) scrollTo(0, 0);
  await view.show(name, route.parameters);
}

function topEnd() {
  const theme = el("button.quiet", { type: "button", click: nextTheme, "aria-label": `Theme: ${themeName()}` }, icon("theme"), themeName());
  const forget = el("button.quiet", { type: "button", title: "Forget the key of this tab", click: () => holdKey("") }, "Forget key");
  const documented = el("a.button.quiet", { href: `${BASE}/docs`, title: "The API's documentation" }, "API");
  fill(document.getElementById("top-end"), heldKey() && forget, documented, theme);
}

function themeName() {
  const kept = localStorage.getItem(THEME);
  return THEMES.includes(kept) ? kept : "auto";
}

function nextTheme() {
  localStorage.setItem(THEME, THEMES[(THEMES.indexOf(themeName()) + 1) % THEMES.length]);
  applyTheme();
  topEnd();
  document.querySelector("#top-end > :last-child").focus();
}

function applyTheme() {
  document.documentElement.dataset.theme = themeName();
}

applyTheme();
topEnd();
addEventListener("hashchange", go);
addEventListener("keychange", topEnd);
go();
