/** Choosing an agent, and how far it thinks. */

import { get } from "./api.js";
import { make } from "./dom.js";
import { t } from "./language.js";

const DEPTHS = [1, 2, 3, 4];
const TIMES = [10, 50, 100, 200, 500, 1000, 2000];
const ROLLOUTS = [20, 50, 100, 200, 500, 1000, 2000, 5000];
const THOUGHT = /^(depth|ms|rollouts)=/;

/** The ways in which an agent can be told how far to think: [option, words]. */
function thoughts(agent) {
  const { depth, ms, rollouts } = agent.bounds;
  const found = [["", t("picker.default")]];
  if (depth) found.push(...DEPTHS.filter((n) => n <= depth.max).map((n) => [`depth=${n}`, t("picker.depth", { n })]));
  if (ms) found.push(...TIMES.filter((n) => n <= ms.max).map((n) => [`ms=${n}`, `${n} ms`]));
  if (rollouts) found.push(...ROLLOUTS.filter((n) => n <= rollouts.max).map((n) => [`rollouts=${n}`, t("picker.rollouts", { n })]));
  return found;
}

/** `expectimax:depth=3,model=minute` to the agent of the list and how far it thinks. */
export function splitSpec(spec) {
  const [name, ...rest] = spec.split(":");
  const words = rest.join(":").split(",").filter(Boolean);
  const others = words.filter((word) => !THOUGHT.test(word));
  const thought = words.find((word) => THOUGHT.test(word)) ?? "";
  return { agent: others.length ? `${name}:${others.join(",")}` : name, thought: thought.replace(/\.0$/, "") };
}

export class Picker {
  /** Fills `element`; `changed` is called when the visitor chooses. */
  constructor(element, changed, label = t("agent")) {
    this.agents = [];
    this.choices = 0; // how often the visitor chose
    this.ready = Promise.resolve(); // when the agents are those of the game that was loaded last
    this.chosen = new Map(); // agent to how far it thinks
    this.agent = make("select", {});
    this.thought = make("select", {});
    element.append(make("label", {}, label, this.agent), make("label", {}, t("picker.thinks"), this.thought));
    this.agent.addEventListener("change", () => {
      this.choices += 1;
      this.#fill();
      changed();
    });
    this.thought.addEventListener("change", () => {
      this.choices += 1;
      this.chosen.set(this.agent.value, this.thought.value);
      changed();
    });
  }

  /**
   * List the agents of a game, and choose one: `wanted` if it can play, otherwise the strongest. What the visitor chooses
   * while the list is on its way is kept.
   */
  load(game, wanted = "") {
    const loading = this.#load(game, wanted);
    this.ready = loading.catch(() => {});
    return loading;
  }

  async #load(game, wanted) {
    const before = this.choices;
    const agents = await get("agents", { game });
    if (this.choices !== before) wanted = this.spec;
    this.agents = agents;
    const own = agents.filter((agent) => !agent.run);
    const trained = agents.filter((agent) => agent.run);
    const entry = (agent) => make("option", { value: agent.spec, title: agent.summary }, name(agent));
    this.agent.replaceChildren(...own.map(entry));
    if (trained.length) this.agent.append(make("optgroup", { label: t("picker.runs") }, ...trained.map(entry)));
    this.#choose(wanted);
  }

  /** The whole spec, as the server takes it. */
  get spec() {
    const agent = this.agent.value;
    if (!agent || !this.thought.value) return agent;
    return agent + (agent.includes(":") ? "," : ":") + this.thought.value;
  }

  #choose(wanted) {
    const { agent, thought } = splitSpec(wanted);
    if (this.agents.some((found) => found.spec === agent)) {
      this.agent.value = agent;
      this.chosen.set(agent, thought);
    }
    this.#fill();
  }

  #fill() {
    const agent = this.agents.find((found) => found.spec === this.agent.value);
    const ways = agent ? thoughts(agent) : [["", t("picker.default")]];
    this.thought.replaceChildren(...ways.map(([value, words]) => make("option", { value }, words)));
    this.thought.disabled = ways.length === 1;
    this.thought.value = this.chosen.get(this.agent.value) ?? "";
    if (this.thought.selectedIndex < 0) this.thought.value = "";
  }
}

function name(agent) {
  return agent.run ? `${agent.name} · ${agent.run}` : agent.name;
}
