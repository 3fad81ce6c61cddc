/** What the views share: the game in Play, kept in this browser, and what is on its way from one view to another. */

import { memory } from "./dom.js";
import { keepGame } from "./library.js";
import { Store } from "./store.js";

const SOON = 300; // milliseconds until a change is kept

export const store = new Store();
export const handover = { review: null, pasted: null }; // games that are to be reviewed: of Play, or pasted there

let timer = 0;

store.changed = () => {
  clearTimeout(timer);
  timer = setTimeout(keepNow, SOON);
  if (store.isOver) keepGame(store.snapshot());
};
store.left = keepGame;

export function keepNow() {
  clearTimeout(timer);
  if (store.isReady) memory.set("game", store.snapshot());
}

/** Take up the game that this browser remembers; false if there is none, or nothing that can be read. */
export const restore = () => store.isReady || store.restore(memory.get("game", null));
