/** Lines of a game, curves, languages, the description of the API, and what follow mode asks. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { logTicks, smooth } from "../modules/chart.js";
import { labelOf, spotsOf } from "../modules/follow.js";
import { chooseLanguage, setLanguage, t } from "../modules/language.js";
import { limitsOf, operationsOf, typeOf } from "../modules/openapi.js";
import { isWholeGame } from "../modules/recordings.js";
import { HUMAN, Store, readGame, variationsOf } from "../modules/store.js";

const read = (code) => JSON.parse(readFileSync(new URL(`../lang/${code}.json`, import.meta.url)));
const entry = (move, code) => [move, code, 0, "s", "urdl"];

function analysed() {
  const store = new Store();
  store.open({ spec: "2048", seed: null, entries: [entry(null, "0"), ...["left", "up", "down"].map((move, i) => entry(move, `${i + 1}`))], at: 1 });
  store.analyse();
  return store;
}

test("a move that leaves the main line begins a variation, and nothing is lost", () => {
  const store = analysed();
  store.add([entry("right", "x")], HUMAN);
  store.add([entry("right", "y")], HUMAN);
  assert.deepEqual(store.entries.map((one) => one[1]), ["0", "1", "x", "y"]);
  assert.deepEqual(variationsOf(store), [[2, "right"]]);
  store.toLine(0);
  assert.deepEqual([store.at, store.entries.map((one) => one[1])], [1, ["0", "1", "2", "3"]]);
  store.go(2);
  store.add([entry("left", "z")], HUMAN);
  assert.deepEqual(store.lines.map((line) => line.map((one) => one[1]).join("")), ["0123", "01xy", "012z"]);
  store.toLine(1);
  assert.equal(store.now[1], "x");
});

test("a move at the end of a line makes it longer", () => {
  const store = analysed();
  store.go(3);
  store.add([entry("left", "4")], HUMAN);
  assert.deepEqual(store.lines.map((line) => line.length), [5]);
});

test("lines are kept and taken up again", () => {
  const store = analysed();
  store.add([entry("right", "x")], HUMAN);
  const other = new Store();
  assert.ok(other.restore(JSON.parse(JSON.stringify(store.snapshot()))));
  assert.deepEqual([other.line, other.now[1]], [1, "x"]);
  assert.deepEqual(variationsOf(other), [[2, "right"]]);
  other.toLine(0);
  assert.equal(other.at, 1);
  assert.deepEqual(readGame({ ...store.snapshot(), lines: [["nonsense"]] }).lines, []);
});

test("means of points, and round numbers on a logarithmic axis", () => {
  assert.deepEqual(smooth([[1, 2], [2, 4], [3, 9]], 1), [[1, 2], [2, 4], [3, 9]]);
  assert.deepEqual(smooth([[1, 2], [2, 4], [3, 9]], 2), [[1, 2], [2, 3], [3, 6.5]]);
  assert.deepEqual(logTicks(3, 60), [5, 10, 20, 50]);
  assert.deepEqual(logTicks(1, 100_000), [1, 10, 100, 1000, 10_000, 100_000]);
});

test("the language is the first that there is; texts have forms and numbers of their language", () => {
  assert.equal(chooseLanguage(["fr-FR", "de-AT", "en"], ["en", "de"]), "de");
  assert.equal(chooseLanguage(["fr"], ["en", "de"]), "en");
  setLanguage("de", read("de"));
  assert.equal(t("moves", { n: 1 }), "1 Zug");
  assert.equal(t("moves", { n: 12345 }), "12.345 Züge");
  setLanguage("zh", read("zh"));
  assert.equal(t("moves", { n: 1 }), "1 步");
  assert.equal(t("there.is.no.such"), "there.is.no.such");
});

test("what may follow a move, by cell", () => {
  const game = { rows: 2, columns: 2, tiles: [0, 2, 4, 8] };
  const outcomes = [["1300", 0, "u", 0.45], ["2300", 0, "u", 0.05], ["0310", 0, "d", 0.5]];
  const spots = spotsOf({ after: [[0, 8], [0, 0]], outcomes }, "left", game, "s");
  assert.deepEqual(spots.map(({ row, column, choices }) => [row, column, choices.map((one) => labelOf(one, choices))]), [
    [0, 0, ["2", "4"]],
    [1, 0, ["2"]],
  ]);
  assert.deepEqual(spots[0].choices[1].entry, ["left", "2300", 0, "s", "u"]);
});

test("operations of a description with types and limits", () => {
  const seed = { type: "integer", minimum: 0, maximum: 9, default: 3 };
  const body = { properties: { text: { type: "string", maxLength: 5 } }, required: ["text"] };
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Body" } } };
  const paths = {
    "/a": {
      get: { operationId: "look", description: "Looks.", parameters: [{ name: "seed", in: "query", schema: seed }] },
      post: { operationId: "make", summary: "Makes.", requestBody: { content } },
    },
  };
  const [look, make] = operationsOf({ paths, components: { schemas: { Body: body } } });
  assert.deepEqual([look.method, look.id, look.fields[0].example, limitsOf(seed)], ["GET", "look", "3", "0 … 9 = 3"]);
  assert.deepEqual([make.fields[0].name, make.fields[0].isRequired, limitsOf(make.fields[0].schema)], ["text", true, " … 5"]);
  assert.equal(typeOf({ anyOf: [{ enum: ["up", "left"] }, { type: "null" }] }), "up | left");
});

test("whole games and boards are told apart", () => {
  assert.ok(isWholeGame("replay  !`") && isWholeGame("4x4-x_000") && isWholeGame('{"format": "tilewright-game-1", "game": "2048"}'));
  assert.ok(!isWholeGame("2 2 4 0 / 0 0 0 0") && !isWholeGame("https://2048verse.com/p/1120000000000001"));
});
