/**
 * Moves made from the rules' tables, which the server sends as data: what becomes of a line, what it earns, and which
 * tiles are new. A board or a game that the tables do not cover gives null, and the server is asked.
 */

import { ACTIONS } from "./games.js";

const MASK = (1n << 64n) - 1n;
const HALF = (1n << 32n) - 1n;
const MARKED = /[^0-9a-f]/; // boards with notes, or with tiles that have no hexadecimal digit

export class Rules {
  /** `game` says the size, `data` is the answer of `/rules`. */
  constructor(game, data) {
    this.rows = game.rows;
    this.columns = game.columns;
    this.lines = data.lines && { row: readTable(data.lines.row), column: readTable(data.lines.column) };
    this.spawn = data.spawn;
  }

  /** The codes after a slide and its reward: {codes, reward, moved}; null where the tables do not say. */
  slide(codes, action) {
    if (!this.lines) return null;
    const across = action === "left" || action === "right";
    const table = across ? this.lines.row : this.lines.column;
    const after = [...codes];
    let reward = 0;
    let moved = false;
    for (const cells of this.#cells(action)) {
      const line = cells.reduce((number, cell, i) => number | (codes[cell] << (12 - 4 * i)), 0);
      const earned = table.rewards[table.rewardOf[line]];
      if (earned < 0) return null;
      reward += earned;
      moved ||= table.after[line] !== line;
      cells.forEach((cell, i) => (after[cell] = (table.after[line] >> (12 - 4 * i)) & 15));
    }
    return { codes: after, reward, moved };
  }

  /** The codes of a board after a slide alone, for a board with notes too; null where the tables do not say. */
  slideCode(code, action) {
    const digits = code.split(" ")[0];
    if (digits.length !== this.rows * this.columns || MARKED.test(digits)) return null;
    const slid = this.slide(codesOf(digits), action);
    return slid?.moved ? textOf(slid.codes) : null;
  }

  /** The entry that follows a move; null where the tables do not say. */
  step(entry, action) {
    const [, code, score, stream] = entry;
    if (!this.spawn || MARKED.test(code) || code.length !== this.rows * this.columns) return null;
    const slid = this.slide(codesOf(code), action);
    if (!slid?.moved) return null;
    const [word, next] = nextWord(stream);
    const codes = [...slid.codes];
    codes[this.#place(codes, word)] = this.#newTile(word);
    const legal = this.legal(codes);
    return legal === null ? null : [action, textOf(codes), score + slid.reward, next, legal];
  }

  /** The first letters of the legal moves; null where the tables do not say. */
  legal(codes) {
    let found = "";
    for (const action of ACTIONS) {
      const slid = this.slide(codes, action);
      if (!slid) return null;
      if (slid.moved) found += action[0];
    }
    return found;
  }

  /** The same for a board as text, with notes or without. */
  legalCode(code) {
    const digits = code.split(" ")[0];
    return digits.length === this.rows * this.columns && !MARKED.test(digits) ? this.legal(codesOf(digits)) : null;
  }

  /** The high half of a random word chooses among the empty cells, counted from the last. */
  #place(codes, word) {
    const empty = codes.flatMap((code, i) => (code ? [] : [i])).reverse();
    return empty[Number(((word >> 32n) * BigInt(empty.length)) >> 32n)];
  }

  /** The low half chooses the tile. */
  #newTile(word) {
    const low = Number(word & HALF);
    return this.spawn.codes[this.spawn.limits.findIndex((limit) => low < limit)];
  }

  /** The cells of each line, from the wall that tiles move towards. */
  #cells(action) {
    const across = action === "left" || action === "right";
    const [lanes, length] = across ? [this.rows, this.columns] : [this.columns, this.rows];
    return Array.from({ length: lanes }, (_, lane) => {
      const cells = Array.from({ length }, (_, i) => (across ? lane * this.columns + i : i * this.columns + lane));
      return action === "right" || action === "down" ? cells.reverse() : cells;
    });
  }
}

const codesOf = (text) => [...text].map((digit) => parseInt(digit, 16));
const textOf = (codes) => codes.map((code) => code.toString(16)).join("");

function readTable({ after, reward_of, rewards }) {
  return { after: readWords(after), rewardOf: readWords(reward_of), rewards };
}

/** Base64 of little-endian uint16. */
function readWords(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Uint16Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true));
}

/** The next word of a stream (xoroshiro128++), and the stream after it, both as the server writes them. */
export function nextWord(stream) {
  const rotate = (word, places) => ((word << places) | (word >> (64n - places))) & MASK;
  const first = BigInt(`0x${stream.slice(0, 16)}`);
  let second = BigInt(`0x${stream.slice(16)}`);
  const word = (rotate((first + second) & MASK, 17n) + first) & MASK;
  second ^= first;
  const next = [(rotate(first, 49n) ^ second ^ (second << 21n)) & MASK, rotate(second, 28n)];
  return [word, next.map((half) => half.toString(16).padStart(16, "0")).join("")];
}
