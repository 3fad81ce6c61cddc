/** A board as a picture. */

import { colours } from "./games.js";

const CELL = 160;
const GAP = 16;

/** Draw tiles on a new canvas: rows of values, 0 is empty. */
export function drawBoard(tiles, game, words) {
  const [width, height] = [tiles[0].length, tiles.length].map((n) => n * CELL + (n + 1) * GAP);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height: height + 56 });
  const pen = canvas.getContext("2d");
  const box = (x, y, w, h, colour, round) => {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect(x, y, w, h, round);
    pen.fill();
  };
  box(0, 0, width, height + 56, "#f6f1e9", 0);
  box(0, 0, width, height, "#b9aa9a", 20);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  tiles.forEach((line, row) =>
    line.forEach((value, column) => {
      const [x, y] = [GAP + column * (CELL + GAP), GAP + row * (CELL + GAP)];
      const { back, fore } = value ? colours(game, value) : { back: "#cfc3b5", fore: "" };
      box(x, y, CELL, CELL, back, 14);
      if (!value) return;
      pen.fillStyle = fore;
      pen.font = `700 ${[0, 72, 68, 54, 43, 35, 29][String(value).length] ?? 24}px system-ui, sans-serif`;
      pen.fillText(String(value), x + CELL / 2, y + CELL / 2);
    }),
  );
  pen.fillStyle = "#2e2823";
  pen.font = "500 26px system-ui, sans-serif";
  pen.fillText(words, width / 2, height + 30, width - 2 * GAP);
  return canvas;
}
