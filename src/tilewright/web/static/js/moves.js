/**
 * The visitor's moves: every key arrives, in its order. A move is made at once from the rules' tables and confirmed by
 * the server after. Where the tables do not say which tile comes, the tiles slide at once and the new one comes from
 * the server.
 */

import { NoAnswer, get, post } from "./api.js";
import { decode, isWon } from "./games.js";
import { t } from "./language.js";
import { Rules } from "./rules.js";
import { play } from "./sound.js";
import { HUMAN, entryOf } from "./store.js";

const AGAIN = 2000; // milliseconds until a server that did not answer is asked again
const MOST = 100; // moves of one confirmation

export class Mover {
  /** `moving(action)` is called before a move, `moved()` after it; `isOffline(truth)` when that changes. */
  constructor({ store, view, board, say, moving, moved, isOffline }) {
    Object.assign(this, { store, view, board, say, moving, moved, isOffline });
    this.queue = [];
    this.isPlaying = false;
    this.rules = null;
    this.loading = null; // while the tables are on their way
    this.made = []; // moves that are not confirmed: {before, entry, spec}
    this.confirming = false;
    addEventListener("online", () => this.#confirm());
  }

  /** Another game: its moves wait for its tables; without any, the server makes them. */
  setGame(game) {
    this.rules = null;
    const mine = (this.loading = get("rules", { game: game.spec }).catch(() => null).then((found) => {
      if (this.loading !== mine) return;
      this.loading = null;
      if (found) this.rules = new Rules(game, found);
    }));
  }

  press(action) {
    if (this.store.isPending("step", "autoplay")) this.store.cancel();
    this.queue.push(action);
    this.#play();
  }

  /** Forget what was typed ahead. */
  clear() {
    this.queue = [];
  }

  async #play() {
    if (this.isPlaying) return;
    this.isPlaying = true;
    while (this.queue.length) {
      if (this.loading) {
        await this.loading;
        continue;
      }
      const action = this.queue.shift();
      if (!this.store.now[4].includes(action[0])) {
        this.board.nudge(action);
        this.say(this.store.isOver ? "" : t("play.nothing", { move: t(`move.${action}`) }));
        continue;
      }
      if (!this.#moveHere(action)) await this.#moveThere(action);
    }
    this.isPlaying = false;
  }

  /** Make a move by the tables; false if they do not say what follows. */
  #moveHere(action) {
    const before = this.store.now;
    const entry = this.rules?.step(before, action);
    if (!entry) return false;
    const after = decode(this.rules.slideCode(before[1], action), this.view.game).tiles;
    this.#accept(entry, { move: action, after });
    this.made.push({ before, entry: this.store.now, spec: this.store.spec });
    this.#confirm();
    return true;
  }

  /** Let the server make a move; the tiles slide meanwhile. */
  async #moveThere(action) {
    const { store, view } = this;
    const [, code, score, stream] = store.now;
    const slid = this.rules?.slideCode(code, action);
    const tiles = slid && decode(slid, view.game).tiles;
    if (tiles) this.board.slide(action, tiles, tiles);
    const controller = new AbortController();
    const token = store.request("move", () => controller.abort());
    try {
      const request = { game: store.spec, board: code, score, stream, move: action };
      const position = await post("step", request, controller.signal);
      if (!store.isCurrent(token)) return;
      store.finish(token);
      this.#accept(entryOf(position), tiles ? "appear" : { move: action, after: position.after });
      this.isOffline(false);
    } catch (error) {
      if (error.name === "AbortError" || !store.isCurrent(token)) return;
      store.finish(token);
      this.clear();
      view.refresh();
      this.say(error.message, true);
    }
  }

  #accept(entry, motion) {
    const { store, view } = this;
    this.moving(entry[0]);
    const wonBefore = isWon(store.now[1], view.game);
    const scoreBefore = store.now[2];
    store.add([entry], HUMAN);
    view.refresh(motion);
    this.say("");
    play(store.isOver ? "over" : entry[2] > scoreBefore ? "merge" : "move");
    if (!wonBefore && !store.isOver && isWon(store.now[1], view.game)) view.celebrate();
    this.moved();
  }

  /** Let the server check the moves that were made here; what it says holds. */
  async #confirm() {
    if (this.confirming) return;
    this.confirming = true;
    while (this.made.length) {
      const batch = this.#nextBatch();
      const [, board, score, stream] = batch[0].before;
      const request = { game: batch[0].spec, board, score, stream, moves: batch.map(({ entry }) => entry[0]) };
      try {
        const answer = await post("steps", request);
        this.isOffline(false);
        this.made.splice(0, batch.length);
        if (!this.store.confirm(batch.map(({ entry }) => entry), answer.moves)) this.view.refresh();
      } catch (error) {
        if (error instanceof NoAnswer) {
          this.isOffline(true);
          setTimeout(() => this.#confirm(), AGAIN);
        } else {
          this.made.splice(0, batch.length);
          this.say(error.message, true);
        }
        break;
      }
    }
    this.confirming = false;
  }

  /** The first of the moves to confirm, as far as each follows the one before. */
  #nextBatch() {
    const batch = [];
    for (const move of this.made) {
      if (batch.length === MOST || (batch.length && move.before !== batch.at(-1).entry)) break;
      batch.push(move);
    }
    return batch;
  }
}
