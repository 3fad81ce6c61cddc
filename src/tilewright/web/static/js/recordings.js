/** Recorded games: lines of text in, games for Play out. */

import { get, post } from "./api.js";
import { Rules } from "./rules.js";

/** The recorded games in a text, one line each; lines of other kinds are left out, and a line break may be lost. */
export function readGames(text) {
  return text
    .replace(/\}[ \t]*(?=\{\s*"format")/g, "}\n")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^\{\s*"format"\s*:\s*"tilewright-game-/.test(line))
    .map((line) => (/^\{"format": ?"/.test(line) ? line : line.replace(/^\{\s*"format"\s*:\s*/, '{"format": ')));
}

/** Whether a text is a whole game: a recorded one, or a replay of 2048verse. */
export const isWholeGame = (text) => readGames(text).length > 0 || /^(replay |\dx\d-[^_]*_)/.test(text);

/** The recorded games in a text; a replay of 2048verse is made one by the server, which may refuse by throwing. */
export async function readAnyGames(text) {
  const found = readGames(text);
  if (found.length || !isWholeGame(text)) return found;
  return [(await post("replays", { text })).recording];
}

/** A stream that nobody has used: 32 hexadecimal digits. */
export function newStream() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A recorded game as Play has it, at the position before move number `at`, counted from 0. */
export async function gameFrom(recording, game, at, moves) {
  const [first, tables] = await Promise.all([
    get("board", { game: game.spec, board: recording.start }),
    get("rules", { game: game.spec }),
  ]);
  const rules = new Rules(game, tables);
  const stream = newStream();
  const legalOf = (code) => rules.legalCode(code) ?? "urdl"; // where the tables do not say, the server refuses
  const entries = recording.moves.map(([move, code, score], i) => [move, code, score, stream, legalOf(code), moves[i].player]);
  return { spec: game.spec, seed: null, entries: [[null, first.code, first.score, stream, legalOf(first.code)], ...entries], at };
}
