/** The page: which view is shown, and which theme. */

import { $, memory } from "./dom.js";
import * as play from "./play.js";
import * as review from "./review.js";
import * as compare from "./compare.js";
import * as runs from "./runs.js";

const VIEWS = { play, review, compare, runs };
let shown = null;

async function show() {
  const name = location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "play";
  if (name === shown) return;
  VIEWS[shown]?.leave?.();
  shown = name;
  for (const view of Object.keys(VIEWS)) $(`view-${view}`).hidden = view !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  await VIEWS[name].enter();
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

$("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = (document.documentElement.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
  memory.set("theme", theme);
  setTheme(theme);
});

setTheme(memory.get("theme", ""));
addEventListener("hashchange", show);
show();
