// How counts and means of the selection are written: one place.

export const MINUS = "\u2212";
export const DASH = "\u2013";

/** A number with a fixed count of decimals and a real minus sign; an en dash where undefined. */
export function fixed(value, decimals) {
  if (value === null || value === undefined || Number.isNaN(value)) return DASH;
  return value.toFixed(decimals).replace("-", MINUS);
}

/** A score or label as it is in the data, shortened to six digits. */
export const plainNumber = (v) => String(Number(v.toPrecision(6))).replace("-", MINUS);

export const count = (n) => n.toLocaleString("en-US");

export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** Characters of the longest of some words. */
export const longest = (words) => words.reduce((n, w) => Math.max(n, w.length), 0);

/** Eight hexadecimal digits of a text (FNV-1a), for the names of files. */
export function digest(text) {
  let h = 0x811c9dc5;
  for (const c of text) h = Math.imul(h ^ c.codePointAt(0), 0x01000193) >>> 0;
  return h.toString(16).padStart(8, "0");
}

/** Round numbers of an axis, about so many steps. */
export function ticks(from, to, steps = 5) {
  const rough = (to - from) / steps || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((m) => m * power >= rough) * power;
  const out = [];
  for (let v = Math.ceil(from / step) * step; v <= to + step / 1e6; v += step) out.push(Number(v.toPrecision(8)));
  return out;
}
