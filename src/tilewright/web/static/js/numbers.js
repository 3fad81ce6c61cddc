/** Numbers and specs as text, as the language of the page writes them. */

import { language, t } from "./language.js";

const made = new Map();

/** The format of a kind of numbers, made once for a language. */
function format(kind, options) {
  const key = `${language()} ${kind}`;
  if (!made.has(key)) made.set(key, new Intl.NumberFormat(language(), { signDisplay: "negative", ...options }));
  return made.get(key);
}

const fine = () => format("fine", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = (value) => format("whole", { maximumFractionDigits: 0 }).format(value);
export const oneDigit = (value) => fine().format(value);
export const compact = (value) => format("compact", { notation: "compact", maximumSignificantDigits: 3 }).format(value);
export const percent = (value) => `${fine().format(100 * value)} %`;
const odds = (value) => format("odds", { style: "percent", minimumFractionDigits: 3, maximumFractionDigits: 3 }).format(value);
/** The value of a move, or a loss of it: a probability in per cent, anything else as points. */
export const valueText = (value, unit) => (unit === "probability" ? odds(value) : oneDigit(value));
export const moves = (number) => t("moves", { n: number });

/** A number with its sign: +12 or −12. */
export const signed = (value) => `${value < 0 ? "−" : "+"}${count(Math.abs(value))}`;

/** The spec of an agent as a visitor would write it: `heuristic:ms=50`, not `ms=50.0`. */
export const shortSpec = (spec) => spec.replace(/(=\d+)\.0(?=,|$)/g, "$1");

/** Moves a second by the place of a slider; 0 is as fast as it goes. */
export const SPEEDS = [1, 2, 3, 5, 8, 12, 20, 50, 200, 0];
export const speedName = (speed) => (speed ? t("speed.rate", { n: speed }) : t("speed.fastest"));
