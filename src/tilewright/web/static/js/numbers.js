/** Numbers and specs as text. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0, signDisplay: "negative" });
const fine = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "negative" });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3, signDisplay: "negative" });

export const count = (value) => whole.format(value);
export const oneDigit = (value) => fine.format(value);
export const compact = (value) => short.format(value);
export const percent = (value) => `${fine.format(100 * value)} %`;
const odds = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 3, maximumFractionDigits: 3 });
/** The value of a move, or a loss of it: a probability in per cent, anything else as points. */
export const valueText = (value, unit) => (unit === "probability" ? odds.format(value) : oneDigit(value));
export const moves = (number) => (number === 1 ? "1 move" : `${count(number)} moves`);

/** A number with its sign: +12 or −12. */
export const signed = (value) => `${value < 0 ? "−" : "+"}${count(Math.abs(value))}`;

/** The spec of an agent as a visitor would write it: `heuristic:ms=50`, not `ms=50.0`. */
export const shortSpec = (spec) => spec.replace(/(=\d+)\.0(?=,|$)/g, "$1");

/** Moves a second by the place of a slider; 0 is as fast as it goes. */
export const SPEEDS = [1, 2, 3, 5, 8, 12, 20, 50, 200, 0];
export const speedName = (speed) => (speed ? `${speed} moves/s` : "as fast as it goes");
