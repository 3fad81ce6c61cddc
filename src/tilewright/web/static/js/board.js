/** A board on the screen: tiles that slide, merge and appear. */

import { colours } from "./games.js";
import { make, svg } from "./dom.js";
import { t } from "./language.js";

const PACE = 110; // milliseconds of a slide

/** The cells of each line, from the wall that tiles move towards. */
function linesOf(action, rows, columns) {
  const across = action === "left" || action === "right";
  const found = [];
  for (let line = 0; line < (across ? rows : columns); line++) {
    const cells = [];
    for (let i = 0; i < (across ? columns : rows); i++) cells.push(across ? [line, i] : [i, line]);
    if (action === "right" || action === "down") cells.reverse();
    found.push(cells);
  }
  return found;
}

/**
 * Where every tile goes: [from, to, merges]. Where tiles merge by adding up, a tile after the move was made of as many
 * tiles before it, counted from the wall, as add up to it. Null for a game whose tiles merge in another way.
 */
export function tracks(before, after, action) {
  const found = [];
  for (const cells of linesOf(action, before.length, before[0].length)) {
    const tiles = cells.filter(([row, column]) => before[row][column]);
    let next = 0;
    for (const to of cells) {
      const wanted = after[to[0]][to[1]];
      const parts = [];
      let sum = 0;
      for (; sum < wanted && next < tiles.length; next++) {
        parts.push(tiles[next]);
        sum += before[tiles[next][0]][tiles[next][1]];
      }
      if (sum !== wanted) return null;
      for (const from of parts) found.push([from, to, parts.length > 1]);
    }
    if (next < tiles.length) return null;
  }
  return found;
}

/**
 * The board between the slide and the new tile. A slide keeps the sum of every line, so the line that grew has the new
 * tile; it is the one farthest from the wall.
 */
export function withoutNewTile(before, tiles, action) {
  const after = tiles.map((row) => [...row]);
  for (const cells of linesOf(action, tiles.length, tiles[0].length)) {
    const sum = (board) => cells.reduce((all, [row, column]) => all + board[row][column], 0);
    if (sum(tiles) === sum(before)) continue;
    const [row, column] = cells.findLast(([i, k]) => tiles[i][k]);
    after[row][column] = 0;
  }
  return after;
}

export class Board {
  constructor(element) {
    this.element = element;
    this.game = null;
    this.tiles = null;
    this.places = new Map(); // "row,column" to the element of its tile
    this.timer = 0;
    element.setAttribute("role", element.hasAttribute("tabindex") ? "group" : "img"); // a group may hold buttons
  }

  setGame(game) {
    if (this.game?.spec === game.spec) return;
    this.game = game;
    const { rows, columns } = game;
    this.element.style.setProperty("--rows", rows);
    this.element.style.setProperty("--columns", columns);
    this.element.style.aspectRatio = 1 / (rows / columns + (0.096 / columns) * (1 - rows / columns));
    this.element.replaceChildren();
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        this.element.append(make("div", { class: "cell", "--r": row, "--c": column }));
      }
    }
    this.tiles = null;
    this.places.clear();
  }

  /** The board at once, without any motion. */
  show(tiles) {
    this.#clear();
    this.element.classList.remove("smooth");
    for (const place of this.places.values()) place.remove();
    this.places.clear();
    tiles.forEach((line, row) => line.forEach((value, column) => value && this.#put(row, column, value)));
    this.#done(tiles);
  }

  /** A move: tiles slide to `after`, merged ones pop, and the new one of `tiles` appears. */
  slide(action, after, tiles) {
    const moved = this.tiles && tracks(this.tiles, after, action);
    if (!moved) return this.show(tiles);
    if (this.timer) this.show(this.tiles);
    void this.element.offsetWidth; // what was put down without motion stays so
    this.element.classList.add("smooth");
    const places = new Map();
    const merging = [];
    for (const [[row, column], [toRow, toColumn], merges] of moved) {
      const tile = this.places.get(`${row},${column}`);
      tile.style.setProperty("--r", toRow);
      tile.style.setProperty("--c", toColumn);
      tile.classList.remove("new", "made");
      if (merges) merging.push([tile, toRow, toColumn]);
      else places.set(`${toRow},${toColumn}`, tile);
    }
    this.places = places;
    tiles.forEach((line, row) =>
      line.forEach((value, column) => value && !after[row][column] && this.#put(row, column, value, "new")),
    );
    this.timer = setTimeout(() => {
      this.timer = 0;
      for (const [tile, row, column] of merging) {
        tile.remove();
        if (!this.places.has(`${row},${column}`)) this.#put(row, column, after[row][column], "made");
      }
    }, PACE * 0.9);
    this.#done(tiles);
  }

  /** The new tile of a move whose slide is shown already. */
  appear(tiles) {
    const known = this.tiles?.every((line, row) => line.every((value, column) => !value || value === tiles[row][column]));
    if (!known) return this.show(tiles);
    tiles.forEach((line, row) =>
      line.forEach((value, column) => value && !this.tiles[row][column] && this.#put(row, column, value, "new")),
    );
    this.#done(tiles);
  }

  /** A move that is not possible. */
  nudge(action) {
    const [x, y] = { up: [0, -1], right: [1, 0], down: [0, 1], left: [-1, 0] }[action];
    this.element.style.setProperty("--nx", `${6 * x}px`);
    this.element.style.setProperty("--ny", `${6 * y}px`);
    this.element.classList.remove("nudge");
    void this.element.offsetWidth;
    this.element.classList.add("nudge");
  }

  /** An arrow over the board in the direction of a move, or none. */
  arrow(action = null) {
    this.element.querySelector(".arrow")?.remove();
    if (!action) return;
    const drawing = svg("svg", { class: `arrow ${action}`, viewBox: "-50 -50 100 100", "aria-hidden": "true", "data-move": action });
    const turn = { up: 0, right: 90, down: 180, left: 270 }[action];
    drawing.append(svg("path", { d: "M-7 36V-8H-20L0 -36 20 -8H7V36Z", transform: `rotate(${turn})` }));
    this.element.append(drawing);
  }

  /** Cells that can be chosen: [{row, column}]; `pick(i)` is called when one is. */
  spots(spots, pick = () => {}) {
    for (const old of this.element.querySelectorAll(".spot")) old.remove();
    spots.forEach(({ row, column }, i) => {
      const about = { type: "button", class: "spot", "--r": row, "--c": column };
      const button = make("button", { ...about, "aria-label": t("edit.cell", { row: row + 1, column: column + 1 }) });
      button.addEventListener("click", () => pick(i));
      this.element.append(button);
    });
  }

  markSpot(i) {
    this.element.querySelectorAll(".spot").forEach((spot, k) => spot.setAttribute("aria-pressed", String(k === i)));
  }

  /** Words over the board, or none. */
  veil(...content) {
    this.element.querySelector(".veil")?.remove();
    if (content.length) this.element.append(make("div", { class: "veil" }, ...content));
  }

  #put(row, column, value, kind = "") {
    const { back, fore } = colours(this.game, value);
    const digits = String(value).length;
    const size = [0, 46, 43, 34, 27, 22, 18][digits] ?? 100 / digits;
    const looks = { "--r": row, "--c": column, "--back": back, "--fore": fore, "--size": size };
    const tile = make("div", { class: `tile ${kind}`.trim(), "aria-hidden": "true", ...looks }, String(value));
    this.places.set(`${row},${column}`, tile);
    this.element.append(tile);
  }

  #clear() {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const tile of this.element.querySelectorAll(".tile")) tile.remove();
  }

  #done(tiles) {
    this.tiles = tiles;
    const rows = tiles.map((row, i) => t("board.row", { row: i + 1, tiles: row.map((value) => value || t("board.empty")).join(" ") }));
    this.element.setAttribute("aria-label", t("board.label", { rows: rows.join(". ") }));
  }
}
