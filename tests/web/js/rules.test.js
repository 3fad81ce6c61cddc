/** Moves by the rules' tables, compared with games that Python played: `games.json` has the tables and every position. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { tracks, withoutNewTile } from "../modules/board.js";
import { decode, isWon } from "../modules/games.js";
import { Rules } from "../modules/rules.js";

const games = JSON.parse(readFileSync(new URL("games.json", import.meta.url)));

for (const { game, tables, entries } of games) {
  const rules = new Rules(game, tables);
  const pairs = entries.slice(1).map((entry, i) => [entries[i], entry]);

  test(`${game.spec}: the page makes the moves of the server`, () => {
    assert.ok(pairs.length > 5);
    for (const [before, after] of pairs) {
      assert.equal(rules.legalCode(before[1]), before[4]);
      const made = rules.step(before, after[0]);
      assert.deepEqual(made, after);
    }
  });

  test(`${game.spec}: the slide alone is the board without its new tile`, () => {
    for (const [before, after] of pairs) {
      const slid = decode(rules.slideCode(before[1], after[0]), game).tiles;
      const [old, tiles] = [decode(before[1], game).tiles, decode(after[1], game).tiles];
      const added = tiles.flat().filter((value, i) => value !== slid.flat()[i]);
      assert.equal(added.length, 1);
      if (!game.merges_add_up) continue;
      assert.deepEqual(withoutNewTile(old, tiles, after[0]), slid);
      assert.equal(tracks(old, slid, after[0]).length, old.flat().filter(Boolean).length);
    }
  });

  test(`${game.spec}: an illegal move gives nothing`, () => {
    for (const [before] of pairs) {
      for (const action of ["up", "right", "down", "left"]) {
        if (!before[4].includes(action[0])) assert.equal(rules.step(before, action), null);
      }
    }
  });
}

test("boards that tables do not cover are left to the server", () => {
  const { game, tables } = games[0];
  const rules = new Rules(game, tables);
  const stream = "0".repeat(31) + "1";
  assert.equal(rules.step([null, "65536 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2", 0, stream, "rd"], "right"), null);
  assert.equal(rules.step([null, "ff00000000000000", 0, stream, "rdl"], "left"), null); // makes a 65536
  assert.equal(rules.legalCode("65536 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"), null);
  assert.equal(new Rules(game, { lines: null, spawn: null, deck: null }).step([null, "1100000000000000", 0, stream, "rdl"], "left"), null);
});

test("a win is that of the game", () => {
  const { game } = games[0];
  assert.ok(isWon("b000000000000000", { ...game, winTile: 2048 }));
  assert.ok(!isWon("a000000000000000", { ...game, winTile: 2048 }));
  assert.ok(isWon("a000000000000000", { ...game, winTile: 1024 }));
  assert.ok(!isWon("f000000000000000", { ...game, winTile: null }));
});
