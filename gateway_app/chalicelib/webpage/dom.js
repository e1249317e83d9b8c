// Elements. Text goes in as text: nothing in this page parses HTML, whatever a provider calls its nodes.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  check: "M3.5 8.5l3 3 6-7",
  chevron: "M4.5 6.5L8 10l3.5-3.5",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3.5v9M3.5 8h9",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11zM8 2.5v11M8 5l3.5 0M8 8h5M8 11h3.5",
  refresh: "M12.5 6.5a5 5 0 1 0 .3 3M12.8 3.5v3h-3",
};

/** One element: `el("p.note", {id: "x"}, "text", child)`. Null, false and undefined children are left out. */
export function el(selector, properties = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  element.append(...present(children));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") element.addEventListener(name, value);
  else if (name.startsWith("--")) element.style.setProperty(name, value);
  else if (name === "value") element.value = value;
  else element.setAttribute(name, value === true ? "" : value);
}

/** Replaces all that an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** A decorative icon. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

let ids = 0;

/** An id that no other element has. */
export function freshId(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** Has a screen reader say something. */
export function speak(text) {
  document.getElementById("spoken").textContent = text;
}
