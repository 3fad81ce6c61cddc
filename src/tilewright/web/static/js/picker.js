/** Choosing an agent, and how far it thinks. */

import { get } from "./api.js";
import { make } from "./dom.js";

const DEPTHS = [1, 2, 3, 4];
const TIMES = [10, 50, 100, 200, 500, 1000, 2000];
const ROLLOUTS = [20, 50, 100, 200, 500, 1000, 2000, 5000];

/** The ways in which an agent can be told how far to think: [option, words]. */
function thoughts(agent) {
  const { depth, ms, rollouts } = agent.bounds;
  const found = [["", "default"]];
  if (depth) found.push(...DEPTHS.filter((n) => n <= depth.max).map((n) => [`depth=${n}`, `${n} ply`]));
  if (ms) found.push(...TIMES.filter((n) => n <= ms.max).map((n) => [`ms=${n}`, `${n} ms`]));
  if (rollouts) found.push(...ROLLOUTS.filter((n) => n <= rollouts.max).map((n) => [`rollouts=${n}`, `${n} games`]));
  return found;
}

export class Picker {
  /** Fills `element`; `changed` is called when the visitor chooses. */
  constructor(element, changed, label = "Agent") {
    this.agents = [];
    this.chosen = new Map(); // agent to how far it thinks
    this.agent = make("select", {});
    this.thought = make("select", {});
    element.append(make("label", {}, label, this.agent), make("label", {}, "Thinks", this.thought));
    this.agent.addEventListener("change", () => {
      this.#fill();
      changed();
    });
    this.thought.addEventListener("change", () => {
      this.chosen.set(this.agent.value, this.thought.value);
      changed();
    });
  }

  /** List the agents of a game; keeps what was chosen where it is still there. */
  async load(game, wanted = undefined) {
    this.agents = await get("agents", { game });
    wanted ??= this.spec; // as it is now: the visitor may have chosen while the list was on its way
    const own = this.agents.filter((agent) => !agent.run);
    const trained = this.agents.filter((agent) => agent.run);
    const entry = (agent) => make("option", { value: agent.spec, title: agent.summary }, name(agent));
    this.agent.replaceChildren(...own.map(entry));
    if (trained.length) this.agent.append(make("optgroup", { label: "from your runs" }, ...trained.map(entry)));
    this.#choose(wanted);
  }

  /** The whole spec, as the server takes it. */
  get spec() {
    const agent = this.agent.value;
    if (!agent || !this.thought.value) return agent;
    return agent + (agent.includes(":") ? "," : ":") + this.thought.value;
  }

  #choose(wanted) {
    const words = (wanted ?? "").split(/[:,]/);
    const thought = words.filter((word) => /^(depth|ms|rollouts)=/.test(word)).join();
    const spec = (wanted ?? "").replace(/[:,]?(depth|ms|rollouts)=\d+/g, "");
    if (this.agents.some((agent) => agent.spec === spec)) {
      this.agent.value = spec;
      this.chosen.set(spec, thought);
    }
    this.#fill();
  }

  #fill() {
    const agent = this.agents.find((found) => found.spec === this.agent.value);
    const ways = agent ? thoughts(agent) : [["", "default"]];
    this.thought.replaceChildren(...ways.map(([value, words]) => make("option", { value }, words)));
    this.thought.disabled = ways.length === 1;
    this.thought.value = this.chosen.get(this.agent.value) ?? "";
  }
}

function name(agent) {
  return agent.run ? `${agent.name} · ${agent.run}` : agent.name;
}
