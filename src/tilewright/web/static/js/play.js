/** The view Play: a game, and an agent to ask or to watch. */

import { get, open, post } from "./api.js";
import { Bars } from "./bars.js";
import { Board, withoutNewTile } from "./board.js";
import { askForBoard, askForGame } from "./dialogs.js";
import { $, SPEEDS, count, make, memory, oneDigit, speedName } from "./dom.js";
import { colours, decode, gameOf } from "./games.js";
import { onSwipe } from "./gestures.js";
import { Picker } from "./picker.js";
import { Record, entryOf } from "./record.js";

const KEYS = {
  ArrowUp: "up", w: "up", k: "up",
  ArrowRight: "right", d: "right", l: "right",
  ArrowDown: "down", s: "down", j: "down",
  ArrowLeft: "left", a: "left", h: "left",
};
const SMOOTH_UP_TO = 9; // moves a second: faster ones are shown without motion
const THINKS_LONG = 400; // milliseconds after which a visitor is told so
const MOST_WAITING = 3; // moves that are typed ahead

export const record = new Record();
const board = new Board($("board"));
const bars = new Bars($("bars"), (action) => humanMoves(action));
const picker = new Picker($("ask-agent"), () => {
  memory.set(`agent.${game.name}`, picker.spec);
  if (autoplay) restartAutoplay();
  ask();
});

let game = null;
let waiting = []; // moves that were typed while one is under way
let busy = false;
let autoplay = null; // the open socket
let asking = null; // what is under way to the agent
let entered = false;

// Showing

function say(words) {
  $("said").textContent = words;
}

/** Bring everything on the screen in line with the position. */
function refresh(motion = null) {
  const [, code, score, , legal] = record.now;
  const { tiles, notes } = decode(code, game);
  if (motion) board.slide(motion.move, motion.after, tiles);
  else board.show(tiles);
  $("score").textContent = count(score);
  const best = memory.get("best", {});
  if (record.seed !== null && score > (best[record.spec] ?? 0)) memory.set("best", { ...best, [record.spec]: score });
  $("best").textContent = count(Math.max(record.seed === null ? 0 : score, best[record.spec] ?? 0));
  const moves = record.at === 1 ? "1 move" : `${count(record.at)} moves`;
  $("game-about").textContent = `${moves} · ${record.seed === null ? "own board" : `seed ${record.seed}`}`;
  $("undo").disabled = record.at === 0;
  $("redo").disabled = record.at === record.entries.length - 1;
  $("to-review").disabled = $("save").disabled = record.at === 0;
  $("auto").disabled = $("step").disabled = legal === "";
  showHint(notes.hint);
  const over = legal === "";
  if (over) {
    const again = make("button", { type: "button", class: "main" }, "New game");
    again.addEventListener("click", newGame);
    board.veil(make("div", {}, make("strong", {}, "Game over"), `${count(score)} points in ${moves}`), again);
  } else board.veil();
}

function showHint(hint) {
  $("hint").hidden = game.name !== "threes";
  const shown = $("hint").querySelector("b");
  shown.textContent = hint ? (hint.startsWith("+") ? "+" : hint) : "?";
  const { back, fore } = colours(game, Number(hint) || 6);
  shown.style.background = back;
  shown.style.color = fore;
  $("hint").setAttribute("aria-label", hint ? `Next tile: ${hint}` : "The next tile is not known");
}

/** Another game is on the table. */
async function changeGame() {
  game = await gameOf(record.spec);
  board.setGame(game);
  $("game-name").textContent = game.title;
  refresh();
  say("");
  await picker.load(record.spec, memory.get(`agent.${game.name}`, undefined));
  ask();
}

// Asking

/** Ask the agent about the position on the screen; an older question is given up. */
async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  const entry = record.now;
  const code = entry[1];
  if (entry[4] === "") {
    bars.clear();
    $("ask-note").textContent = "";
    return;
  }
  const patience = setTimeout(() => asking === mine && ($("ask-note").textContent = "thinking…"), THINKS_LONG);
  try {
    const advice = await get("move", { game: record.spec, board: code, agent: picker.spec }, mine.signal);
    if (asking !== mine) return;
    bars.show(advice);
    $("bars").dataset.board = advice.text;
    $("ask-note").textContent = `${advice.agent} thought for ${oneDigit(1000 * advice.seconds)} ms${advice.unit ? `; values: ${advice.unit}` : ""}`;
  } catch (error) {
    if (error.name === "AbortError") return;
    bars.clear();
    $("ask-note").textContent = error.message;
  } finally {
    clearTimeout(patience);
  }
}

let askSoon = 0;

/** While moves come fast, ask only now and then. */
function askLater() {
  askSoon ||= setTimeout(() => {
    askSoon = 0;
    ask();
  }, 150);
}

// Moving

async function humanMoves(action) {
  if (autoplay) stopAutoplay();
  await move(action);
}

async function move(action) {
  if (busy) {
    if (waiting.length < MOST_WAITING) waiting.push(action);
    return;
  }
  const [, code, score, stream, legal] = record.now;
  if (!legal.includes(action[0])) {
    board.nudge(action);
    say(legal ? `${action} moves nothing` : "");
    return;
  }
  busy = true;
  try {
    accept(await post("step", { game: record.spec, board: code, score, stream, move: action }), "human");
  } catch (error) {
    say(error.message);
  } finally {
    busy = false;
  }
  if (waiting.length) await move(waiting.shift());
}

function accept(position, player) {
  const wonBefore = wins(record.now);
  record.add([entryOf(position)], player);
  refresh({ move: position.move, after: position.after });
  if (position.over) say(`game over: ${count(position.score)} points`);
  else if (position.won && !wonBefore) say(`${position.largest}: you have won, and may go on`);
  else say("");
  ask();
}

function wins(entry) {
  const largest = Math.max(...decode(entry[1], game).tiles.flat());
  return game.winTile !== null && largest >= game.winTile;
}

async function agentMoves() {
  if (autoplay) stopAutoplay();
  if (busy || record.isOver) return;
  busy = true;
  const [, code, score, stream] = record.now;
  try {
    const agent = picker.spec;
    accept(await post("step", { game: record.spec, board: code, score, stream, agent }), agent);
  } catch (error) {
    say(error.message);
  } finally {
    busy = false;
  }
}

function travel(by) {
  stopAutoplay();
  waiting = [];
  if (busy) return;
  record.go(record.at + by);
  refresh();
  say("");
  ask();
}

// Autoplay

const speed = () => SPEEDS[Number($("speed").value)];

function startAutoplay() {
  if (autoplay || record.isOver) return;
  const [, code, score, stream] = record.now;
  const agent = picker.spec;
  const request = { game: record.spec, board: code, score, stream, agent, speed: speed() };
  autoplay = open("autoplay", request, {
    message: (answer) => autoplayed(answer, agent),
    closed: () => {
      autoplay = null;
      showAutoplay();
    },
  });
  say("");
  showAutoplay();
}

function autoplayed(answer, agent) {
  if (answer.reason) return say(answer.reason);
  if (!answer.moves) return say(`game over: ${count(record.now[2])} points`);
  const before = decode(record.now[1], game).tiles;
  record.add(answer.moves, agent);
  const [move, code] = answer.moves[0];
  const single = answer.moves.length === 1 && speed() && speed() <= SMOOTH_UP_TO;
  refresh(single ? { move, after: withoutNewTile(before, decode(code, game).tiles, move) } : null);
  askLater();
}

function stopAutoplay() {
  autoplay?.close();
  autoplay = null;
  showAutoplay();
}

function restartAutoplay() {
  stopAutoplay();
  startAutoplay();
}

function showAutoplay() {
  $("auto").setAttribute("aria-pressed", String(Boolean(autoplay)));
  $("auto").textContent = autoplay ? "Pause" : "Autoplay";
}

function showSpeed() {
  $("speed-text").textContent = speedName(speed());
  memory.set("speed", Number($("speed").value));
  autoplay?.send({ speed: speed() });
}

// Games

async function begin(spec, seed) {
  const position = await get("start", { game: spec, seed });
  table(spec, seed, position);
}

async function table(spec, seed, position) {
  stopAutoplay();
  waiting = [];
  record.begin(position.game ?? spec, seed, entryOf(position));
  say("");
  await changeGame();
  $("board").focus({ preventScroll: true });
}

function newGame() {
  stopAutoplay();
  askForGame(record.spec, begin);
}

function editBoard() {
  stopAutoplay();
  askForBoard(game, record.now[1], (position) => table(record.spec, null, position));
}

function save() {
  const file = new Blob([`${record.line()}\n`], { type: "application/x-ndjson" });
  const link = make("a", { href: URL.createObjectURL(file), download: `${game.name}-${record.now[2]}.jsonl` });
  link.click();
  URL.revokeObjectURL(link.href);
}

// Keys

function onKey(event) {
  if ($("view-play").hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (target.closest("input, select, textarea")) return;
  const onButton = Boolean(target.closest("button, a"));
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const actions = { u: () => travel(-1), r: () => travel(1), n: newGame };
  if (!onButton) Object.assign(actions, { Enter: agentMoves, " ": () => (autoplay ? stopAutoplay() : startAutoplay()) });
  const action = KEYS[key] ? () => humanMoves(KEYS[key]) : actions[key];
  if (!action) return;
  event.preventDefault();
  action();
}

function onPaste(event) {
  if ($("view-play").hidden || event.target.closest?.("input, textarea")) return;
  const text = event.clipboardData?.getData("text");
  if (!text?.trim()) return;
  get("board", { game: record.spec, board: text })
    .then((position) => table(record.spec, null, position))
    .catch((error) => say(error.message));
}

function listen() {
  addEventListener("keydown", onKey);
  addEventListener("paste", onPaste);
  addEventListener("pagehide", () => record.keepNow());
  onSwipe($("board"), humanMoves);
  $("new").addEventListener("click", newGame);
  $("undo").addEventListener("click", () => travel(-1));
  $("redo").addEventListener("click", () => travel(1));
  $("edit").addEventListener("click", editBoard);
  $("auto").addEventListener("click", () => (autoplay ? stopAutoplay() : startAutoplay()));
  $("step").addEventListener("click", agentMoves);
  $("speed").addEventListener("input", showSpeed);
  $("save").addEventListener("click", save);
  $("to-review").addEventListener("click", () => {
    location.hash = "#review";
  });
}

export async function enter() {
  if (entered) {
    await picker.load(record.spec);
    ask();
    return;
  }
  entered = true;
  $("speed").value = memory.get("speed", 3);
  showSpeed();
  listen();
  say("loading…");
  try {
    if (record.restore()) await changeGame();
    else await begin("2048", Math.floor(Math.random() * 1e6));
  } catch (error) {
    say(error.message);
  }
}

export function leave() {
  stopAutoplay();
  asking?.abort();
  record.keepNow();
}

