/** The view Review: a recorded game judged move by move. */

import { get, runJob } from "./api.js";
import { isMistake, otherMistake, reviewedMoves, summaryOf, worstMoves } from "./analysis.js";
import { Bars } from "./bars.js";
import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { $, make, memory, sayIn } from "./dom.js";
import { showFigures, showWorst } from "./figures.js";
import { decode, gameOf } from "./games.js";
import { giveBackKeys } from "./gestures.js";
import { t } from "./language.js";
import { noteAccuracy } from "./library.js";
import { MoveList } from "./movelist.js";
import { SPEEDS, count, oneDigit, shortSpec, speedName } from "./numbers.js";
import { addPuzzles, puzzlesOf } from "./notebook.js";
import { Picker } from "./picker.js";
import { showHint } from "./position.js";
import { gameFrom, readAnyGames } from "./recordings.js";
import { handover, restore, store } from "./session.js";
import { HUMAN, recordingOf } from "./store.js";

const WORST = 12; // moves in the list of the worst
const VALUED = 100; // of the worst moves, all values are asked for
const FASTEST = 60; // moves a second of a replay

const board = new Board($("review-board"));
const bars = new Bars($("review-bars"));
const picker = new Picker($("review-agent"), () => memory.set("judge", picker.spec), t("review.judge"));
const pick = (x) => jump(Math.round(x) - 1);
const values = new Chart($("review-values"), { xLabel: t("review.move"), label: t("review.values"), fromZero: false, pick });
const losses = new Chart($("review-losses"), { xLabel: t("review.move"), label: t("review.losses"), stems: true, pick });
const list = new MoveList($("review-moves"), (i) => jump(i));
const say = sayIn("review-said");

let lines = []; // recorded games to choose from
let isMine = false; // whether they come from Play
let shown = null; // {recording, result, game, moves}
let at = 0;
let reviewing = null; // the job under way
let asking = null; // the question to the judge
let replay = 0;

/** Take in one recorded game or many; what was shown of another one goes. */
async function take(text, words) {
  stop();
  $("review-found").hidden = true;
  shown = null;
  isMine = false;
  try {
    lines = await readAnyGames(text);
  } catch (error) {
    lines = [];
    return say(error.message, true);
  }
  if (!lines.length) return say(t("review.empty"), true);
  $("review-which").hidden = lines.length < 2;
  $("review-number").replaceChildren(...lines.map((_, i) => make("option", { value: i }, t("review.which", { number: i + 1, all: lines.length }))));
  say(t("review.taken", { n: lines.length, from: words }));
  await loadAgents();
}

const line = () => lines[Number($("review-number").value) || 0];

/** The judges for the game that is chosen. */
async function loadAgents() {
  try {
    await picker.load(JSON.parse(line()).game, memory.get("judge", ""));
  } catch (error) {
    say(error.message, true);
  }
}

async function takeMine(recording = recordingOf(store)) {
  await take(recording, t("review.from.play"));
  isMine = true;
}

async function start() {
  if ($("review-text").value.trim()) {
    await take($("review-text").value, t("review.from.text"));
    $("review-text").value = "";
  }
  if (!lines.length) return say(t("review.first_open"), true);
  stop();
  const mine = (reviewing = new AbortController());
  const recording = line();
  try {
    const request = { recording, agent: picker.spec, worst: VALUED };
    const progress = (job) => ($("review-progress").value = job.total ? job.done / job.total : 0);
    const job = await runJob("reviews", request, { progress, signal: mine.signal });
    if (reviewing !== mine) return;
    if (job.state !== "done") return say(job.reason || t("review.stopped"), true);
    say("");
    await show(JSON.parse(recording), job.result);
    if (shown.summary) noteAccuracy(recording, shown.summary.accuracy);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

/** A review that nobody looks at is given up. */
function stop() {
  reviewing?.abort();
  reviewing = null;
  stopReplay();
  $("review-progress").value = 0;
}

async function show(recording, result) {
  const game = await gameOf(result.game);
  const startScore = (await get("board", { game: game.spec, board: recording.start })).score;
  const moves = reviewedMoves(result, recording, startScore);
  const summary = summaryOf(moves, result, startScore);
  shown = { recording, result, game, moves, summary };
  board.setGame(game);
  $("review-found").hidden = false;
  $("review-at").max = moves.length - 1;
  showFigures(result, summary);
  $("review-keep").disabled = !summary || !moves.some(isMistake);
  const points = (name, colour, ys) => [{ name, colour, points: ys.map((y, i) => [i + 1, y]) }];
  values.show(points(t("review.value"), "#2b7fa3", result.values));
  losses.show(points(t("review.loss"), "#c94f5d", result.losses));
  list.show(moves);
  const worst = worstMoves(moves, WORST);
  showWorst(worst, game, codeAt, (i) => {
    jump(i);
    $("review-board").scrollIntoView({ block: "nearest", behavior: "smooth" });
  });
  jump(worst.length ? worst[0].number - 1 : 0);
}

const codeAt = (i) => (i ? shown.recording.moves[i - 1][1] : shown.recording.start);

/** Show the position before move number `to`, counted from 0. */
async function jump(to) {
  if (!shown) return;
  at = Math.max(0, Math.min(shown.moves.length - 1, to));
  const { game, result } = shown;
  const { tiles, notes } = decode(codeAt(at), game);
  const move = shown.moves[at];
  board.show(tiles);
  board.arrow();
  showHint($("review-hint"), game, notes.hint);
  $("review-at").value = at;
  values.setMark(at + 1);
  losses.setMark(at + 1);
  list.mark(at);
  const kind = move.kind ? `, ${t(`class.${move.kind.name}`)}` : "";
  const lost = move.loss ? t("review.lost", { loss: oneDigit(move.loss) }) + kind : t("review.lost.nothing");
  const player = move.player === HUMAN ? t("you") : shortSpec(move.player);
  $("review-where").textContent = t("review.where", { number: count(at + 1), move: t(`move.${move.played}`), player, lost });
  asking?.abort();
  bars.wait();
  const mine = (asking = new AbortController());
  try {
    const advice = await get("move", { game: game.spec, board: codeAt(at), agent: result.agent }, mine.signal);
    if (asking !== mine) return;
    bars.show(advice, move.score, move.played);
    board.arrow(advice.move);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function toMistake(direction) {
  const found = shown ? otherMistake(shown.moves, at, direction) : -1;
  if (found >= 0) jump(found);
  else say(direction > 0 ? t("review.mistake.none_after") : t("review.mistake.none_before"));
}

/** Put the mistakes into the notebook: the visitor's own, or all of a game without any of theirs. */
function keepMistakes() {
  const { recording, result, moves } = shown;
  const own = moves.filter((move) => move.player === HUMAN);
  const mistakes = (own.length ? own : moves).filter(isMistake);
  const before = memory.get("notebook", []);
  const after = addPuzzles(before, puzzlesOf(result, recording, mistakes, Date.now()));
  memory.set("notebook", after);
  say(t("review.kept", { n: after.length - before.length }));
}

// Replay

const speed = () => SPEEDS[Number($("review-speed").value)] || FASTEST;

function toggleReplay() {
  if (replay) return stopReplay();
  if (!shown) return;
  if (at === shown.moves.length - 1) at = -1;
  const next = () => {
    jump(at + 1);
    if (at === shown.moves.length - 1) return stopReplay();
    replay = setTimeout(next, 1000 / speed());
  };
  replay = setTimeout(next, 0);
  $("review-replay").textContent = t("pause");
}

function stopReplay() {
  clearTimeout(replay);
  replay = 0;
  $("review-replay").textContent = t("review.replay");
}

/** Put the game on the table of Play, at the position that is shown; the moves that followed can be redone. */
async function continueHere() {
  stopReplay();
  const { recording, game, moves } = shown;
  try {
    if (isMine && recordingOf(store) === line()) store.go(at);
    else store.open(await gameFrom(recording, game, at, moves));
    store.analyse();
    location.hash = "#play";
  } catch (error) {
    say(error.message, true);
  }
}

// Keys

const KEYS = {
  ArrowLeft: () => jump(at - 1),
  ArrowRight: () => jump(at + 1),
  Home: () => jump(0),
  End: () => jump(Infinity),
  n: () => toMistake(1),
  p: () => toMistake(-1),
  c: continueHere,
  " ": toggleReplay,
};

function onKey(event) {
  if ($("view-review").hidden || !shown || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea") || (event.key === " " && event.target.closest("button, a, summary"))) return;
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  if (event.key !== " ") stopReplay();
  action();
}

let listening = false;

function listen() {
  listening = true;
  addEventListener("keydown", onKey);
  giveBackKeys($("view-review"), (field) => field.blur());
  $("review-form").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  $("review-mine").addEventListener("click", () => {
    if (restore() && store.at) takeMine();
    else say(t("review.first_play"), true);
  });
  $("review-text").addEventListener("change", () => $("review-text").value.trim() && take($("review-text").value, t("review.from.text")));
  $("review-file").addEventListener("change", async () => {
    const file = $("review-file").files[0];
    $("review-text").value = "";
    if (file) await take(await file.text(), t("review.from.file", { name: file.name }));
  });
  $("review-number").addEventListener("change", loadAgents);
  $("review-at").addEventListener("input", () => jump(Number($("review-at").value)));
  $("review-speed").value = memory.get("review-speed", 3);
  const showSpeed = () => {
    $("review-speed-text").textContent = speedName(speed() === FASTEST ? FASTEST : speed());
    memory.set("review-speed", Number($("review-speed").value));
  };
  $("review-speed").addEventListener("input", showSpeed);
  showSpeed();
  const clicks = {
    "review-back": () => jump(at - 1),
    "review-on": () => jump(at + 1),
    "review-first": () => jump(0),
    "review-last": () => jump(Infinity),
    "review-next-mistake": () => toMistake(1),
    "review-last-mistake": () => toMistake(-1),
    "review-replay": toggleReplay,
    "review-continue": continueHere,
    "review-keep": keepMistakes,
  };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
}

export async function enter() {
  if (!listening) listen();
  const { review: wanted, pasted } = handover;
  handover.review = handover.pasted = null;
  if (pasted) return take(pasted, t("review.from.text"));
  if (wanted) return takeMine(wanted);
  restore();
  const mine = store.isReady && store.at ? recordingOf(store) : null;
  if (mine && (isMine || !lines.length) && lines[0] !== mine) return takeMine(mine);
  if (!lines.length) await picker.load("2048", memory.get("judge", ""));
}

export function leave() {
  asking?.abort();
  stop();
}
