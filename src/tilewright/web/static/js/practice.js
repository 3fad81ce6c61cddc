/** Practice by theme: where positions come from, and how the visitor does with each theme. */

import { get } from "./api.js";
import { memory } from "./dom.js";
import { answered, counted, nextPuzzle } from "./notebook.js";

export const NOTEBOOK = "notebook";
const SEEDS = 2 ** 31;

const notebook = () => memory.get("notebook", []);

/** The next position of a theme: {spec, code, score, values, unit, played?}; null if the notebook has none that is due. */
export async function nextPosition(theme, level, table, signal) {
  if (theme === NOTEBOOK) {
    const found = nextPuzzle(notebook(), Date.now());
    return found ? { unit: "points", ...found } : null;
  }
  const seed = Math.floor(Math.random() * SEEDS);
  const asked = { theme, level, seed, table: theme === "endgame" ? table : undefined };
  const { game: spec, code, score, values, unit } = await get("practice", asked, signal);
  return { spec, code, score, values, unit };
}

/** How many positions of the notebook there are, and how many are due. */
export function notebookCounts() {
  const all = notebook();
  return { all: all.length, due: all.filter((puzzle) => puzzle.due <= Date.now()).length };
}

const progressKey = (theme) => (theme === NOTEBOOK ? "progress" : `progress.${theme}`);

/** How the visitor does with a theme: {right, wrong, streak, longest, days}. */
export const progressOf = (theme) => memory.get(progressKey(theme), {});

/** Note an answer; a position of the notebook comes back sooner or later. */
export function note(theme, puzzle, isRight) {
  const now = Date.now();
  if (theme === NOTEBOOK) memory.set("notebook", answered(notebook(), puzzle.id, isRight, now));
  memory.set(progressKey(theme), counted(progressOf(theme), isRight, now));
}

/** The tables of endgames that the server has: specs of agents. */
export async function tables() {
  const agents = await get("agents", { game: "2048" });
  return agents.filter(({ name }) => name === "exact").map(({ spec }) => spec);
}
