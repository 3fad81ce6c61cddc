/** Which view is shown, and which theme. */

import { $, memory, setTheme } from "./dom.js";
import { t } from "./language.js";
import * as play from "./play.js";
import * as review from "./review.js";
import * as learn from "./learn.js";
import * as compare from "./compare.js";
import * as runs from "./runs.js";
import { readHash } from "./share.js";
import { isSoundOn, setSound } from "./sound.js";

const VIEWS = { play, review, learn, compare, runs };
let shown = null;

async function show() {
  const { name: wanted, link } = readHash(location.hash);
  const name = wanted in VIEWS ? wanted : "play";
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  if (name === shown && !Object.keys(link).length) return;
  if (name !== shown) VIEWS[shown]?.leave?.();
  shown = name;
  for (const view of Object.keys(VIEWS)) $(`view-${view}`).hidden = view !== name;
  for (const other of document.querySelectorAll("nav a")) {
    if (other.hash === `#${name}`) other.setAttribute("aria-current", "page");
    else other.removeAttribute("aria-current");
  }
  document.title = `${t(`nav.${name}`)} – tilewright`;
  await VIEWS[name].enter(link);
}

$("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = (document.documentElement.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
  memory.set("theme", theme);
  setTheme(theme);
});

// The link to the content must not change the address, which says the view.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  (shown === "play" ? $("board") : $("main")).focus();
});

if ("serviceWorker" in navigator && isSecureContext) navigator.serviceWorker.register("worker.js").catch(() => {});

$("sound").checked = isSoundOn();
$("sound").addEventListener("change", () => setSound($("sound").checked));

addEventListener("hashchange", show);
show();
