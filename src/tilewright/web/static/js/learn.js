/** The view Learn: positions to solve, and the visitor's games with what they come to. */

import { Bars } from "./bars.js";
import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { $, download, make, memory, sayIn } from "./dom.js";
import { decode, gameOf } from "./games.js";
import { onSwipe } from "./gestures.js";
import { language, t } from "./language.js";
import { allGames, forgetGame, statisticsOf } from "./library.js";
import { solves } from "./notebook.js";
import { count, moves, percent, shortSpec } from "./numbers.js";
import { showHint } from "./position.js";
import { NOTEBOOK, nextPosition, note, notebookCounts, progressOf, tables } from "./practice.js";
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
const days = new Chart($("learn-days"), { xLabel: t("learn.day"), label: t("learn.days"), format: percent });
const say = sayIn("learn-said");

let puzzle = null;
let isAnswered = false;
let listening = false;

let asking = null; // the question for another position

const theme = () => $("learn-theme").value;

/** Show the next position of the theme. */
async function next() {
  asking?.abort();
  const mine = (asking = new AbortController());
  puzzle = null;
  isAnswered = false;
  $("learn-next").disabled = true;
  if (theme() !== NOTEBOOK) say(t("learn.searching"));
  try {
    const found = await nextPosition(theme(), $("learn-level").value, $("learn-table").value, mine.signal);
    const game = found && (await gameOf(found.spec));
    if (asking !== mine) return;
    puzzle = found;
    $("learn-puzzle").hidden = !puzzle;
    if (puzzle) show(game);
    else say(notebookCounts().all ? t("learn.solved", { n: notebookCounts().all }) : t("learn.empty"));
  } catch (error) {
    if (error.name === "AbortError") return;
    $("learn-puzzle").hidden = true;
    say(error.message, true);
  }
}

function show(game) {
  const { tiles, notes } = decode(puzzle.code, game);
  board.setGame(game);
  board.show(tiles);
  board.arrow();
  showHint($("learn-hint"), game, notes.hint);
  bars.hide(Object.keys(puzzle.values).map((action) => action[0]).join(""));
  const { due, all } = notebookCounts();
  const waiting = theme() === NOTEBOOK ? ` ${t("learn.due", { due: count(due), n: all })}` : "";
  say(t("learn.question") + waiting);
}

/** The visitor's answer: the values are shown, and it is noted. */
function answer(action) {
  if (!puzzle || isAnswered || !(action in puzzle.values)) return;
  isAnswered = true;
  const isRight = solves(puzzle, action);
  note(theme(), puzzle, isRight);
  const best = Object.keys(puzzle.values).reduce((a, b) => (puzzle.values[b] > puzzle.values[a] ? b : a));
  bars.show({ unit: puzzle.unit, values: puzzle.values }, puzzle.score, action);
  board.arrow(best);
  const names = { move: t(`move.${action}`), best: t(`move.${best}`) };
  const before = puzzle.played ? ` ${t("learn.played", { move: t(`move.${puzzle.played}`) })}` : "";
  say(isRight ? t("learn.right", names) : t("learn.wrong", names) + before, !isRight);
  $("learn-next").disabled = false;
  $("learn-next").focus();
  showProgress();
}

function showProgress() {
  const { right = 0, wrong = 0, streak = 0, longest = 0, days: byDay = {} } = progressOf(theme());
  const rate = right + wrong ? percent(right / (right + wrong)) : "–";
  const figures = { answered: count(right + wrong), rate, streak: count(streak), longest: count(longest) };
  const box = ([name, value]) => make("div", {}, make("dt", {}, t(`learn.${name}`)), make("dd", {}, value));
  $("learn-figures").replaceChildren(...Object.entries(figures).map(box));
  const points = Object.entries(byDay).sort().map(([, [solved, all]], i) => [i + 1, solved / all]);
  $("learn-days").hidden = points.length < 2;
  days.show([{ name: t("learn.rate"), colour: "#2b7fa3", points }]);
}

/** Another theme, difficulty or table was chosen. */
function choose() {
  $("learn-level-label").hidden = theme() === NOTEBOOK;
  $("learn-table-label").hidden = theme() !== "endgame";
  memory.set("practice", [theme(), $("learn-level").value]);
  showProgress();
  return next();
}

async function loadTables() {
  const found = await tables().catch(() => []);
  $("learn-table").replaceChildren(...found.map((spec) => make("option", { value: spec }, spec.replace(/^.*[/=]/, ""))));
  const endgames = $("learn-theme").querySelector("[value=endgame]");
  endgames.disabled = !found.length;
  endgames.title = found.length ? "" : t("learn.theme.endgame.none");
  if (endgames.selected && !found.length) $("learn-theme").value = NOTEBOOK;
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
  if (!games.length) $("learn-games").append(make("li", { class: "none" }, t("learn.games.none")));
}

function entry(game) {
  const players = game.players.map((player) => (player === "human" ? t("you") : shortSpec(player))).join(" + ");
  const accuracy = game.accuracy === null ? "" : ` · ${t("learn.accuracy", { accuracy: percent(game.accuracy) })}`;
  const words = `${t("points", { n: game.score })} · ${moves(game.moves)} · ${players}${accuracy}`;
  const open = make("button", { type: "button" }, t("nav.review"));
  open.addEventListener("click", () => {
    handover.review = game.line;
    location.hash = "#review";
  });
  const drop = make("button", { type: "button", class: "drop", "aria-label": t("learn.forget") }, "×");
  drop.addEventListener("click", () => forgetGame(game.id).then(showGames));
  const date = new Date(game.date).toLocaleDateString(language(), { year: "numeric", month: "short", day: "numeric" });
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
    [$("learn-theme").value, $("learn-level").value] = memory.get("practice", [NOTEBOOK, "medium"]);
    for (const id of ["learn-theme", "learn-level", "learn-table"]) $(id).addEventListener("change", choose);
    $("learn-export").addEventListener("click", async () => {
      const lines = (await allGames()).map((game) => `${game.line}\n`);
      download("games.jsonl", lines.join(""), "application/x-ndjson");
    });
  }
  await loadTables();
  await Promise.all([choose(), showGames()]);
}

export function leave() {
  asking?.abort();
}
