// ==UserScript==
// @name         tilewright on 2048
// @description  Shows an agent's values of the moves beside the original 2048, and plays it on request.
// @match        https://play2048.co/*
// @match        https://gabrielecirulli.github.io/2048/*
// @match        http://127.0.0.1:*/*
// @grant        none
// @version      1
// ==/UserScript==

/*
 * Needs a server on this machine that trusts the page:
 *
 *     tilewright serve --no-open --allow-origin https://play2048.co
 *
 * Tiles are read from the page: `.tile.tile-64.tile-position-3-1` is a 64 in column 3 of row 1. Moves are made by key
 * events. Another server or agent: localStorage["tilewright.server"], localStorage["tilewright.agent"].
 */

(() => {
  const SERVER = localStorage["tilewright.server"] ?? "http://127.0.0.1:2048";
  const AGENT = localStorage["tilewright.agent"] ?? "";
  const KEYS = { up: ["ArrowUp", 38], right: ["ArrowRight", 39], down: ["ArrowDown", 40], left: ["ArrowLeft", 37] };
  const SIGNS = { up: "↑", right: "→", down: "↓", left: "←" };
  const QUIET_FRAMES = 2; // without a change, after which the tiles have arrived

  /** The tiles as 4 rows of values. Where tiles merge there are several in a cell for a moment; the largest counts. */
  function readBoard(page = document) {
    const board = Array.from({ length: 4 }, () => [0, 0, 0, 0]);
    for (const tile of page.querySelectorAll(".tile")) {
      const value = /(?:^| )tile-(\d+)(?: |$)/.exec(tile.className);
      const place = /tile-position-([1-4])-([1-4])/.exec(tile.className);
      if (!value || !place) continue;
      const [column, row] = [place[1] - 1, place[2] - 1];
      board[row][column] = Math.max(board[row][column], Number(value[1]));
    }
    return board;
  }

  function press(move) {
    const [key, code] = KEYS[move];
    for (const kind of ["keydown", "keyup"]) {
      const event = new KeyboardEvent(kind, { key, code: key, bubbles: true, cancelable: true });
      for (const name of ["keyCode", "which"]) Object.defineProperty(event, name, { value: code }); // what older pages read
      (document.activeElement ?? document.body).dispatchEvent(event);
    }
  }

  const panel = document.createElement("aside");
  const rows = Object.fromEntries(Object.keys(KEYS).map((move) => [move, document.createElement("div")]));
  const button = document.createElement("button");
  const note = document.createElement("small");
  panel.id = "tilewright";
  panel.style.cssText =
    "position:fixed;right:12px;bottom:12px;z-index:9999;width:170px;padding:10px 12px;border-radius:10px;" +
    "background:#fffdfa;color:#2e2823;border:1px solid #b9aa9a;font:14px/1.6 system-ui,sans-serif";
  for (const [move, row] of Object.entries(rows)) row.dataset.move = move;
  panel.append(...Object.values(rows), button, note);
  document.body.append(panel);

  let isPlaying = false;
  let shown = ""; // the board that the values belong to
  let quiet = 0;

  function show(advice) {
    for (const [move, row] of Object.entries(rows)) {
      const value = advice?.values[move];
      row.textContent = `${SIGNS[move]} ${value === undefined ? "–" : value.toLocaleString("en", { maximumFractionDigits: 1 })}`;
      row.style.fontWeight = move === advice?.move ? "700" : "400";
    }
    panel.dataset.best = advice?.move ?? "";
    button.textContent = isPlaying ? "Stop" : "Play";
    note.style.display = "block";
  }

  /** Ask about the tiles as they are; while it plays, make the best move. */
  async function look() {
    const text = readBoard().map((row) => row.join(" ")).join(" / ");
    if (text === shown || !/[1-9]/.test(text)) return;
    shown = text;
    try {
      const query = new URLSearchParams(AGENT ? { board: text, agent: AGENT } : { board: text });
      const answer = await fetch(`${SERVER}/api/v1/move?${query}`);
      const advice = await answer.json();
      if (!answer.ok) throw new Error(advice.reason);
      if (shown !== text) return;
      note.textContent = advice.agent;
      if (!advice.move) isPlaying = false;
      show(advice);
      if (isPlaying) press(advice.move);
    } catch (error) {
      shown = isPlaying = false;
      note.textContent = `${SERVER}: ${error.message}`;
      show(null);
    }
  }

  /** Look when nothing has moved for some frames. */
  function settle() {
    quiet += 1;
    if (quiet <= QUIET_FRAMES) requestAnimationFrame(settle);
    else look();
  }

  new MutationObserver((changes) => {
    if (changes.every(({ target }) => panel.contains(target))) return;
    const isWaiting = quiet <= QUIET_FRAMES;
    quiet = 0;
    if (!isWaiting) requestAnimationFrame(settle);
  }).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });

  button.addEventListener("click", () => {
    isPlaying = !isPlaying;
    shown = "";
    button.blur();
    look();
  });
  show(null);
  settle();
})();
