/**
 * The one owner of the game in Play: its positions, the one that is shown, and the request that is under way.
 *
 * A request gets a token. Whatever changes the position makes every older token worthless, so that an answer that comes
 * late can never become part of another game. Nothing here touches the page or the network.
 *
 * An entry is [move that led here, board, score, stream, legal moves by first letter, who moved].
 *
 * A game that is analysed has lines: the main line first, then variations, which share their first entries with another
 * line. A move that leaves a line begins a variation, so that nothing is lost. In a game that is only played there is one
 * line, and a move after taking back forgets what was taken back.
 */

export const HUMAN = "human";
const MOST_GAMES = 20; // that can be taken back
const MOST_LINES = 20; // of a game

export class Store {
  constructor() {
    this.spec = "2048";
    this.seed = null; // null for a board that was set up
    this.entries = [];
    this.at = 0;
    this.lines = []; // of a game that is analysed: lists of entries, the main line first
    this.line = 0; // the one that is shown
    this.past = []; // games that were left for another one
    this.future = []; // games that were taken back
    this.pending = null; // the request under way: {kind, cancel, token}
    this.token = {}; // of the position that is shown
    this.id = ""; // of this game, the same after a reload
    this.changed = () => {};
    this.left = () => {}; // called with a game that another one takes the place of
  }

  get isReady() {
    return this.entries.length > 0;
  }

  get now() {
    return this.entries[this.at];
  }

  get isOver() {
    return this.now[4] === "";
  }

  get canUndo() {
    return this.at > 0 || this.past.length > 0;
  }

  get canRedo() {
    return this.at < this.entries.length - 1 || this.future.length > 0;
  }

  /** Whether an answer to a request with this token is still wanted. */
  isCurrent(token) {
    return token === this.token;
  }

  /** Note a request; an older one is cancelled. `cancel` is called if it is not wanted any more. */
  request(kind, cancel = () => {}) {
    this.cancel();
    this.pending = { kind, cancel, token: this.token };
    return this.token;
  }

  isPending(...kinds) {
    return this.pending !== null && kinds.includes(this.pending.kind);
  }

  /** Give up the request under way. */
  cancel() {
    const old = this.pending;
    this.pending = null;
    old?.cancel();
  }

  /** The request with this token is answered or has failed. */
  finish(token) {
    if (this.pending?.token === token) this.pending = null;
  }

  /** Put another game on the table; one that has moves can be taken back. */
  begin(spec, seed, first) {
    this.open({ spec, seed, entries: [first], at: 0 });
  }

  /** Put a whole game on the table, as `begin`. */
  open(game) {
    if (this.entries.length > 1) {
      this.left(this.snapshot());
      this.past = [...this.past, this.snapshot()].slice(-MOST_GAMES);
    }
    this.future = [];
    this.#set({ ...game, id: newId() });
  }

  /** Add positions behind the one that is shown; what was taken back is forgotten. */
  add(entries, player) {
    this.cancel();
    this.#append(entries, player);
    this.#moved();
  }

  /** Add positions of a request that goes on. Returns its new token, or null if nobody waits for it any more. */
  extend(token, entries, player) {
    if (!this.isCurrent(token)) return null;
    this.#append(entries, player);
    const pending = this.pending;
    this.token = {};
    if (pending?.token === token) pending.token = this.token;
    this.changed();
    return this.token;
  }

  /** What the server says of moves that were made here: the same, or what holds instead. Returns whether it was the same. */
  confirm(sent, answered) {
    const first = this.entries.indexOf(sent[0]);
    if (first < 1) return true; // taken back meanwhile
    for (let i = 0; i < sent.length && this.entries[first + i] === sent[i]; i++) {
      if (String(answered[i]) === String(sent[i].slice(0, 5))) continue;
      this.entries.length = first + i;
      this.at = Math.min(this.at, first + i - 1);
      this.add([answered[i]], HUMAN);
      return false;
    }
    return true;
  }

  /** From now on every move that leaves a line begins a variation. */
  analyse() {
    if (!this.lines.length) this.lines = [this.entries];
    this.changed();
  }

  /** Show another line, where it leaves the one that was shown. */
  toLine(line) {
    this.cancel();
    const [from, to] = [this.entries, this.lines[line]];
    const fork = to.findIndex((entry, i) => entry !== from[i]);
    this.line = line;
    this.entries = to;
    this.at = fork < 0 ? to.length - 1 : Math.max(0, line ? fork : fork - 1);
    this.#moved();
  }

  go(at) {
    this.cancel();
    this.at = Math.max(0, Math.min(this.entries.length - 1, at));
    this.#moved();
  }

  undo() {
    if (this.at > 0) return this.go(this.at - 1);
    if (!this.past.length) return;
    this.future.push(this.snapshot());
    this.#set(this.past.pop());
  }

  redo() {
    if (this.at < this.entries.length - 1) return this.go(this.at + 1);
    if (!this.future.length) return;
    this.past.push(this.snapshot());
    this.#set(this.future.pop());
  }

  snapshot() {
    const { id, spec, seed, entries, at, line } = this;
    return { id, spec, seed, entries: [...entries], at, lines: this.lines.map((one) => [...one]), line };
  }

  /** Take over a game that was kept, if it is one. */
  restore(kept) {
    const game = readGame(kept);
    if (game) this.#set(game);
    return game !== null;
  }

  #append(entries, player) {
    if (this.lines.length && this.at < this.entries.length - 1) this.#branch();
    this.entries.length = this.at + 1;
    this.entries.push(...entries.map((entry) => [...entry.slice(0, 5), player]));
    this.at = this.entries.length - 1;
    this.future = [];
  }

  /** Begin a variation at the position that is shown; the oldest one goes when there are too many. */
  #branch() {
    if (this.lines.length === MOST_LINES) this.lines.splice(1, 1);
    this.entries = this.entries.slice(0, this.at + 1);
    this.line = this.lines.push(this.entries) - 1;
  }

  #set({ id, spec, seed, entries, at, lines = [], line = 0 }) {
    this.cancel();
    Object.assign(this, { id, spec, seed, at, lines, line, entries: lines[line] ?? entries });
    this.#moved();
  }

  #moved() {
    this.token = {};
    this.changed();
  }
}

const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;

/** A game out of what a browser kept, or null: another version, or another program, may have written it. */
export function readGame(kept) {
  if (typeof kept?.spec !== "string" || !Array.isArray(kept.entries) || !kept.entries.length) return null;
  const sound = (entry, i) =>
    Array.isArray(entry) && typeof entry[1] === "string" && Number.isFinite(entry[2]) && typeof entry[3] === "string" &&
    typeof entry[4] === "string" && (i === 0 || typeof entry[0] === "string");
  if (!kept.entries.every(sound)) return null;
  const isLine = (line) => Array.isArray(line) && line.length > 0 && line.every(sound);
  const lines = Array.isArray(kept.lines) && kept.lines.every(isLine) && kept.lines[kept.line] ? kept.lines : [];
  const only = kept.players?.length === 1 ? kept.players[0] : undefined;
  const entries = kept.entries.map((entry, i) => (i && entry[5] === undefined ? [...entry.slice(0, 5), only ?? "unknown"] : entry));
  const at = Number.isInteger(kept.at) ? Math.max(0, Math.min(kept.at, entries.length - 1)) : entries.length - 1;
  const id = typeof kept.id === "string" && kept.id ? kept.id : newId();
  const line = lines.length ? kept.line : 0;
  return { id, spec: kept.spec, seed: Number.isInteger(kept.seed) ? kept.seed : null, entries, at, lines: sharing(lines), line };
}

/** Lines whose first entries, where they are equal, are the same ones again, as they were before they were kept. */
function sharing(lines) {
  const [main, ...others] = lines;
  if (!main) return [];
  const shared = others.map((line) => {
    const fork = line.findIndex((entry, i) => String(entry) !== String(main[i]));
    return fork < 0 ? [...main.slice(0, line.length)] : [...main.slice(0, fork), ...line.slice(fork)];
  });
  return [main, ...shared];
}

/** The lines of a game but the main one: [number of the first own move, the move]. */
export function variationsOf(store) {
  return store.lines.slice(1).map((line) => {
    const fork = line.findIndex((entry, i) => entry !== store.lines[0][i]);
    return fork < 0 ? [line.length, ""] : [fork, line[fork][0]];
  });
}

/** An entry out of a position that the server sent. */
export function entryOf(position) {
  const legal = position.legal.map((action) => action[0]).join("");
  return [position.move ?? null, position.code, position.score, position.stream, legal];
}

/** Who made the moves up to a position: [[player, moves], …], in the order of the first move. */
export function playersOf(game) {
  const found = new Map();
  for (const entry of game.entries.slice(1, game.at + 1)) found.set(entry[5], (found.get(entry[5]) ?? 0) + 1);
  return [...found];
}

/** Whether the visitor alone made all moves of a game that began at its beginning. */
export const isOwnGame = (game) => game.seed !== null && playersOf(game).every(([player]) => player === HUMAN);

/** The game up to the position that is shown, as a line that `tilewright review` reads; `players` says who moved when. */
export function recordingOf(game) {
  const played = game.entries.slice(0, game.at + 1);
  const last = played.at(-1);
  const turns = [];
  for (const entry of played.slice(1)) {
    if (turns.at(-1)?.[0] === entry[5]) turns.at(-1)[1] += 1;
    else turns.push([entry[5], 1]);
  }
  return JSON.stringify({
    format: "tilewright-game-1",
    game: game.spec,
    seed: game.seed ?? 0,
    number: 0,
    start: played[0][1],
    moves: played.slice(1).map(([move, board, score]) => [move, board, score]),
    agent: playersOf(game).map(([player]) => player).join(" + ") || HUMAN,
    players: turns,
    score: last[2],
    over: last[4] === "",
  });
}
