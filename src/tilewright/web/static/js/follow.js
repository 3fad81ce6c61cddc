/**
 * Follow mode: a game that is played elsewhere. A move slides the tiles; then the visitor says where the new tile came,
 * and which one it is: two clicks, or two keys. What can come is what the server lists; the page knows no rules.
 */

import { get } from "./api.js";
import { $, make } from "./dom.js";
import { decode } from "./games.js";
import { t } from "./language.js";
import { newStream } from "./recordings.js";
import { HUMAN } from "./store.js";

/** What may follow a move, by cell: [{row, column, choices: [{label, entry}]}]. */
export function spotsOf(answer, move, game, stream) {
  const spots = new Map();
  for (const [code, score, legal] of answer.outcomes) {
    const { tiles, notes } = decode(code, game);
    const place = tiles.flat().findIndex((value, i) => value !== answer.after.flat()[i]);
    const [row, column] = [Math.floor(place / game.columns), place % game.columns];
    const spot = spots.get(place) ?? { row, column, choices: [] };
    const tile = tiles[row][column];
    spot.choices.push({ tile, hint: notes.hint ?? "", entry: [move, code, score, stream, legal] });
    spots.set(place, spot);
  }
  return [...spots.keys()].sort((a, b) => a - b).map((place) => spots.get(place));
}

/** What a choice is called: its tile, the next one that is announced, or both. */
export function labelOf({ tile, hint }, choices) {
  const isOne = choices.every((other) => other.tile === tile);
  if (!hint) return String(tile);
  return isOne ? t("follow.next", { hint }) : t("follow.tile_next", { tile, hint });
}

export class Follower {
  /** `followed(entry, after)` is called when the new tile is known. */
  constructor({ store, view, board, say, followed }) {
    Object.assign(this, { store, view, board, say, followed });
    this.isOn = false;
    this.spots = [];
    this.after = null;
    this.at = -1; // the spot that is chosen
  }

  get isAsking() {
    return this.spots.length > 0;
  }

  toggle() {
    this.isOn = !this.isOn;
    $("follow").setAttribute("aria-pressed", String(this.isOn));
    this.stop();
    this.view.refresh();
    this.say(this.isOn ? t("follow.on") : "");
  }

  /** Forget a move whose new tile is not known yet. */
  stop() {
    this.spots = [];
    this.at = -1;
    $("follow-choices").hidden = true;
    this.board.spots([]);
  }

  /** A move of the game that is followed. */
  async move(action) {
    const { store, view } = this;
    const [, board, score] = store.now;
    const token = store.token;
    try {
      const answer = await get("outcomes", { game: store.spec, board, score, move: action });
      if (!store.isCurrent(token) || !this.isOn) return;
      this.after = { move: action, after: answer.after };
      this.board.slide(action, answer.after, answer.after);
      this.spots = spotsOf(answer, action, view.game, newStream());
      this.#ask();
    } catch (error) {
      this.board.nudge(action);
      this.say(error.message, true);
    }
  }

  #ask() {
    this.say(t("follow.where"));
    this.board.spots(this.spots, (i) => this.choose(i));
    if (this.spots.length === 1) this.choose(0);
  }

  /** The cell of the new tile; where only one tile can come, that is all. */
  choose(i) {
    this.at = i;
    this.board.markSpot(i);
    const { choices } = this.spots[i];
    if (choices.length === 1) return this.#take(choices[0]);
    this.say(t("follow.which"));
    const buttons = choices.map((choice, number) => {
      const button = make("button", { type: "button" }, labelOf(choice, choices));
      button.addEventListener("click", () => this.pick(number));
      return button;
    });
    $("follow-choices").replaceChildren(...buttons);
    $("follow-choices").hidden = false;
    return undefined;
  }

  /** The new tile, by its number in the list. */
  pick(number) {
    const choice = this.spots[this.at]?.choices[number];
    if (choice) this.#take(choice);
  }

  #take({ entry }) {
    const { after } = this.after;
    this.stop();
    this.store.seed = null; // its tiles come from elsewhere
    this.store.add([entry], HUMAN);
    this.board.show(after);
    this.view.refresh("appear");
    this.say("");
    this.followed();
  }

  /** A key while the new tile is asked for: arrows choose the cell, digits the tile. Returns whether it was one of them. */
  onKey(key) {
    if (!this.isAsking) return false;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (steps[key]) this.#walk(steps[key]);
    else if (/^[1-9]$/.test(key)) this.#type(key);
    else if (key === "Enter" && this.at >= 0) this.pick(0);
    else if (key === "Escape") {
      this.stop();
      this.view.refresh();
      this.say("");
    } else return false;
    return true;
  }

  /** To the nearest cell in a direction; at first to the first one. */
  #walk([down, right]) {
    const from = this.spots[this.at];
    if (!from) return this.choose(0);
    const distance = (spot) => {
      const [rows, columns] = [spot.row - from.row, spot.column - from.column];
      const [along, across] = down ? [rows * down, columns] : [columns * right, rows];
      return along > 0 ? along + 4 * Math.abs(across) : Infinity;
    };
    const best = this.spots.reduce((a, b, i) => (distance(b) < distance(this.spots[a]) ? i : a), this.at);
    if (Number.isFinite(distance(this.spots[best]))) this.choose(best);
    return undefined;
  }

  /** A digit is the tile itself where one is called so, or else its number in the list. */
  #type(key) {
    const choices = this.spots[this.at]?.choices ?? [];
    const named = choices.findIndex((choice) => labelOf(choice, choices) === key);
    this.pick(named >= 0 ? named : Number(key) - 1);
  }
}
