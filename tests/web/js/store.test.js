/** The owner of the game in Play: tokens, undo across games, what is kept, and recordings. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { HUMAN, Store, isOwnGame, playersOf, readGame, recordingOf } from "../modules/store.js";

const start = [null, "1000", 0, "a", "rd"];
const entry = (move, code, score = 0, legal = "urdl") => [move, code, score, "b", legal];

function game(...moves) {
  const store = new Store();
  store.begin("2048", 7, start);
  moves.forEach((move, i) => store.add([entry(move, `${i}`, 4 * i)], HUMAN));
  return store;
}

test("a token dies with its position", () => {
  for (const change of [(s) => s.begin("threes", 1, start), (s) => s.add([entry("left", "9")], "x"), (s) => s.undo(), (s) => s.go(0)]) {
    const store = game("left");
    let cancelled = 0;
    const token = store.request("step", () => (cancelled += 1));
    assert.ok(store.isCurrent(token));
    change(store);
    assert.ok(!store.isCurrent(token));
    assert.equal(cancelled, 1);
    assert.equal(store.pending, null);
    assert.equal(store.extend(token, [entry("up", "8")], "late"), null);
  }
});

test("a request that goes on gets a new token with every move, and ends with another request", () => {
  const store = game();
  let cancelled = 0;
  const first = store.request("autoplay", () => (cancelled += 1));
  const second = store.extend(first, [entry("left", "1"), entry("down", "2")], "greedy");
  assert.ok(second && !store.isCurrent(first) && store.isPending("autoplay"));
  assert.equal(store.at, 2);
  assert.deepEqual(playersOf(store), [["greedy", 2]]);
  store.request("step");
  assert.equal(cancelled, 1);
  assert.ok(!store.isPending("autoplay") && store.isPending("step", "move"));
  store.finish(store.token);
  assert.equal(store.pending, null);
});

test("what was taken back is forgotten by another move", () => {
  const store = game("left", "down");
  store.undo();
  assert.ok(store.canRedo);
  store.add([entry("up", "7")], HUMAN);
  assert.deepEqual(store.entries.map((one) => one[0]), [null, "left", "up"]);
  assert.ok(!store.canRedo);
});

test("undo goes back to the game before, and redo to the one after", () => {
  const store = game("left", "down");
  store.begin("threes", 3, start);
  store.add([entry("up", "5")], HUMAN);
  store.undo();
  store.undo();
  assert.equal(store.spec, "2048");
  assert.equal(store.at, 2);
  store.redo();
  assert.equal(store.spec, "threes");
  assert.equal(store.at, 0);
  store.redo();
  assert.equal(store.at, 1);
});

test("a game without moves is not kept for undo", () => {
  const store = game();
  store.begin("threes", 3, start);
  assert.ok(!store.canUndo);
});

test("what the server says of moves holds, unless they were taken back", () => {
  const store = game("left", "down", "right");
  const [, second, third] = store.entries.slice(1);
  const same = [second, third].map((one) => one.slice(0, 5));
  assert.ok(store.confirm([second, third], same));
  assert.equal(store.entries.length, 4);
  assert.ok(!store.confirm([second, third], [entry("down", "other"), same[1]]));
  assert.deepEqual(store.entries.map((one) => one[1]), ["1000", "0", "other"]);
  store.undo();
  store.add([entry("up", "6")], HUMAN);
  assert.ok(store.confirm([third], [entry("right", "late")]));
  assert.equal(store.now[1], "6");
});

test("only a game of one's own from its beginning counts", () => {
  const store = game("left");
  assert.ok(isOwnGame(store));
  store.add([entry("down", "3")], "greedy");
  assert.ok(!isOwnGame(store));
  store.undo();
  assert.ok(isOwnGame(store));
  store.begin("2048", null, start);
  assert.ok(!isOwnGame(store));
});

test("a recording ends where the game is shown, and says who moved when", () => {
  const store = game("left", "down");
  store.add([entry("up", "3", 12, "")], "greedy");
  const line = JSON.parse(recordingOf(store));
  assert.deepEqual(line.players, [[HUMAN, 2], ["greedy", 1]]);
  assert.equal(line.agent, "human + greedy");
  assert.deepEqual([line.score, line.over, line.moves.length], [12, true, 3]);
  store.undo();
  assert.equal(JSON.parse(recordingOf(store)).moves.length, 2);
});

test("what a browser kept is checked", () => {
  const kept = { spec: "2048", seed: 7, at: 9, entries: [start, ["left", "1", 0, "b", "ur"]], players: ["greedy"] };
  assert.deepEqual(readGame(kept).entries[1][5], "greedy");
  assert.equal(readGame(kept).at, 1);
  assert.deepEqual(readGame({ ...kept, players: ["human", "greedy"] }).entries[1][5], "unknown");
  for (const wrong of [null, [], {}, { spec: 3 }, { ...kept, entries: [] }, { ...kept, entries: [[1]] }, { ...kept, entries: "x" }]) {
    assert.equal(readGame(wrong), null);
  }
});
