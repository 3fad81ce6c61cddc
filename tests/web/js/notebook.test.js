/** The notebook of mistakes, and the library of games. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { entryFor, statisticsOf } from "../modules/library.js";
import { addPuzzles, answered, counted, nextPuzzle, puzzlesOf, solves } from "../modules/notebook.js";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 18);
const puzzle = (id, cost, more = {}) => ({ id, cost, solved: 0, due: 0, score: 100, values: { up: 900, left: 899, down: 500 }, ...more });

test("mistakes become positions with the values of all moves", () => {
  const review = { game: "2048", worst: [{ move: 1, values: { up: 5 } }, { move: 3, values: { up: 7 } }] };
  const recording = { start: "s", moves: [["left", "a", 0], ["up", "b", 4], ["down", "c", 8]] };
  const mistakes = [1, 2, 3].map((number) => ({ number, score: number, played: "left", cost: 0.1 }));
  const found = puzzlesOf(review, recording, mistakes, NOW);
  assert.deepEqual(found.map(({ id, code, values }) => [id, code, values.up]), [["2048 s", "s", 5], ["2048 b", "b", 7]]);
});

test("a notebook has every position once, and keeps the costly ones when it is full", () => {
  const once = addPuzzles([puzzle("a", 0.1, { solved: 3 })], [puzzle("a", 0.1), puzzle("b", 0.2), puzzle("b", 0.2)]);
  assert.deepEqual(once.map(({ id, solved }) => [id, solved]), [["a", 3], ["b", 0]]);
  const full = addPuzzles(once, Array.from({ length: 600 }, (_, i) => puzzle(`${i}`, i / 1000)));
  assert.equal(full.length, 500);
  assert.ok(full.some(({ id }) => id === "599") && !full.some(({ id }) => id === "0"));
});

test("what is due is asked, the costly first; what is solved comes back later and later", () => {
  let notebook = [puzzle("a", 0.1), puzzle("b", 0.3), puzzle("c", 0.9, { due: NOW + 1 })];
  assert.equal(nextPuzzle(notebook, NOW).id, "b");
  notebook = answered(notebook, "b", true, NOW);
  assert.equal(notebook[1].due, NOW + DAY);
  assert.equal(nextPuzzle(notebook, NOW).id, "a");
  notebook = answered(answered(notebook, "b", true, NOW), "b", true, NOW);
  assert.equal(notebook[1].due, NOW + 7 * DAY);
  notebook = answered(notebook, "b", false, NOW);
  assert.equal(nextPuzzle(notebook, NOW).id, "b");
  assert.equal(nextPuzzle([], NOW), undefined);
});

test("a good move solves, too", () => {
  assert.ok(solves(puzzle("a", 0.1), "up") && solves(puzzle("a", 0.1), "left") && !solves(puzzle("a", 0.1), "down"));
});

test("match rate, streak and days", () => {
  const found = [true, true, false, true].reduce((progress, isRight) => counted(progress, isRight, NOW), {});
  assert.deepEqual(found, { right: 3, wrong: 1, streak: 1, longest: 2, days: { "2026-11-18": [3, 4] } });
});

test("statistics are those of one's own finished games", () => {
  const entry = (player, score, legal = "") => {
    const entries = [[null, "1", 0, "s", "u"], ["up", "2", score, "s", legal, player]];
    return entryFor({ id: `${score}`, spec: "2048", seed: 1, entries, at: 1 }, NOW);
  };
  const games = [entry("human", 10), { ...entry("human", 30), accuracy: 0.8 }, entry("greedy", 99), entry("human", 50, "u")];
  assert.deepEqual(statisticsOf(games), [{ spec: "2048", games: 2, best: 30, mean: 20, accuracy: 0.8 }]);
  assert.deepEqual(statisticsOf([]), []);
});
