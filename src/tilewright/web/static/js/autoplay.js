/** Moves of the agent: one on request, or one after the other over a socket. */

import { open, post } from "./api.js";
import { withoutNewTile } from "./board.js";
import { $, memory } from "./dom.js";
import { decode } from "./games.js";
import { t } from "./language.js";
import { SPEEDS, speedName } from "./numbers.js";
import { entryOf } from "./store.js";

const SMOOTH_UP_TO = 9; // moves a second: faster ones are shown without motion

export class AgentMoves {
  constructor({ store, view, picker, advisor, say }) {
    Object.assign(this, { store, view, picker, advisor, say });
    this.socket = null;
  }

  get speed() {
    return SPEEDS[Number($("speed").value)];
  }

  get isRunning() {
    return this.store.isPending("autoplay");
  }

  /** Let the agent make one move. */
  async step() {
    const { store, view } = this;
    if (store.isOver || store.isPending("step", "move")) return;
    const controller = new AbortController();
    const token = store.request("step", () => controller.abort());
    this.showState();
    const [, board, score, stream] = store.now;
    const agent = this.picker.spec;
    try {
      const position = await post("step", { game: store.spec, board, score, stream, agent }, controller.signal);
      if (!store.isCurrent(token)) return;
      store.finish(token);
      store.add([entryOf(position)], agent);
      view.refresh({ move: position.move, after: position.after });
      this.say("");
      this.advisor.clearFeedback();
      this.advisor.ask();
    } catch (error) {
      if (error.name !== "AbortError" && store.isCurrent(token)) this.say(error.message, true);
      store.finish(token);
    }
  }

  toggle() {
    if (this.isRunning) this.stop();
    else this.start();
  }

  start() {
    const { store } = this;
    if (this.isRunning || store.isOver) return;
    const [, board, score, stream] = store.now;
    const agent = this.picker.spec;
    let socket = null;
    let token = store.request("autoplay", () => {
      socket.close();
      this.showState();
    });
    socket = this.socket = open("autoplay", { game: store.spec, board, score, stream, agent, speed: this.speed }, {
      message: (answer) => {
        if (answer.moves) token = this.#played(token, answer.moves, agent);
        else this.say(t("auto.over", { n: store.now[2] }));
      },
      closed: (reason) => {
        store.finish(token);
        this.showState();
        if (reason) this.say(t("auto.stopped", { reason }), true);
      },
    });
    this.say("");
    this.advisor.clearFeedback();
    this.showState();
  }

  #played(token, entries, agent) {
    const { store, view } = this;
    const before = decode(store.now[1], view.game).tiles;
    const next = store.extend(token, entries, agent);
    if (!next) return token;
    const [move, code] = entries[0];
    const isSingle = entries.length === 1 && this.speed && this.speed <= SMOOTH_UP_TO;
    view.refresh(isSingle ? { move, after: withoutNewTile(before, decode(code, view.game).tiles, move) } : null);
    this.advisor.askLater();
    return next;
  }

  stop() {
    if (this.isRunning) this.store.cancel();
    this.showState();
  }

  restart() {
    if (!this.isRunning) return;
    this.stop();
    this.start();
  }

  showState() {
    $("auto").setAttribute("aria-pressed", String(this.isRunning));
    $("auto").textContent = this.isRunning ? t("pause") : t("auto.start");
  }

  showSpeed() {
    $("speed-text").textContent = speedName(this.speed);
    memory.set("speed", Number($("speed").value));
    if (this.isRunning) this.socket.send({ speed: this.speed });
  }
}
