// Amounts: what people type, what the API takes, and what people read.

export const GIB = 2 ** 30;
const MIB = 2 ** 20;
const SIZES = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12, ki: 2 ** 10, mi: MIB, gi: GIB, ti: 2 ** 40 };
const NUMBER = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z%]*)$/i;

/** Bytes of "30GiB", "30000 MiB", "64 GB"; a bare number is GiB. Throws an Error whose message is for people. */
export function bytesOf(text) {
  const [, number, unit] = NUMBER.exec(text.trim()) ?? [];
  const size = unit === "" ? GIB : SIZES[unit?.toLowerCase().replace(/b$/, "")];
  if (number === undefined || size === undefined) throw new Error("Write a size such as 30, 30GiB or 512MiB.");
  return positive(Math.ceil(Number(number) * size));
}

/** MiB of a size. */
export function mibOf(text) {
  return Math.ceil(bytesOf(text) / MIB);
}

/** Millicores of "4", "0.5" or "500m". */
export function millicoresOf(text) {
  const [, number, unit] = NUMBER.exec(text.trim()) ?? [];
  if (number === undefined || !["", "m"].includes(unit)) throw new Error("Write cores such as 4, 0.5 or 500m.");
  return positive(Math.ceil(Number(number) * (unit === "m" ? 1 : 1000)));
}

/** The whole number of "50" or "50%". */
export function percentOf(text) {
  return wholeOf(text.trim().replace(/\s*%$/, ""));
}

/** A whole number of at least 1. */
export function wholeOf(text) {
  if (!/^\d+$/.test(text.trim())) throw new Error("Write a whole number.");
  return positive(Number(text));
}

function positive(number) {
  if (number < 1) throw new Error("Ask for more than 0, or leave it empty.");
  return number;
}

/** At most `places` decimals, and none that say nothing. */
export function plain(number, places = 1) {
  return String(Number(number.toFixed(places)));
}

/** "29.3 GiB", "512 MiB", "1.5 TiB". */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "unknown";
  if (bytes >= 1024 * GIB) return `${plain(bytes / GIB / 1024)} TiB`;
  if (bytes >= GIB || bytes === 0) return `${plain(bytes / GIB)} GiB`;
  return bytes >= MIB ? `${plain(bytes / MIB, 0)} MiB` : `${bytes} B`;
}

export function sizeOfMib(mib) {
  return mib === null || mib === undefined ? "unknown" : size(mib * MIB);
}

export function cores(millicores) {
  return millicores === null || millicores === undefined ? "unknown" : plain(millicores / 1000, millicores < 1e5 ? 2 : 0);
}

export function percent(number) {
  return number === null || number === undefined ? "unknown" : `${number} %`;
}

export function count(number) {
  return number === null || number === undefined ? "unknown" : number.toLocaleString("en");
}

/** "1 node", "2 nodes". */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** "57 ms", "1.5 s", "3 min", "2 h", "4 d". */
export function duration(ms) {
  if (ms === null || ms === undefined) return "unknown";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 90e3) return `${plain(ms / 1000)} s`;
  if (ms < 90 * 60e3) return `${plain(ms / 60e3, 0)} min`;
  return ms < 48 * 3600e3 ? `${plain(ms / 3600e3, 0)} h` : `${plain(ms / 86400e3, 0)} d`;
}

/** A time of the API as this person's clock has it. */
export function moment(text) {
  return text ? new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) : "unknown";
}
