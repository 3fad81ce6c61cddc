/** A list of all moves of a game with their classes. Only the rows in view are in the page: games have thousands. */

import { make } from "./dom.js";
import { t } from "./language.js";
import { count, oneDigit, signed } from "./numbers.js";

const HEIGHT = 30; // pixels of a row

export class MoveList {
  /** `pick(i)` is called when the visitor chooses move number `i`, counted from 0. */
  constructor(element, pick) {
    this.element = element;
    this.pick = pick;
    this.moves = [];
    this.at = 0;
    this.rows = make("ol", { class: "rows" });
    element.append(this.rows);
    element.addEventListener("scroll", () => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(element);
  }

  show(moves) {
    this.moves = moves;
    this.hasPlayers = new Set(moves.map((move) => move.player)).size > 1;
    this.rows.style.height = `${HEIGHT * moves.length}px`;
    this.#draw();
  }

  /** Mark a move, and bring it into view. */
  mark(at) {
    this.at = at;
    const { scrollTop, clientHeight } = this.element;
    const top = HEIGHT * at;
    if (top < scrollTop || top + HEIGHT > scrollTop + clientHeight) this.element.scrollTop = top - clientHeight / 2 + HEIGHT / 2;
    this.#draw();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / HEIGHT) - 2);
    const last = Math.min(this.moves.length, first + Math.ceil(this.element.clientHeight / HEIGHT) + 5);
    this.rows.replaceChildren(...this.moves.slice(first, last).map((move, i) => this.#row(move, first + i)));
  }

  #row(move, i) {
    const { number, played, best, loss, kind, luck, player } = move;
    const words = [make("span", { class: "number" }, count(number)), make("b", {}, t(`move.${played}`))];
    words.push(make("span", { class: "sign" }, kind ? kind.sign : loss ? "−" : "✓"));
    words.push(make("span", { class: "lost" }, loss ? `−${kind ? count(loss) : oneDigit(loss)}, ${t(`move.${best}`)}` : ""));
    words.push(make("span", { class: "luck", title: t("movelist.luck") }, luck === null ? "" : signed(luck)));
    if (this.hasPlayers) words.push(make("span", { class: "player", title: player }, player));
    const name = kind?.name ?? (loss ? "loss" : "best");
    const about = { type: "button", class: "row-move", "data-class": name, "data-number": number };
    const row = make("button", { ...about, "aria-current": i === this.at ? "true" : undefined, tabindex: "-1" }, ...words);
    row.addEventListener("click", () => this.pick(i));
    return make("li", { "--top": `${HEIGHT * i}px`, "aria-setsize": this.moves.length, "aria-posinset": number }, row);
  }
}
