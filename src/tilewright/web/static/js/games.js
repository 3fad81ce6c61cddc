/** The games: what the server says of them, and boards in text. */

import { get } from "./api.js";

export const ACTIONS = ["up", "right", "down", "left"];
export const actionOf = (letter) => ACTIONS.find((action) => action[0] === letter);

let known = null;
const described = new Map();

/** All games; asked for once. */
export function games() {
  known ??= get("games").catch((error) => {
    known = null;
    throw error;
  });
  return known;
}

/** A game by its spec, `threes` or `2048:rows=3`: its size, its tiles and their colours. The server knows; the page does not. */
export function gameOf(spec) {
  if (!described.has(spec)) {
    const asked = get("game", { game: spec }).then((found) => ({ ...found, winTile: found.win_tile }));
    described.set(spec, asked);
    asked.catch(() => described.delete(spec));
  }
  return described.get(spec);
}

/** The name of a game with its variant. */
export const titleOf = (game) => (game.variant ? `${game.title} · ${game.variant}` : game.title);

/** `1120… hint=2 bag=143`, or numbers with slashes, to tiles row by row and the notes behind them. */
export function decode(code, game) {
  const words = code.replaceAll("/", " ").split(/\s+/).filter(Boolean);
  const notes = Object.fromEntries(words.filter((word) => word.includes("=")).map((word) => word.split("=")));
  const cells = words.filter((word) => !word.includes("="));
  const values = cells.length === 1 ? [...cells[0]].map((digit) => game.tiles[parseInt(digit, 16)]) : cells.map(Number);
  const tiles = Array.from({ length: game.rows }, (_, row) =>
    values.slice(row * game.columns, (row + 1) * game.columns),
  );
  return { tiles, notes };
}

/** Whether a board has the tile that wins. */
export function isWon(code, game) {
  return game.winTile !== null && Math.max(...decode(code, game).tiles.flat()) >= game.winTile;
}

/** Background and text colour of a tile; of dark and white text the one that is easier to read. */
export function colours(game, value) {
  const back = game.colours[game.tiles.indexOf(value)] ?? "#3c3a32";
  const light = luminance(back);
  return { back, fore: (light + 0.05) / (luminance("#2a2018") + 0.05) > 1.05 / (light + 0.05) ? "#2a2018" : "#ffffff" };
}

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((place) => {
    const part = parseInt(colour.slice(place, place + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
