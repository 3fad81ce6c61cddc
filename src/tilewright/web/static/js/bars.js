/** The values of the four moves as bars, the best one marked; each bar is a button that plays its move. */

import { ACTIONS } from "./games.js";
import { make, svg, valueText } from "./dom.js";

const TURN = { up: 0, right: 90, down: 180, left: 270 };

export class Bars {
  constructor(element, play) {
    this.rows = new Map();
    for (const action of ACTIONS) {
      const arrow = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
      const looks = { d: "M12 20V5M5 12l7-7 7 7", fill: "none", stroke: "currentColor", "stroke-width": 2.5 };
      arrow.append(svg("path", { ...looks, transform: `rotate(${TURN[action]} 12 12)`, "stroke-linecap": "round" }));
      const fill = make("span", { class: "fill" });
      const value = make("span", { class: "value" });
      const parts = [arrow, make("span", {}, action), make("span", { class: "track" }, fill), value];
      const row = make("button", { type: "button", class: "bar", "data-move": action, disabled: true }, ...parts);
      row.addEventListener("click", () => play(action));
      this.rows.set(action, { row, fill, value });
      element.append(row);
    }
    this.clear();
  }

  clear() {
    for (const action of ACTIONS) this.#set(action, null, 0, "", []);
  }

  /** Show an answer of the server; `played` is the move that was made, if there is one to mark. */
  show(advice, played = "") {
    const values = Object.values(advice.values);
    const top = Math.max(...values);
    const low = Math.min(...values);
    for (const action of ACTIONS) {
      const value = advice.values[action];
      if (value === undefined) {
        this.#set(action, null, 0, "not legal", []);
        continue;
      }
      const part = top > low ? 0.12 + (0.88 * (value - low)) / (top - low) : 1;
      const best = value === top;
      const kinds = [best && "best", action === played && "played"].filter(Boolean);
      const loss = best ? "best" : `−${valueText(top - value, advice.unit)}`;
      this.#set(action, valueText(value, advice.unit), part, action === played ? `played, ${loss}` : loss, kinds);
    }
  }

  #set(action, text, part, words, kinds) {
    const { row, fill, value } = this.rows.get(action);
    row.className = ["bar", ...kinds].join(" ");
    row.disabled = text === null;
    fill.style.setProperty("--part", part);
    value.replaceChildren(text ?? "–", make("small", {}, words));
    const said = text === null ? words || "no value yet" : `value ${text}, ${words}`;
    row.setAttribute("aria-label", `Play ${action}: ${said}`);
  }
}
