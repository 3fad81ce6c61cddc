/** The games: what the server says of them, and boards in text. */

import { get } from "./api.js";

export const ACTIONS = ["up", "right", "down", "left"];

let known = null;

/** All games; asked for once. */
export async function games() {
  known ??= get("games");
  return known;
}

/** A game by its spec, `threes` or `2048:rows=3`: its size, its tiles and their colours. */
export async function gameOf(spec) {
  const [name, words = ""] = spec.split(":");
  const entry = (await games()).find((game) => game.name === name);
  if (!entry) throw new Error(`there is no game ${name}`);
  const options = Object.fromEntries(entry.options.map((option) => [option.name, option.default]));
  for (const word of words.split(",").filter(Boolean)) {
    const [key, value] = word.split("=");
    options[key] = value;
  }
  return {
    spec,
    name,
    title: name === "threes" ? "Threes" : name,
    rows: Number(options.rows),
    columns: Number(options.columns),
    tiles: entry.tiles,
    winTile: Number(options.win_tile) || entry.win_tile,
    colours: entry.colours,
  };
}

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

/** Background and text colour of a tile; of dark and white text the one that is easier to read. */
export function colours(game, value) {
  const back = game.colours[game.tiles.indexOf(value)] ?? "#3c3a32";
  const light = luminance(back);
  return { back, fore: (light + 0.05) / (luminance("#33291f") + 0.05) > 1.05 / (light + 0.05) ? "#33291f" : "#ffffff" };
}

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((place) => {
    const part = parseInt(colour.slice(place, place + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
