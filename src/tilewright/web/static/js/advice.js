/** What the agent says of the position: values, an arrow on the board, a hint on demand, and what the last move was. */

import { get } from "./api.js";
import { judge } from "./analysis.js";
import { $ } from "./dom.js";
import { t } from "./language.js";
import { oneDigit, percent, shortSpec } from "./numbers.js";
import { sayWhileWaiting } from "./start.js";

const THINKS_LONG = 400; // milliseconds after which a visitor is told so
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
    let stopSaying = () => {};
    const patience = setTimeout(() => (stopSaying = sayWhileWaiting(note, t("ask.thinking"))), THINKS_LONG);
    try {
      await this.picker.ready; // a move may come before the agents of its game
      if (this.asking !== mine) return;
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
      clearTimeout(patience);
      stopSaying();
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
    else $("ask-note").textContent = t("ask.thinking");
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
    const names = { move: t(`move.${played}`), best: t(`move.${best}`) };
    if (!loss) return t("judge.best", names);
    if (!kind) return t("judge.below", { ...names, loss: oneDigit(loss) });
    const lost = { n: Math.round(loss), cost: percent(cost), sign: kind.sign, kind: t(`class.${kind.name}`) };
    return t("judge.cost", { ...names, ...lost });
  }

  #show() {
    const { advice, entry } = this.answer;
    const isShown = this.mode !== "hint" || this.isHinted;
    const seconds = t("ask.thought", { agent: shortSpec(advice.agent), ms: oneDigit(1000 * advice.seconds) });
    if (isShown) this.bars.show(advice, entry[2]);
    else this.bars.hide(entry[4]);
    this.board.arrow(this.isHinted || this.mode === "arrow" ? advice.move : null);
    $("bars").dataset.board = advice.text;
    $("ask-note").textContent = isShown ? seconds : t("ask.hidden");
  }
}
