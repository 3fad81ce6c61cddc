/** The values of the four moves as bars, the best one marked. With `play`, each bar is a button that plays its move. */

import { barParts } from "./analysis.js";
import { ACTIONS } from "./games.js";
import { make, svg } from "./dom.js";
import { valueText } from "./numbers.js";

const TURN = { up: 0, right: 90, down: 180, left: 270 };
export const UNITS = {
  points: "points that are expected from here to the end of the game, with this move",
  reward: "points of this move alone",
  probability: "exact probabilities of reaching the goal, with this move",
  none: "values that only compare moves; they are no points",
};
const SCALES = {
  points: "A full bar loses nothing; a bar of a third loses 2 % of the expected final score.",
  reward: "Bars go from the worst to the best move.",
  probability: "A full bar is certain.",
  none: "Bars go from the worst to the best move.",
};

export class Bars {
  constructor(element, play = null) {
    this.element = element;
    this.rows = new Map();
    for (const action of ACTIONS) {
      const arrow = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
      const looks = { d: "M12 20V5M5 12l7-7 7 7", fill: "none", stroke: "currentColor", "stroke-width": 2.5 };
      arrow.append(svg("path", { ...looks, transform: `rotate(${TURN[action]} 12 12)`, "stroke-linecap": "round" }));
      const fill = make("span", { class: "fill" });
      const value = make("span", { class: "value" });
      const parts = [arrow, make("span", { class: "name" }, action), make("span", { class: "track" }, fill), value];
      const kind = play ? { type: "button", disabled: true } : { role: "img" };
      const row = make(play ? "button" : "div", { ...kind, class: "bar", "data-move": action }, ...parts);
      if (play) row.addEventListener("click", () => play(action));
      this.rows.set(action, { row, fill, value });
      element.append(row);
    }
    this.verb = play ? "Play " : "";
    this.clear();
  }

  clear() {
    this.#mark(false);
    for (const action of ACTIONS) this.#set(action, null, 0, "", []);
  }

  /** The values belong to another position, and new ones are on their way: nothing of them can be clicked. */
  wait() {
    this.#mark(true);
    for (const { row } of this.rows.values()) row.disabled = true;
  }

  /** Legal moves can be played, but their values are not shown. */
  hide(legal) {
    this.#mark(false);
    for (const action of ACTIONS) {
      this.#set(action, null, 0, legal.includes(action[0]) ? "hidden" : "not legal", []);
      this.rows.get(action).row.disabled = !legal.includes(action[0]);
    }
  }

  /** Show an answer of the server; `played` is the move that was made, if there is one to mark. */
  show(advice, score, played = "") {
    this.#mark(false);
    const top = Math.max(...Object.values(advice.values));
    const parts = barParts(advice.values, advice.unit, score);
    this.element.title = `Values are ${UNITS[advice.unit]}. ${SCALES[advice.unit]}`;
    for (const action of ACTIONS) {
      const value = advice.values[action];
      if (value === undefined) {
        this.#set(action, null, 0, "not legal", []);
        continue;
      }
      const best = value === top;
      const kinds = [best && "best", action === played && "played"].filter(Boolean);
      const loss = best ? "best" : `−${valueText(top - value, advice.unit)}`;
      this.#set(action, valueText(value, advice.unit), parts[action], action === played ? `played, ${loss}` : loss, kinds);
    }
  }

  #mark(isBusy) {
    this.element.classList.toggle("stale", isBusy);
    this.element.setAttribute("aria-busy", String(isBusy));
  }

  #set(action, text, part, words, kinds) {
    const { row, fill, value } = this.rows.get(action);
    row.className = ["bar", ...kinds].join(" ");
    row.disabled = text === null;
    fill.style.setProperty("--part", part);
    value.replaceChildren(text ?? "–", make("small", {}, words));
    const said = text === null ? words || "no value yet" : `value ${text}, ${words}`;
    row.setAttribute("aria-label", `${this.verb}${action}: ${said}`);
  }
}
