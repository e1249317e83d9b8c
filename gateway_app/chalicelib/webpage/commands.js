// A request as something to paste elsewhere.

import { BASE, heldKey } from "./api.js";
import { listOf } from "./request.js";

const LISTS = ["provider", "exclude", "label", "toleration"];
const DEFAULT_GATEWAY = "http://localhost:8080";

/** A curl command. A key is named by its variable, never written out. */
export function asCurl(body) {
  const lines = [
    `curl -s ${quoted(`${location.origin}${BASE}/api/v1/resources/search`)}`,
    ...(heldKey() ? ['-H "Authorization: Bearer $FEDCOMPUTE_KEY"'] : []),
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify(body))}`,
  ];
  return lines.join(" \\\n  ");
}

/** A command of fedcompute: flags, or the request itself where a part of it has no flag. */
export function asCli(parameters, body) {
  const gateway = location.origin + BASE;
  const where = gateway === DEFAULT_GATEWAY ? [] : [`--gateway ${quoted(gateway)}`];
  if (parameters.toleration?.includes("*")) {
    return `echo ${quoted(JSON.stringify(body))} | ${["fedcompute search", ...where, "-f -"].join(" ")}`;
  }
  return ["fedcompute search", ...where, ...Object.entries(parameters).flatMap(([name, value]) => flags(name, value))].join(" ");
}

function flags(name, value) {
  if (name === "partial") return ["--require-all"];
  const values = LISTS.includes(name) ? listOf(value) : [name === "deadline" && /^[\d.]+$/.test(value) ? `${value}s` : value.replace(/\s*%$/, "")];
  return values.map((one) => `--${name} ${quoted(one)}`);
}

function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
