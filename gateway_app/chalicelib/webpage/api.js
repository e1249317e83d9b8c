// Calls of the gateway. Its base is wherever this document came from: "/", a stage, or an emulator's long path.

const KEY = "fedcompute.key";
const TYPE = "application/json";

export const BASE = location.pathname.replace(/\/+$/, "");

/** What went wrong, as the gateway told it (RFC 9457) or as near to that as can be had. */
class Problem extends Error {
  constructor({ status = 0, code = "", title = "", detail = "", errors = [], request_id: requestId = "" }) {
    super(detail || title);
    Object.assign(this, { status, code, title, detail, errors, requestId });
  }
}

/** One call. Returns {body, etag, status}; throws a Problem, or an AbortError where `signal` was. `keepalive` outlives the page. */
export async function call(method, path, { body, etag, signal, keepalive } = {}) {
  const headers = { Accept: TYPE };
  if (body !== undefined) headers["Content-Type"] = TYPE;
  if (etag) headers["If-Match"] = etag;
  if (heldKey()) headers.Authorization = `Bearer ${heldKey()}`;
  const request = { method, headers, signal, keepalive, body: body === undefined ? undefined : JSON.stringify(body) };
  const response = await fetch(BASE + path, request).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "The gateway did not answer", detail: "No connection could be made, or it broke off." });
  });
  const told = parsed(await response.text());
  // A search that required every provider and lacks one is told with 503, and is an answer all the same.
  if (!response.ok && told?.feasibility === undefined) throw problemOf(response, told);
  return { body: told, etag: response.headers.get("ETag"), status: response.status };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function problemOf(response, told) {
  if (told?.code) return new Problem(told);
  const detail = told?.message ?? told?.Message ?? "What stands before the gateway answered in its place.";
  return new Problem({ status: response.status, title: response.statusText || "The gateway did not answer", detail });
}

/** The key of this tab, or "". */
export function heldKey() {
  return sessionStorage.getItem(KEY) ?? "";
}

/** Keeps a key for as long as this tab lives; "" forgets it. */
export function holdKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
  dispatchEvent(new Event("keychange"));
}

/** All records of the registry, page after page. */
export async function allRecords(signal) {
  const records = [];
  let token = null;
  do {
    const query = token ? `&next_token=${encodeURIComponent(token)}` : "";
    const { body } = await call("GET", `/api/v1/providers?limit=100${query}`, { signal });
    records.push(...body.providers);
    token = body.next_token;
  } while (token);
  return records;
}

export function search(body, signal) {
  return call("POST", "/api/v1/resources/search", { body, signal });
}

export function recordPath(id) {
  return `/api/v1/providers/${encodeURIComponent(id)}`;
}
