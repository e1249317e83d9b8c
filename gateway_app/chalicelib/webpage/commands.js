// A request as something to paste elsewhere.

import { BASE, heldKey } from "./api.js";

// Parameters that the command line has a flag for.
const FLAGS = ["gpu", "gpu-memory", "gpu-compute", "vendor", "model", "sharing", "cpu", "memory", "strategy", "limit"];

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

/** A command of the fedcompute CLI, or null where it has no flag for a part of the request. */
export function asCli(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value);
  if (given.some(([name]) => !FLAGS.includes(name))) return null;
  return ["fedcompute search", ...given.map(([name, value]) => `--${name} ${quoted(flagValue(name, value))}`)].join(" ");
}

function flagValue(name, value) {
  const isBareSize = ["gpu-memory", "memory"].includes(name) && /^[\d.]+$/.test(value.trim());
  return isBareSize ? `${value.trim()}GiB` : value.replace(/\s*(%|[KMGT]i?B?)$/i, "$1").replace("%", "");
}

function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
