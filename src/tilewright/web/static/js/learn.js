/** The view Learn: mistakes to solve again, and the visitor's games with what they come to. */

import { Bars } from "./bars.js";
import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { $, download, make, memory, sayIn } from "./dom.js";
import { decode, gameOf } from "./games.js";
import { onSwipe } from "./gestures.js";
import { allGames, forgetGame, statisticsOf } from "./library.js";
import { answered, counted, nextPuzzle, solves } from "./notebook.js";
import { count, moves, percent, shortSpec } from "./numbers.js";
import { showHint } from "./position.js";
import { handover } from "./session.js";

const KEYS = {
  ArrowUp: "up", w: "up", k: "up",
  ArrowRight: "right", d: "right", l: "right",
  ArrowDown: "down", s: "down", j: "down",
  ArrowLeft: "left", a: "left", h: "left",
};
const LISTED = 50; // games in the list

const board = new Board($("learn-board"));
const bars = new Bars($("learn-bars"), (action) => answer(action));
const days = new Chart($("learn-days"), { xLabel: "day", label: "Match rate by day", format: percent });
const say = sayIn("learn-said");

let puzzle = null;
let isAnswered = false;
let listening = false;

const notebook = () => memory.get("notebook", []);

/** Show the next position that is due. */
async function next() {
  const now = Date.now();
  puzzle = nextPuzzle(notebook(), now) ?? null;
  isAnswered = false;
  $("learn-next").disabled = true;
  $("learn-puzzle").hidden = !puzzle;
  const waiting = notebook().length;
  if (!puzzle) {
    return say(waiting ? `All ${count(waiting)} positions of your notebook are solved for today.` : "Your notebook is empty. Review a game, and put its mistakes here.");
  }
  try {
    const game = await gameOf(puzzle.spec);
    const { tiles, notes } = decode(puzzle.code, game);
    board.setGame(game);
    board.show(tiles);
    board.arrow();
    showHint($("learn-hint"), game, notes.hint);
    bars.hide(Object.keys(puzzle.values).map((action) => action[0]).join(""));
    const due = notebook().filter((one) => one.due <= now).length;
    say(`What is the best move? ${count(due)} of ${count(waiting)} positions are due.`);
  } catch (error) {
    say(error.message, true);
  }
}

/** The visitor's answer: the values are shown, and the position comes back sooner or later. */
function answer(action) {
  if (!puzzle || isAnswered || !(action in puzzle.values)) return;
  isAnswered = true;
  const isRight = solves(puzzle, action);
  const now = Date.now();
  memory.set("notebook", answered(notebook(), puzzle.id, isRight, now));
  memory.set("progress", counted(memory.get("progress", {}), isRight, now));
  const best = Object.keys(puzzle.values).reduce((a, b) => (puzzle.values[b] > puzzle.values[a] ? b : a));
  bars.show({ unit: "points", values: puzzle.values }, puzzle.score, action);
  board.arrow(best);
  say(isRight ? `Right: ${action}.` : `${action} is not it: ${best} is best. In the game it was ${puzzle.played}.`, !isRight);
  $("learn-next").disabled = false;
  $("learn-next").focus();
  showProgress();
}

function showProgress() {
  const { right = 0, wrong = 0, streak = 0, longest = 0, days: byDay = {} } = memory.get("progress", {});
  const rate = right + wrong ? percent(right / (right + wrong)) : "–";
  const figures = [["Answered", count(right + wrong)], ["Match rate", rate], ["Streak", count(streak)], ["Longest streak", count(longest)]];
  $("learn-figures").replaceChildren(...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  const points = Object.entries(byDay).sort().map(([, [solved, all]], i) => [i + 1, solved / all]);
  $("learn-days").hidden = points.length < 2;
  days.show([{ name: "match rate", colour: "#2b7fa3", points }]);
}

// Games

async function showGames() {
  const games = await allGames();
  const rows = statisticsOf(games).map(({ spec, games: played, best, mean, accuracy }) =>
    make("tr", {}, ...[spec, count(played), count(best), count(mean), accuracy === null ? "–" : percent(accuracy)].map((words, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, words))),
  );
  $("learn-statistics").hidden = !rows.length;
  $("learn-statistics").tBodies[0].replaceChildren(...rows);
  $("learn-games").replaceChildren(...games.slice(0, LISTED).map(entry));
  $("learn-export").disabled = !games.length;
  if (!games.length) $("learn-games").append(make("li", { class: "none" }, "Games that you finish or leave are kept here, in this browser alone."));
}

function entry(game) {
  const players = game.players.map((player) => (player === "human" ? "you" : shortSpec(player))).join(" + ");
  const accuracy = game.accuracy === null ? "" : ` · accuracy ${percent(game.accuracy)}`;
  const words = `${count(game.score)} points · ${moves(game.moves)} · ${players}${accuracy}`;
  const open = make("button", { type: "button" }, "Review");
  open.addEventListener("click", () => {
    handover.review = game.line;
    location.hash = "#review";
  });
  const drop = make("button", { type: "button", class: "drop", "aria-label": "Forget this game" }, "×");
  drop.addEventListener("click", () => forgetGame(game.id).then(showGames));
  const date = new Date(game.date).toLocaleDateString("en", { year: "numeric", month: "short", day: "numeric" });
  return make("li", {}, make("span", {}, make("b", {}, game.spec), make("small", {}, ` ${date}`), make("br"), words), open, drop);
}

function onKey(event) {
  if ($("view-learn").hidden || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || !puzzle) return;
  event.preventDefault();
  answer(action);
}

export async function enter() {
  if (!listening) {
    listening = true;
    addEventListener("keydown", onKey);
    onSwipe($("learn-board"), answer);
    $("learn-next").addEventListener("click", next);
    $("learn-export").addEventListener("click", async () => {
      const lines = (await allGames()).map((game) => `${game.line}\n`);
      download("games.jsonl", lines.join(""), "application/x-ndjson");
    });
  }
  showProgress();
  await Promise.all([next(), showGames()]);
}
