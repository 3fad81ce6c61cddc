/** The view Runs: learning curves that grow, several in one plot, and the tiles that a run's network reaches. */

import { get, runJob } from "./api.js";
import { COLOURS, Chart, smooth } from "./chart.js";
import { $, make, memory } from "./dom.js";
import { colours, gameOf } from "./games.js";
import { t } from "./language.js";
import { compact, count, percent } from "./numbers.js";

const AGAIN = 1500; // milliseconds until running sessions are looked at again
const MOST = COLOURS.length;

const chart = new Chart($("runs-chart"), { label: t("runs.curves") });
let runs = [];
let chosen = new Set(memory.get("runs", []));
let details = new Map();
let timer = 0;
let counting = null; // what is under way
let entered = false;

/** Read the list, and the curves of those that are shown and may have grown. */
async function look() {
  clearTimeout(timer);
  try {
    runs = await get("runs");
    chosen = new Set([...chosen].filter((name) => runs.some((run) => run.name === name)));
    if (!chosen.size && runs.length) chosen.add((runs.find((run) => run.running) ?? runs[0]).name);
    const wanted = runs.filter((run) => chosen.has(run.name) && grew(run));
    for (const found of await Promise.all(wanted.map((run) => get(`runs/${encodeURIComponent(run.name)}`)))) {
      details.set(found.name, found);
    }
    showList();
    showChart();
  } catch (error) {
    $("runs-list").replaceChildren(make("p", { class: "none" }, error.message));
  }
  timer = setTimeout(look, AGAIN);
}

const grew = (run) => details.get(run.name)?.games !== run.games || details.get(run.name)?.running !== run.running;

let listed = "";

function showList() {
  const now = JSON.stringify([runs, [...chosen]]);
  if (now === listed) return;
  listed = now;
  const focus = document.activeElement?.value;
  $("runs-list").replaceChildren(...runs.map(entry));
  if (!runs.length) {
    $("runs-list").append(make("p", { class: "none" }, t("runs.none")));
  }
  $("runs-list").querySelector(`input[value="${CSS.escape(focus ?? "")}"]`)?.focus();
  const models = runs.filter((run) => run.has_model);
  const kept = $("tiles-run").value;
  $("tiles-run").replaceChildren(...models.map((run) => make("option", { value: run.name }, run.name)));
  if (models.some((run) => run.name === kept)) $("tiles-run").value = kept;
  $("tiles-start").disabled = !models.length;
}

function entry(run) {
  const input = make("input", { type: "checkbox", value: run.name });
  input.checked = chosen.has(run.name);
  input.disabled = !input.checked && chosen.size >= MOST;
  input.addEventListener("change", () => {
    if (input.checked) chosen.add(run.name);
    else chosen.delete(run.name);
    memory.set("runs", [...chosen]);
    look();
  });
  const mean = run.score_mean === null ? "" : ` · ${t("runs.mean", { mean: compact(run.score_mean) })}`;
  const figures = t("runs.played", { games: compact(run.games) }) + mean;
  const state = run.running ? make("span", { class: "live" }, `● ${t("runs.running")} · `) : "";
  return make("label", {}, input, make("span", {}, run.name, make("small", {}, state, `${run.game} · ${figures}`)));
}

function showChart() {
  const [x, y] = [$("runs-x").value, $("runs-y").value];
  const across = (point) => (x === "seconds" ? point.seconds / 60 : point.games);
  const shown = [...chosen].map((name) => details.get(name)).filter(Boolean);
  const width = 2 ** Number($("runs-smooth").value);
  const series = shown.map((run, i) => ({
    name: run.name,
    colour: COLOURS[i % COLOURS.length],
    points: smooth(run.curve.map((point) => [across(point), point[y]]), width),
    dots: y === "score_mean" ? run.evaluations.map((test) => [across(test), test.score_mean, test.score_low, test.score_high]) : [],
  }));
  const axis = $("runs-axis").value;
  Object.assign(chart.options, { logX: axis.includes("x"), logY: axis.includes("y") });
  $("runs-smooth-text").textContent = width > 1 ? t("runs.smooth.points", { n: width }) : t("runs.smooth.none");
  chart.options.format = y === "win_rate" ? percent : compact;
  chart.show(series, { xLabel: x === "seconds" ? t("runs.x.minutes") : t("runs.x.games") });
  $("runs-legend").replaceChildren(
    ...series.map((one) => make("li", { "--colour": one.colour }, make("i"), one.name)),
  );
  $("runs-config").textContent = shown.map((run) => `# ${run.name}\n${run.config}`).join("\n");
}

// Tiles

async function countTiles() {
  const run = $("tiles-run").value;
  const { game, agent } = runs.find((found) => found.name === run);
  counting?.abort();
  const mine = (counting = new AbortController());
  $("tiles-chart").replaceChildren();
  try {
    const asked = { agent: `${agent}:model=${run}`, game, games: Number($("tiles-games").value) };
    const described = await gameOf(game);
    await runJob("evaluations", asked, { signal: mine.signal, progress: (job) => showTiles(job, described, run) });
  } catch (error) {
    if (error.name !== "AbortError") $("tiles-said").textContent = error.message;
  }
}

function showTiles(job, game, run) {
  const found = job.result;
  const mean = found ? `, ${t("tiles.mean", { mean: count(found.score.mean) })}` : "";
  $("tiles-said").textContent = job.reason || t("tiles.done", { run, done: count(job.done), total: count(job.total) }) + mean;
  if (!found) return;
  const most = Math.max(...Object.values(found.tiles));
  $("tiles-chart").replaceChildren(
    ...Object.entries(found.tiles).map(([tile, games]) => {
      const bar = make("i", { "--part": games / most, "--back": colours(game, Number(tile)).back });
      const words = `${count(games)} (${percent(games / found.games)})`;
      return make("div", {}, make("b", {}, tile), bar, make("span", {}, words));
    }),
  );
}

export async function enter() {
  if (!entered) {
    entered = true;
    $("runs-x").addEventListener("change", showChart);
    $("runs-y").addEventListener("change", showChart);
    $("runs-axis").addEventListener("change", showChart);
    $("runs-smooth").addEventListener("input", showChart);
    $("tiles-start").addEventListener("click", countTiles);
  }
  await look();
}

export function leave() {
  clearTimeout(timer);
  counting?.abort();
}
