/** The view Compare: agents side by side on the same games, and a table that fills. */

import { open } from "./api.js";
import { Board } from "./board.js";
import { $, download, make, memory, sayIn } from "./dom.js";
import { decode, gameOf, games } from "./games.js";
import { t } from "./language.js";
import { SPEEDS, count, oneDigit, percent, signed, speedName } from "./numbers.js";
import { Picker } from "./picker.js";
import { pairedDifference, scoresAsCsv, verdict } from "./statistics.js";

const FEWEST = 2;
const MOST = 4;
const RATES = 6; // columns of the table for tiles

let pickers = [];
let players = []; // of the comparison under way: {spec, socket, stopped, figures, scores}
let entered = false;

const say = sayIn("compare-said");
/** The game with its variant, as the server takes it. */
const spec = () => [$("compare-game").value, $("compare-variant").value.replaceAll(" ", "")].filter(Boolean).join(":");
const speed = () => SPEEDS[Number($("compare-speed").value)];

async function addPicker(wanted) {
  const row = make("div", { class: "picker" });
  const picker = new Picker(row, keep, t("compare.agent", { number: pickers.length + 1 }));
  const drop = make("button", { type: "button", "aria-label": t("compare.remove"), class: "drop" }, "×");
  const entry = { picker, row, drop };
  drop.addEventListener("click", () => {
    pickers = pickers.filter((other) => other !== entry);
    row.remove();
    settle();
  });
  row.append(drop);
  pickers.push(entry);
  $("compare-agents").append(row);
  settle();
  await picker.load(spec(), wanted);
}

function settle() {
  pickers.forEach(({ row, drop }, i) => {
    row.querySelector("label").firstChild.textContent = t("compare.agent", { number: i + 1 });
    drop.disabled = pickers.length <= FEWEST;
  });
  $("compare-add").disabled = pickers.length >= MOST;
  keep();
}

function keep() {
  memory.set("compare", pickers.map(({ picker }) => picker.spec));
}

async function start() {
  stop();
  const game = await gameOf(spec());
  const request = { game: game.spec, games: Number($("compare-games").value), seed: Number($("compare-seed").value) };
  $("compare-boards").replaceChildren();
  $("compare-table").hidden = $("compare-csv").hidden = false;
  players = pickers.map(({ picker }) => addPlayer(picker.spec, game, request));
  say("");
  showButton();
  showTable(game);
}

function addPlayer(agent, game, request) {
  const board = new Board(make("div", { class: "board" }));
  const score = make("span", { class: "soft" }, "…");
  const player = { spec: agent, stopped: "", figures: null, scores: [] };
  $("compare-boards").append(make("figure", {}, make("figcaption", {}, make("span", { title: agent }, agent), score), board.element));
  board.setGame(game);
  player.socket = open("watch", { ...request, agent, speed: speed() }, {
    message: (answer) => {
      player.scores.push(...answer.scores);
      if (!$("view-compare").hidden) board.show(decode(answer.code, game).tiles);
      score.textContent = t("compare.score", { number: count(answer.number + 1), score: count(answer.score) });
      if (answer.result) {
        player.figures = answer.result;
        showTable(game);
      }
    },
    closed: (reason) => {
      player.socket = null;
      player.stopped = reason;
      if (players.every((other) => !other.socket)) finish(request.games);
    },
  });
  return player;
}

/** All sockets are closed: because all games are played, or for another reason, which is said. */
function finish(games) {
  showButton();
  const stopped = players.filter((player) => player.stopped || player.figures?.games !== games);
  const reasons = stopped.map(({ spec, stopped: reason, figures }) => t("compare.stopped", { agent: spec, n: figures?.games ?? 0, reason }));
  if (reasons.length) say(reasons.join("; "), true);
  else say(t("compare.done"));
}

function stop() {
  for (const player of players) player.socket?.close();
  for (const player of players) player.socket = null;
  showButton();
}

const isRunning = () => players.some((player) => player.socket);

function showButton() {
  $("compare-start").textContent = isRunning() ? t("stop") : t("start");
  $("compare-start").setAttribute("aria-pressed", String(isRunning()));
}

/** The tiles worth a column: the largest that anyone reached, and those before it. */
function columnsOf(game) {
  const reached = players.flatMap(({ figures }) => Object.keys(figures?.reach ?? {}).map(Number));
  const most = game.tiles.indexOf(Math.max(...reached));
  return game.tiles.slice(Math.max(1, most + 1 - RATES), most + 1);
}

function showTable(game) {
  const tiles = columnsOf(game);
  const names = ["agent", "games", "figure.mean", "compare.against", "play.best", "compare.rate"];
  const head = [...names.map((name) => t(name, { agent: players[0].spec })), ...tiles.map((tile) => `≥ ${tile}`)];
  const table = $("compare-table");
  table.tHead.replaceChildren(make("tr", {}, ...head.map((words) => make("th", { scope: "col" }, words))));
  table.tBodies[0].replaceChildren(...players.map((player) => rowOf(player, tiles)));
}

/** The difference to the first agent on the same games: [number, verdict]. */
function againstFirst(player) {
  const found = player === players[0] ? null : pairedDifference(player.scores, players[0].scores);
  return found ? [`${signed(found.mean)} ± ${count(found.margin)}`, t(`verdict.${verdict(found)}`)] : ["–", ""];
}

function rowOf(player, tiles) {
  const { figures } = player;
  const none = ["0", "–", "–", "–", "–", ...tiles.map(() => "–")].map((words) => [words, ""]);
  const cells = figures ? cellsOf(player, tiles) : none;
  const row = make("tr", {}, make("th", { scope: "row" }, player.spec));
  for (const [words, small] of cells) row.append(make("td", {}, words, make("small", {}, small || " ")));
  return row;
}

function cellsOf(player, tiles) {
  const { figures } = player;
  const { score, reach } = figures;
  const margin = score.ci95 ? `± ${count((score.ci95[1] - score.ci95[0]) / 2)}` : "";
  const lowest = Math.min(...Object.keys(reach).map(Number));
  const rate = (tile) => {
    const found = reach[tile] ?? { rate: tile < lowest ? 1 : 0, ci95: null };
    const ends = found.ci95?.map((end) => oneDigit(100 * end)).join(" – ") ?? "";
    return [percent(found.rate), ends];
  };
  return [
    [count(figures.games), ""],
    [count(score.mean), margin],
    againstFirst(player),
    [count(score.max), ""],
    [count(figures.moves_per_second), ""],
    ...tiles.map(rate),
  ];
}

function showSpeed() {
  $("compare-speed-text").textContent = speedName(speed());
  for (const player of players) player.socket?.send({ speed: speed() });
}

export async function enter() {
  if (entered) return;
  entered = true;
  const all = await games();
  $("compare-game").replaceChildren(...all.map((game) => make("option", { value: game.name }, game.name)));
  for (const spec of memory.get("compare", ["heuristic", "greedy"]).slice(0, MOST)) await addPicker(spec);
  while (pickers.length < FEWEST) await addPicker("random");
  showSpeed();
  $("compare-add").addEventListener("click", () => addPicker("random"));
  $("compare-speed").addEventListener("input", showSpeed);
  const reload = () => Promise.all(pickers.map(({ picker }) => picker.load(spec(), picker.spec))).catch((error) => say(error.message, true));
  $("compare-game").addEventListener("change", () => {
    $("compare-variant").value = "";
    reload();
  });
  $("compare-variant").addEventListener("change", reload);
  $("compare-csv").addEventListener("click", () => download("scores.csv", scoresAsCsv(players), "text/csv"));
  $("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (isRunning()) stop();
    else start().catch((error) => say(error.message, true));
  });
}

/** The comparison goes on while another view is shown. */
export function leave() {}
