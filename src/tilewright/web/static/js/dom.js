/** Small helpers for elements and numbers. */

export const $ = (id) => document.getElementById(id);

/** An element with attributes and children; no HTML is ever parsed. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const count = (value) => whole.format(value);
export const oneDigit = (value) => fine.format(value);

/** The value of a move: a probability in per cent, anything else as points. */
export const valueText = (value, unit) => (unit?.startsWith("probability") ? `${(100 * value).toFixed(3)} %` : oneDigit(value));
export const compact = (value) => short.format(value);
export const percent = (value) => `${fine.format(100 * value)} %`;

/** Moves a second by the place of a slider; 0 is as fast as it goes. */
export const SPEEDS = [1, 2, 3, 5, 8, 12, 20, 50, 200, 0];
export const speedName = (speed) => (speed ? `${speed} moves/s` : "as fast as it goes");

/** What is remembered in this browser; a full or forbidden storage is no error. */
export const memory = {
  get(key, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(`tilewright.${key}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`tilewright.${key}`, JSON.stringify(value));
    } catch {
      /* a very long game does not fit; it goes on without */
    }
  },
};
