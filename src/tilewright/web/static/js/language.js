/**
 * The language of the page. Every text has a key; `lang/en.json` and its neighbours have the texts, one file a language,
 * and `lang/index.json` lists the files. A text may have forms for numbers ({"one": …, "other": …}); {name} in it is
 * replaced by a value, {n} by a number as the language writes it.
 */

const ENGLISH = "en";

let words = {};
let current = ENGLISH;
let plural = new Intl.PluralRules(ENGLISH);
let whole = new Intl.NumberFormat(ENGLISH, { maximumFractionDigits: 0, signDisplay: "negative" });

/** The code of the language that is set. */
export const language = () => current;

export function setLanguage(code, texts) {
  words = texts;
  current = code;
  plural = new Intl.PluralRules(code);
  whole = new Intl.NumberFormat(code, { maximumFractionDigits: 0, signDisplay: "negative" });
}

/** The text of a key; the key itself where the language has none. */
export function t(key, values = {}) {
  const found = words[key] ?? key;
  const text = typeof found === "string" ? found : found[plural.select(values.n)] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => (name === "n" ? whole.format(values.n) : String(values[name])));
}

/** The first of the wanted languages that there is; a region does not matter. English if there is none. */
export function chooseLanguage(wanted, known) {
  const codes = wanted.map((one) => one.toLowerCase().split("-")[0]);
  return codes.find((code) => known.includes(code)) ?? ENGLISH;
}

/** Load the language that was kept, or that of the browser. Returns the names of all languages by their codes. */
export async function loadLanguage(kept) {
  const read = async (name) => (await fetch(`lang/${name}.json`)).json();
  const names = await read("index");
  const code = chooseLanguage([kept, ...navigator.languages].filter(Boolean), Object.keys(names));
  setLanguage(code, await read(code));
  return names;
}

/** Put the texts into all elements that name one: `data-t` is the content, `data-t-title` an attribute. */
export function translate(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.replaceChildren(...withKeys(t(element.dataset.t)));
  for (const name of ["aria-label", "title", "placeholder"]) {
    for (const element of root.querySelectorAll(`[data-t-${name}]`)) {
      element.setAttribute(name, t(element.getAttribute(`data-t-${name}`)));
    }
  }
}

/** A text whose [keys] are drawn as keys. */
function withKeys(text) {
  return text.split(/\[([^\]]+)\]/).map((part, i) => {
    if (i % 2 === 0) return part;
    const key = document.createElement("kbd");
    key.textContent = part;
    return key;
  });
}
