/** The game being played: every position of it, kept in this browser, and written as a recorded game. */

import { memory } from "./dom.js";

const SOON = 300; // milliseconds until a change is kept

/** An entry is [move that led here, board, score, stream, legal moves by first letter]. */
export class Record {
  constructor() {
    this.timer = 0;
    this.begin("2048", 0, null, null);
  }

  /** The game that this browser remembers, if it does. */
  restore() {
    const kept = memory.get("game", null);
    if (!kept?.entries?.length) return false;
    Object.assign(this, { spec: kept.spec, seed: kept.seed, entries: kept.entries, at: kept.at, players: kept.players });
    return true;
  }

  begin(spec, seed, first) {
    this.spec = spec;
    this.seed = seed;
    this.entries = first ? [first] : [];
    this.at = 0;
    this.players = [];
    this.keep();
  }

  get now() {
    return this.entries[this.at];
  }

  get isOver() {
    return this.now[4] === "";
  }

  /** Add positions behind the one that is shown; what was taken back is forgotten. */
  add(entries, player) {
    this.entries.length = this.at + 1;
    this.entries.push(...entries);
    this.at = this.entries.length - 1;
    if (!this.players.includes(player)) this.players.push(player);
    this.keep();
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.entries.length - 1, at));
    this.keep();
  }

  keep() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keepNow(), SOON);
  }

  keepNow() {
    clearTimeout(this.timer);
    const { spec, seed, entries, at, players } = this;
    if (entries.length) memory.set("game", { spec, seed, entries, at, players });
  }

  /** The game up to the position that is shown, as a line that `tilewright review` reads. */
  line() {
    const played = this.entries.slice(0, this.at + 1);
    return JSON.stringify({
      format: "tilewright-game-1",
      game: this.spec,
      seed: this.seed ?? 0,
      number: 0,
      start: played[0][1],
      moves: played.slice(1).map(([move, board, score]) => [move, board, score]),
      agent: this.players.join(" + ") || "human",
      score: this.now[2],
      over: this.isOver,
    });
  }
}

/** An entry out of a position that the server sent. */
export function entryOf(position) {
  const legal = position.legal.map((action) => action[0]).join("");
  return [position.move ?? null, position.code, position.score, position.stream, legal];
}
