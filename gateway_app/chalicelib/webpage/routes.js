// Addresses: "#/search?gpu=1&gpu-memory=30GiB" is a view and its parameters. The server sees none of it.

/** {view, parameters} of the address. */
export function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { view: path || "search", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a view with parameters; empty ones are left out. */
export function hashOf(view, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value)).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}
