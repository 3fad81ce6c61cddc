/** Small helpers for elements, and what the browser remembers. */

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

/** A line of text that says how things stand. */
export function sayIn(id) {
  return (words, wrong = false) => {
    $(id).textContent = words;
    $(id).classList.toggle("wrong", wrong);
  };
}

/** Light or dark by choice; an empty text leaves it to the system. */
export function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

/** Hand a text to the visitor as a file. */
export function download(name, text, type = "text/plain") {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

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
