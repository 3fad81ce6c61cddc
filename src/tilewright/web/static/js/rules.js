/**
 * Moves made from the rules' tables, which the server sends as data: what becomes of a line, what it earns, and which
 * tiles are new. A board or a game that the tables do not cover gives null, and the server is asked.
 */

import { ACTIONS } from "./games.js";

const MASK = (1n << 64n) - 1n;
const HALF = (1n << 32n) - 1n;
const MARKED = /[^0-9a-f]/; // in boards with tiles that have no hexadecimal digit

export class Rules {
  /** `game` says the size, `data` is the answer of `/rules`. */
  constructor(game, data) {
    this.rows = game.rows;
    this.columns = game.columns;
    this.lines = data.lines && { row: readTable(data.lines.row), column: readTable(data.lines.column) };
    this.spawn = data.spawn;
    this.deck = data.deck;
    this.tiles = game.tiles;
  }

  /** Whether the tables say which tile comes. */
  get isComplete() {
    return Boolean(this.lines && (this.spawn || this.deck));
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
    const [digits, ...notes] = code.split(" ");
    if (!this.isComplete || MARKED.test(digits) || digits.length !== this.rows * this.columns) return null;
    if (notes.length && !this.deck) return null;
    const before = codesOf(digits);
    const slid = this.slide(before, action);
    if (!slid?.moved) return null;
    const came = this.deck ? this.#deal(before, slid.codes, action, notes, stream) : this.#add(slid.codes, stream);
    const legal = this.legal(came.codes);
    const text = [textOf(came.codes), ...came.notes].join(" ");
    return legal === null ? null : [action, text, score + slid.reward + came.reward, came.stream, legal];
  }

  /** A tile of fixed odds comes to any empty cell. */
  #add(slid, stream) {
    const [word, next] = nextWord(stream);
    const codes = [...slid];
    const empty = codes.flatMap((code, i) => (code ? [] : [i]));
    codes[this.#choose(empty, word)] = this.spawn.codes[this.spawn.limits.findIndex((limit) => lowHalf(word) < limit)];
    return { codes, notes: [], reward: 0, stream: next };
  }

  /** The tile that was announced comes to the last cell of a line that moved; the next one is drawn from the bag. */
  #deal(before, slid, action, notes, stream) {
    const known = Object.fromEntries(notes.map((note) => note.split("=")));
    const bag = known.bag ? [...known.bag].map(Number) : null;
    let drawn = { hint: this.#readHint(known.hint, before), bag, stream };
    if (!drawn.hint) drawn = this.#draw(slid, bag, stream);
    const moved = this.#cells(action).filter((cells) => cells.some((cell) => before[cell] !== slid[cell]));
    const [word, next] = nextWord(drawn.stream);
    const plain = this.deck.codes.length;
    const tile = drawn.hint <= plain ? drawn.hint : plain + 1 + scaled(lowHalf(word), drawn.hint - plain);
    const codes = [...slid];
    codes[this.#choose(moved.map((cells) => cells.at(-1)).sort((a, b) => a - b), word)] = tile;
    const following = this.#draw(codes, drawn.bag, next);
    const said = [`hint=${following.hint <= plain ? following.hint : "+"}`];
    if (following.bag) said.push(`bag=${following.bag.join("")}`);
    return { codes, notes: said, reward: this.deck.scores[tile], stream: following.stream };
  }

  /** The next tile that is announced: a bonus tile now and then, or one out of the bag, which is refilled when empty. */
  #draw(codes, bag, stream) {
    const { bonus_limit, bonus_from, bonus_step, copies, codes: kinds } = this.deck;
    const [word, next] = nextWord(stream);
    const largest = Math.max(...codes);
    if (lowHalf(word) < bonus_limit && largest >= bonus_from) return { hint: largest - bonus_step, bag, stream: next };
    const left = bag ?? kinds.map(() => 1);
    let number = scaled(highHalf(word), left.reduce((sum, count) => sum + count, 0));
    const kind = left.findIndex((count) => (number -= count) < 0);
    const rest = left.map((count, i) => count - (i === kind));
    const following = bag && (rest.some(Boolean) ? rest : kinds.map(() => copies));
    return { hint: kinds[kind], bag: following, stream: next };
  }

  /** The code of a hint: a tile, or the largest one that a bonus can be; 0 where it is not known. */
  #readHint(text, codes) {
    if (!text) return 0;
    if (text === "+") return Math.max(...codes) - this.deck.bonus_step;
    return this.tiles.indexOf(Number(text.replace("+", "")));
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

  /** The high half of a random word chooses among cells, counted from the last. */
  #choose(cells, word) {
    return cells[cells.length - 1 - scaled(highHalf(word), cells.length)];
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

const lowHalf = (word) => Number(word & HALF);
const highHalf = (word) => Number(word >> 32n);
/** 32 random bits to one of `n` numbers from 0. */
const scaled = (half, n) => Number((BigInt(half) * BigInt(n)) >> 32n);
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
