/** The values of the four moves as bars, the best one marked. With `play`, each bar is a button that plays its move. */

import { barParts } from "./analysis.js";
import { ACTIONS } from "./games.js";
import { make, svg } from "./dom.js";
import { t } from "./language.js";
import { valueText } from "./numbers.js";

const TURN = { up: 0, right: 90, down: 180, left: 270 };

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
      const parts = [arrow, make("span", { class: "name" }, t(`move.${action}`)), make("span", { class: "track" }, fill), value];
      const kind = play ? { type: "button", disabled: true } : { role: "img" };
      const row = make(play ? "button" : "div", { ...kind, class: "bar", "data-move": action }, ...parts);
      if (play) row.addEventListener("click", () => play(action));
      this.rows.set(action, { row, fill, value });
      element.append(row);
    }
    this.isPlayable = Boolean(play);
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
      this.#set(action, null, 0, legal.includes(action[0]) ? t("bars.hidden") : t("bars.illegal"), []);
      this.rows.get(action).row.disabled = !legal.includes(action[0]);
    }
  }

  /** Show an answer of the server; `played` is the move that was made, if there is one to mark. */
  show(advice, score, played = "") {
    this.#mark(false);
    const top = Math.max(...Object.values(advice.values));
    const parts = barParts(advice.values, advice.unit, score);
    this.element.title = t(`unit.${advice.unit}`);
    for (const action of ACTIONS) {
      const value = advice.values[action];
      if (value === undefined) {
        this.#set(action, null, 0, t("bars.illegal"), []);
        continue;
      }
      const best = value === top;
      const kinds = [best && "best", action === played && "played"].filter(Boolean);
      const loss = best ? t("bars.best") : `−${valueText(top - value, advice.unit)}`;
      this.#set(action, valueText(value, advice.unit), parts[action], action === played ? t("bars.played", { loss }) : loss, kinds);
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
    const said = text === null ? words || t("bars.none") : t("bars.value", { value: text, words });
    const move = t(`move.${action}`);
    row.setAttribute("aria-label", `${this.isPlayable ? t("bars.play", { move }) : move}: ${said}`);
  }
}
