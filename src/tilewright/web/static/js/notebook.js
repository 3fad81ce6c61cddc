/**
 * The notebook: positions in which a mistake was made, to be solved again. A position that was solved comes back later
 * and later, one that was not at once. Nothing here touches the page.
 */

import { classOf, costOf } from "./analysis.js";

const DAY = 86_400_000; // milliseconds
const WAITS = [0, 1, 3, 7, 21, 60]; // days until a position comes back, by how often in a row it was solved
const MOST = 500; // positions in a notebook

/** The positions of a review that belong in a notebook: {id, spec, code, score, played, values, cost}. */
export function puzzlesOf(review, recording, mistakes, now) {
  const values = new Map(review.worst.map((move) => [move.move, move.values]));
  return mistakes
    .filter((move) => values.has(move.number))
    .map((move) => {
      const code = move.number > 1 ? recording.moves[move.number - 2][1] : recording.start;
      const about = { score: move.score, played: move.played, values: values.get(move.number), cost: move.cost };
      return { id: `${review.game} ${code}`, spec: review.game, code, ...about, solved: 0, due: now };
    });
}

/** A notebook with more positions; one that it has already stays as it is. The least costly go when it is full. */
export function addPuzzles(notebook, puzzles) {
  const known = new Set(notebook.map((puzzle) => puzzle.id));
  const all = [...notebook, ...puzzles.filter((puzzle) => !known.has(puzzle.id) && known.add(puzzle.id))];
  if (all.length <= MOST) return all;
  const kept = new Set([...all].sort((a, b) => b.cost - a.cost).slice(0, MOST));
  return all.filter((puzzle) => kept.has(puzzle));
}

/** The position to solve next: of those that are due the most costly one; undefined if none is. */
export function nextPuzzle(notebook, now) {
  return notebook.filter((puzzle) => puzzle.due <= now).sort((a, b) => b.cost - a.cost)[0];
}

/** Whether a move solves a position: it loses next to nothing. */
export function solves(puzzle, move) {
  const top = Math.max(...Object.values(puzzle.values));
  const cost = costOf(top - puzzle.values[move], puzzle.score, top);
  return ["best", "good"].includes(classOf(cost).name);
}

/** The notebook after an answer. */
export function answered(notebook, id, isRight, now) {
  return notebook.map((puzzle) => {
    if (puzzle.id !== id) return puzzle;
    const solved = isRight ? Math.min(puzzle.solved + 1, WAITS.length - 1) : 0;
    return { ...puzzle, solved, due: now + WAITS[solved] * DAY };
  });
}

/** How the visitor does: {right, wrong, streak, longest, days: {"2026-11-18": [right, all]}}, after an answer. */
export function counted(progress, isRight, now) {
  const { right = 0, wrong = 0, streak = 0, longest = 0, days = {} } = progress;
  const day = new Date(now).toISOString().slice(0, 10);
  const [rightThen, allThen] = days[day] ?? [0, 0];
  const run = isRight ? streak + 1 : 0;
  return {
    right: right + Number(isRight),
    wrong: wrong + Number(!isRight),
    streak: run,
    longest: Math.max(longest, run),
    days: { ...days, [day]: [rightThen + Number(isRight), allThen + 1] },
  };
}
