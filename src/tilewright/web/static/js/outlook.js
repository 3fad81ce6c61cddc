/** The chances of the next tiles: games that a quick agent plays out from the position. */

import { runJob } from "./api.js";
import { $, make } from "./dom.js";
import { colours } from "./games.js";
import { t } from "./language.js";
import { count, percent, shortSpec } from "./numbers.js";

const GAMES = 100;

/** The agent of the list that plays like `spec`, but without a search: games are played out with it. */
export function quickAgent(spec, agents) {
  const known = agents.map((agent) => agent.spec);
  const same = spec.replace(/^expectimax/, "ntuple").replace(/[:,](depth|ms)=[\d.]+/g, "").replace(/^ntuple,/, "ntuple:");
  const quick = [/^(ntuple|greedy|random)/.test(same) && same, "ntuple", "greedy", "random"];
  return quick.find((name) => known.includes(name)) ?? spec;
}

export class Outlook {
  constructor(store, picker) {
    Object.assign(this, { store, picker, running: null });
  }

  /** The position has changed: what is said of another one goes. */
  clear() {
    this.running?.abort();
    this.running = null;
    $("chances").replaceChildren();
    $("chances-note").textContent = "";
  }

  async ask(game) {
    this.clear();
    const mine = (this.running = new AbortController());
    const agent = quickAgent(this.picker.spec, this.picker.agents);
    const request = { game: this.store.spec, board: this.store.now[1], agent, games: GAMES };
    $("chances-note").textContent = t("chances.playing", { agent: shortSpec(agent) });
    try {
      const progress = (job) => this.running === mine && this.#show(job, game);
      await runJob("outlooks", request, { signal: mine.signal, progress });
    } catch (error) {
      if (error.name !== "AbortError" && this.running === mine) $("chances-note").textContent = error.message;
    }
  }

  #show(job, game) {
    if (job.reason) return ($("chances-note").textContent = job.reason);
    const found = job.result;
    if (!found) return;
    const rows = Object.entries(found.tiles).map(([tile, { rate, ci95 }]) => {
      const bar = make("i", { "--part": rate, "--back": colours(game, Number(tile)).back });
      const title = t("chances.interval", { low: percent(ci95[0]), high: percent(ci95[1]) });
      return make("div", { title }, make("b", {}, tile), bar, make("span", {}, percent(rate)));
    });
    $("chances").replaceChildren(...rows);
    const points = count(found.points.mean);
    $("chances-note").textContent = t("chances.done", { n: found.games, agent: shortSpec(found.agent), points });
  }
}
