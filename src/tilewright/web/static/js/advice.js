/** What the agent says of the position: values, an arrow on the board, a hint on demand, and what the last move was. */

import { get } from "./api.js";
import { judge } from "./analysis.js";
import { $ } from "./dom.js";
import { count, oneDigit, percent, shortSpec } from "./numbers.js";

const THINKS_LONG = 400; // milliseconds after which a visitor is told so
const COMPILES = 2500; // milliseconds after which it is told why
const NOW_AND_THEN = 150; // milliseconds between questions while moves come fast

export class Advisor {
  constructor({ store, board, bars, picker }) {
    Object.assign(this, { store, board, bars, picker });
    this.mode = "values"; // or "arrow": values and arrow; "hint": nothing before the visitor asks
    this.isHinted = false; // whether the visitor asked for a hint in this position
    this.answer = null; // {entry, advice}
    this.asking = null;
    this.soon = 0;
    this.asked = () => {}; // called when another position is asked about
  }

  /** Ask about the position on the screen; an older question is given up. */
  async ask() {
    this.stop();
    this.asked();
    const { store } = this;
    const entry = store.now;
    this.isHinted = false;
    this.answer = null;
    this.board.arrow();
    if (store.isOver) {
      this.bars.clear();
      $("ask-note").textContent = "";
      return;
    }
    if (this.mode === "hint") this.bars.hide(entry[4]);
    else this.bars.wait();
    const mine = (this.asking = new AbortController());
    const note = (words) => this.asking === mine && ($("ask-note").textContent = words);
    const patience = [
      setTimeout(note, THINKS_LONG, "thinking…"),
      setTimeout(note, COMPILES, "thinking… The first question to an agent compiles its kernels, once; that can take some seconds."),
    ];
    try {
      const question = { game: store.spec, board: entry[1], agent: this.picker.spec };
      const advice = await get("move", question, mine.signal);
      if (this.asking !== mine || store.now !== entry) return;
      this.answer = { entry, advice };
      this.#show();
    } catch (error) {
      if (error.name === "AbortError" || this.asking !== mine) return;
      this.bars.clear();
      $("ask-note").textContent = error.message;
    } finally {
      patience.forEach(clearTimeout);
    }
  }

  /** While moves come fast, ask only now and then. */
  askLater() {
    this.soon ||= setTimeout(() => {
      this.soon = 0;
      this.ask();
    }, NOW_AND_THEN);
  }

  stop() {
    clearTimeout(this.soon);
    this.soon = 0;
    this.asking?.abort();
    this.asking = null;
  }

  setMode(mode) {
    this.mode = mode;
    if (this.store.isReady) this.ask();
  }

  /** Show the best move of this position, now or as soon as the agent has answered. */
  hint() {
    if (this.store.isOver) return;
    this.isHinted = true;
    if (this.answer) this.#show();
    else $("ask-note").textContent = "thinking…";
  }

  /** Say what a move is before it is made; the values of its position must be known. */
  judge(action) {
    const known = this.answer?.entry === this.store.now ? judge(this.answer.advice, this.store.now[2], action) : null;
    $("feedback").replaceChildren(known ? this.#words(known) : "");
    $("feedback").dataset.class = known?.kind?.name ?? "";
  }

  clearFeedback() {
    $("feedback").replaceChildren();
    $("feedback").dataset.class = "";
  }

  #words({ played, best, loss, cost, kind }) {
    if (!loss) return `✓ ${played} is the best move`;
    if (!kind) return `${played}: ${oneDigit(loss)} below ${best}`;
    const lost = `costs ${count(loss)} points, ${percent(cost)} of the expected final score`;
    return `${kind.sign} ${kind.name}: ${played} ${lost}; ${best} was best`;
  }

  #show() {
    const { advice, entry } = this.answer;
    const isShown = this.mode !== "hint" || this.isHinted;
    const seconds = `${shortSpec(advice.agent)} thought for ${oneDigit(1000 * advice.seconds)} ms`;
    if (isShown) this.bars.show(advice, entry[2]);
    else this.bars.hide(entry[4]);
    this.board.arrow(this.isHinted || this.mode === "arrow" ? advice.move : null);
    $("bars").dataset.board = advice.text;
    $("ask-note").textContent = isShown ? seconds : "Values are hidden until you move; H or Hint shows them.";
  }
}
