/** The visitor's games, kept in this browser (IndexedDB); a browser that forbids it keeps none. */

import { isOwnGame, playersOf, recordingOf } from "./store.js";

const FEWEST = 10; // moves of a game that is worth keeping

let opened = null;
let keeping = Promise.resolve(); // the games that are being kept

function database() {
  opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open("tilewright", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("games", { keyPath: "id" });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  return opened;
}

async function transact(mode, act) {
  const found = await database();
  return new Promise((resolve, reject) => {
    const asked = act(found.transaction("games", mode).objectStore("games"));
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

/** What the library says of a game: its result, who played, and the recording itself. */
export function entryFor(game, now) {
  const last = game.entries[game.at];
  return {
    id: game.id,
    date: now,
    spec: game.spec,
    score: last[2],
    moves: game.at,
    over: last[4] === "",
    own: isOwnGame(game),
    players: playersOf(game).map(([player]) => player),
    accuracy: null,
    line: recordingOf(game),
  };
}

/** Keep a game, or what has become of it since; short ones are not worth it. Whoever lists games after this sees it. */
export function keepGame(game) {
  keeping = keeping.then(() => keep(game));
  return keeping;
}

async function keep(game) {
  if (game.at < FEWEST || !game.id) return;
  const known = await transact("readonly", (games) => games.get(game.id)).catch(() => null);
  if (known && known.moves > game.at) return;
  const entry = { ...entryFor(game, Date.now()), accuracy: known?.moves === game.at ? known.accuracy : null };
  await transact("readwrite", (games) => games.put(entry)).catch(() => {});
}

/** All games, the newest first. */
export async function allGames() {
  await keeping;
  const found = await transact("readonly", (games) => games.getAll()).catch(() => []);
  return found.sort((a, b) => b.date - a.date);
}

/** Note how accurate a game was. */
export async function noteAccuracy(line, accuracy) {
  const found = (await allGames()).find((game) => game.line === line);
  if (found) await transact("readwrite", (games) => games.put({ ...found, accuracy })).catch(() => {});
}

export const forgetGame = (id) => transact("readwrite", (games) => games.delete(id)).catch(() => {});

/** Personal statistics of the visitor's own finished games of one spec: [{spec, games, best, mean, accuracy}]. */
export function statisticsOf(games) {
  const bySpec = new Map();
  for (const game of games.filter((one) => one.own && one.over)) bySpec.set(game.spec, [...(bySpec.get(game.spec) ?? []), game]);
  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
  return [...bySpec].map(([spec, found]) => ({
    spec,
    games: found.length,
    best: Math.max(...found.map((game) => game.score)),
    mean: mean(found.map((game) => game.score)),
    accuracy: mean(found.map((game) => game.accuracy).filter((value) => value !== null)),
  }));
}
