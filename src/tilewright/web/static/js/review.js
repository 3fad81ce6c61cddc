/** The view Review: a recorded game judged move by move. */

import { get, post, remove } from "./api.js";
import { Bars } from "./bars.js";
import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { $, count, make, percent, valueText } from "./dom.js";
import { decode, gameOf } from "./games.js";
import { Picker } from "./picker.js";
import { record } from "./play.js";

const SOON = 150; // milliseconds between two looks at the job

const board = new Board($("review-board"));
const bars = new Bars($("review-bars"), () => {});
const picker = new Picker($("review-agent"), () => {}, "Judge");
const pick = (x) => jump(Math.round(x) - 1);
const values = new Chart($("review-values"), { xLabel: "move", label: "Value of the best move", fromZero: false, pick });
const losses = new Chart($("review-losses"), { xLabel: "move", label: "Loss of each move", stems: true, pick });

let lines = []; // recorded games to choose from
let game = null;
let played = null; // the game under review, parsed
let found = null; // what the judge says
let at = 0;
let job = null;
let asking = null;

function say(words, wrong = false) {
  $("review-said").textContent = words;
  $("review-said").classList.toggle("wrong", wrong);
}

/** Take in one recorded game or many. */
async function take(text, words) {
  lines = text.split("\n").filter((line) => line.trim());
  if (!lines.length) return say("there is no game in it", true);
  $("review-which").hidden = lines.length < 2;
  $("review-number").replaceChildren(...lines.map((_, i) => make("option", { value: i }, `${i + 1} of ${lines.length}`)));
  say(`${lines.length === 1 ? "one game" : `${count(lines.length)} games`} ${words}`);
  await loadAgents();
}

/** The judges for the game that is chosen. */
async function loadAgents() {
  try {
    await picker.load(JSON.parse(lines[Number($("review-number").value) || 0]).game);
  } catch {
    say("this is not a recorded game of tilewright", true);
  }
}

async function start() {
  if (!lines.length && $("review-text").value.trim()) await take($("review-text").value, "pasted");
  if (!lines.length) return say("open or paste a game first", true);
  await stop();
  const line = lines[Number($("review-number").value) || 0];
  try {
    job = await post("reviews", { recording: line, agent: picker.spec, worst: 12 });
    say("");
    const mine = job.id;
    while (job?.id === mine && ["waiting", "running"].includes(job.state)) {
      await new Promise((resolve) => setTimeout(resolve, SOON));
      const now = await get(`jobs/${mine}`);
      if (job?.id !== mine) return;
      job = now;
      $("review-progress").value = job.done / job.total;
    }
    if (!job?.result) return say(job?.reason || "stopped", true);
    await show(JSON.parse(line), job.result);
  } catch (error) {
    say(error.message, true);
  }
}

/** A review that nobody looks at is given up. */
async function stop() {
  const old = job;
  job = null;
  $("review-progress").value = 0;
  if (old && ["waiting", "running"].includes(old.state)) await remove(`jobs/${old.id}`);
}

async function show(recording, result) {
  played = recording;
  found = result;
  game = await gameOf(result.game);
  board.setGame(game);
  $("review-found").hidden = false;
  $("review-at").max = found.moves - 1;
  const figures = [
    ["Player", found.player],
    ["Score", count(found.score)],
    ["Moves", count(found.moves)],
    ["Agree with the judge", percent(found.agreement)],
    ["Loss in total", valueText(found.loss.total, found.unit)],
  ];
  $("review-figures").replaceChildren(...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { class: value.length > 12 ? "words" : "" }, value))));
  const line = (name, colour, ys) => [{ name, colour, points: ys.map((y, i) => [i + 1, y]) }];
  values.show(line("value", "#2b7fa3", found.values));
  losses.show(line("loss", "#c94f5d", found.losses));
  showWorst();
  jump(found.worst.length ? found.worst[0].move - 1 : 0);
}

function showWorst() {
  const entries = found.worst.map((move) => {
    const small = make("div", { class: "board" });
    const words = make("span", {}, `Move ${count(move.move)}: ${move.played} `, make("b", {}, `−${valueText(move.loss, found.unit)}`), `, better ${move.best}`);
    const button = make("button", { type: "button" }, small, words);
    button.addEventListener("click", () => {
      jump(move.move - 1);
      $("review-board").scrollIntoView({ block: "nearest", behavior: "smooth" });
    });
    const view = new Board(small);
    view.setGame(game);
    view.show(decode(move.text, game).tiles);
    return make("li", {}, button);
  });
  $("review-worst").replaceChildren(...(entries.length ? entries : [make("li", { class: "none" }, "No move lost anything.")]));
}

/** Show the position before move number `to`, counted from 0. */
async function jump(to) {
  at = Math.max(0, Math.min(found.moves - 1, to));
  const code = at ? played.moves[at - 1][1] : played.start;
  board.show(decode(code, game).tiles);
  $("review-at").value = at;
  values.setMark(at + 1);
  losses.setMark(at + 1);
  const move = played.moves[at][0];
  const loss = found.losses[at];
  $("review-where").textContent = `Move ${count(at + 1)}: ${move} was played, ${loss ? `a loss of ${valueText(loss, found.unit)}` : "no loss"}`;
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const advice = await get("move", { game: game.spec, board: code, agent: found.agent }, mine.signal);
    if (asking === mine) bars.show(advice, move);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

let listening = false;

function listen() {
  listening = true;
  $("review-form").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  $("review-mine").addEventListener("click", takeMine);
  $("review-text").addEventListener("change", () => $("review-text").value.trim() && take($("review-text").value, "pasted"));
  $("review-file").addEventListener("change", async () => {
    const file = $("review-file").files[0];
    if (file) await take(await file.text(), `from ${file.name}`);
  });
  $("review-number").addEventListener("change", loadAgents);
  $("review-at").addEventListener("input", () => jump(Number($("review-at").value)));
  $("review-back").addEventListener("click", () => jump(at - 1));
  $("review-on").addEventListener("click", () => jump(at + 1));
}

async function takeMine() {
  if (!record.entries.length) record.restore();
  if (!record.entries.length || !record.at) return say("play some moves first", true);
  await take(record.line(), "from Play");
}

export async function enter() {
  if (!listening) listen();
  if (!record.entries.length) record.restore();
  if (!found && record.at) await takeMine();
  else if (!lines.length) await picker.load("2048");
}

export async function leave() {
  asking?.abort();
  await stop();
}
