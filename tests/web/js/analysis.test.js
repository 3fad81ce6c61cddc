/** What the numbers of a review mean, and numbers as text. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { accuracyOf, barParts, classOf, costOf, judge, otherMistake, reviewedMoves, summaryOf, worstMoves } from "../modules/analysis.js";
import { setLanguage } from "../modules/language.js";
import { compact, count, moves, oneDigit, percent, shortSpec, signed } from "../modules/numbers.js";
import { splitSpec } from "../modules/picker.js";
import { readGames } from "../modules/recordings.js";
import { pairedDifference, scoresAsCsv, studentPoint, verdict } from "../modules/statistics.js";
import { quickAgent } from "../modules/outlook.js";
import { linkTo, readHash } from "../modules/share.js";

setLanguage("en", JSON.parse(readFileSync(new URL("../lang/en.json", import.meta.url))));

test("the cost is the part of the expected final score", () => {
  assert.equal(costOf(0, 100, 900), 0);
  assert.equal(costOf(10, 100, 900), 0.01);
  assert.equal(costOf(10, 0, 0), 1);
  assert.equal(costOf(10, 0, 5), 1);
});

test("classes", () => {
  const names = [0, 1e-9, 0.0049, 0.005, 0.0199, 0.02, 0.0799, 0.08, 1].map((cost) => classOf(cost).name);
  assert.deepEqual(names, ["best", "good", "good", "inaccuracy", "inaccuracy", "mistake", "mistake", "blunder", "blunder"]);
});

test("bars have a fixed scale where values are points, and a relative one otherwise", () => {
  const parts = barParts({ up: 900, left: 880 }, "points", 100);
  assert.equal(parts.up, 1);
  assert.equal(parts.left, accuracyOf(0.02));
  assert.deepEqual(barParts({ up: 3, left: 1, down: 2 }, "none", 0), { up: 1, left: 0.12, down: 0.56 });
  assert.deepEqual(barParts({ up: 3, left: 3 }, "none", 0), { up: 1, left: 1 });
});

test("a move is judged by the values before it", () => {
  const advice = { unit: "points", values: { up: 900, left: 850 } };
  assert.equal(judge(advice, 100, "up").kind.name, "best");
  const left = judge(advice, 100, "left");
  assert.deepEqual([left.best, left.loss, left.cost, left.kind.name], ["up", 50, 0.05, "mistake"]);
  assert.equal(judge(advice, 100, "down"), null);
  assert.equal(judge({ ...advice, unit: "none" }, 100, "left").kind, null);
});

const recording = { moves: [["left", "a", 4], ["up", "b", 4], ["down", "c", 20]], players: [["human", 2], ["greedy", 1]] };
const review = { unit: "points", over: true, player: "human + greedy", losses: [0, 30, 2], values: [100, 90, 40], best: ["left", "right", "up"] };

test("final score = expected score - cost of choices + luck", () => {
  const found = reviewedMoves(review, recording, 0);
  assert.deepEqual(found.map((move) => move.player), ["human", "human", "greedy"]);
  assert.deepEqual(found.map((move) => move.luck), [4 + 90 - 100, 0 + 40 - 60, 16 + 0 - 38]);
  const { expected, lost, luck, counts, accuracy } = summaryOf(found, review, 0);
  assert.equal(expected - lost + luck, 20);
  assert.equal(counts.best + counts.good + counts.inaccuracy + counts.mistake + counts.blunder, 3);
  assert.ok(accuracy > 0 && accuracy < 1);
  assert.equal(summaryOf(found, { ...review, unit: "none" }, 0), null);
});

test("an unfinished game leaves the luck of its last move open", () => {
  assert.equal(reviewedMoves({ ...review, over: false }, recording, 0).at(-1).luck, null);
});

test("the worst moves are those that cost most, not those that lose most", () => {
  const found = [
    { number: 1, loss: 50, cost: 0.05 },
    { number: 2, loss: 60, cost: 0.001 },
    { number: 3, loss: 0, cost: 0 },
  ];
  assert.deepEqual(worstMoves(found, 5).map((move) => move.number), [1, 2]);
  assert.deepEqual(worstMoves(found.map((move) => ({ ...move, cost: null })), 1).map((move) => move.number), [2]);
});

test("the next and the last mistake", () => {
  const found = [0, 0.05, 0.01, 0.03].map((cost) => ({ cost, loss: cost }));
  assert.deepEqual([otherMistake(found, 0, 1), otherMistake(found, 1, 1), otherMistake(found, 3, 1), otherMistake(found, 3, -1)], [1, 3, -1, 1]);
});

test("numbers", () => {
  assert.deepEqual([oneDigit(-0), oneDigit(-0.04), oneDigit(-0.06), count(-0.4), compact(-0), percent(-0)], ["0.0", "0.0", "-0.1", "0", "0", "0.0 %"]);
  assert.deepEqual([signed(-1234), signed(5), moves(1), moves(2000)], ["−1,234", "+5", "1 move", "2,000 moves"]);
  assert.deepEqual([shortSpec("heuristic:ms=2000.0"), shortSpec("uct:c=2.05"), shortSpec("x:ms=50.0,table=1.0")], ["heuristic:ms=2000", "uct:c=2.05", "x:ms=50,table=1"]);
});

test("specs of agents", () => {
  assert.deepEqual(splitSpec("expectimax:depth=3,model=minute"), { agent: "expectimax:model=minute", thought: "depth=3" });
  assert.deepEqual(splitSpec("heuristic:ms=50.0"), { agent: "heuristic", thought: "ms=50" });
  assert.deepEqual(splitSpec(""), { agent: "", thought: "" });
});

test("recorded games in a text", () => {
  const line = '{"format": "tilewright-game-1", "game": "2048"}';
  assert.deepEqual(readGames(`${line}\n\n  ${line}\r\n`), [line, line]);
  assert.deepEqual(readGames(`${line}${line} ${line}`), [line, line, line]);
  assert.deepEqual(readGames('{"format":"tilewright-game-1"}'), ['{"format":"tilewright-game-1"}']);
  assert.deepEqual(readGames(`{ "format":"tilewright-game-1"}`), ['{"format": "tilewright-game-1"}']);
  assert.deepEqual(readGames("2 2 4 0"), []);
});

test("links", () => {
  const link = linkTo({ origin: "http://h:1", pathname: "/" }, { game: "2048:rows=3", board: "11 hint=+", agent: "uct:c=2,rollouts=5" });
  const { name, link: read } = readHash(new URL(link).hash);
  assert.equal(name, "play");
  assert.deepEqual(read, { game: "2048:rows=3", board: "11 hint=+", agent: "uct:c=2,rollouts=5" });
  assert.deepEqual(readHash("#review"), { name: "review", link: {} });
});

test("paired differences", () => {
  assert.equal(pairedDifference([1], [2, 3]), null);
  const { games, mean, margin } = pairedDifference([3, 5, 10, 7], [1, 2, 3, 0, 99]);
  assert.deepEqual([games, mean], [4, 4.75]);
  assert.ok(Math.abs(margin - 3.182446 * Math.sqrt(6.916666667 / 4)) < 1e-6);
  assert.ok(Math.abs(studentPoint(29) - 2.04523) < 1e-3 && Math.abs(studentPoint(1000) - 1.962339) < 1e-5);
  assert.deepEqual([{ mean: 3, margin: 2 }, { mean: -3, margin: 2 }, { mean: 1, margin: 2 }].map(verdict), ["better", "worse", "open"]);
});

test("scores as CSV", () => {
  const players = [{ spec: "uct:c=2,rollouts=5", scores: [4, 8] }, { spec: "greedy", scores: [16] }];
  assert.equal(scoresAsCsv(players), 'game,"uct:c=2,rollouts=5",greedy\n0,4,16\n1,8,\n');
});

test("games are played out by an agent that does not search", () => {
  const agents = ["expectimax", "ntuple", "greedy", "ntuple:model=minute"].map((spec) => ({ spec }));
  assert.equal(quickAgent("expectimax:ms=50", agents), "ntuple");
  assert.equal(quickAgent("expectimax:model=minute,depth=2", agents), "ntuple:model=minute");
  assert.equal(quickAgent("expectimax:depth=2,model=minute", agents), "ntuple:model=minute");
  assert.equal(quickAgent("heuristic", [{ spec: "heuristic" }, { spec: "greedy" }]), "greedy");
});
