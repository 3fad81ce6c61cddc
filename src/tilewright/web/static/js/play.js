/** The view Play: a game, and an agent to ask or to watch. */

import { Advisor } from "./advice.js";
import { NoAnswer, get } from "./api.js";
import { AgentMoves } from "./autoplay.js";
import { Bars } from "./bars.js";
import { Board } from "./board.js";
import { askForBoard, askForGame } from "./dialogs.js";
import { $, download, memory, sayIn } from "./dom.js";
import { Follower } from "./follow.js";
import { decode, gameOf, titleOf } from "./games.js";
import { giveBackKeys, onSwipe } from "./gestures.js";
import { t } from "./language.js";
import { Mover } from "./moves.js";
import { Outlook } from "./outlook.js";
import { Picker } from "./picker.js";
import { drawBoard } from "./picture.js";
import { PositionView } from "./position.js";
import { isWholeGame } from "./recordings.js";
import { handover, keepNow, restore, store } from "./session.js";
import { linkTo } from "./share.js";
import { sayWhileWaiting } from "./start.js";
import { entryOf, recordingOf } from "./store.js";

const STOCK = 5; // first positions that are kept for games without the server
const KEYS = {
  ArrowUp: "up", w: "up", k: "up",
  ArrowRight: "right", d: "right", l: "right",
  ArrowDown: "down", s: "down", j: "down",
  ArrowLeft: "left", a: "left", h: "left",
};

const say = sayIn("said");
const board = new Board($("board"));
const bars = new Bars($("bars"), (action) => press(action));
const picker = new Picker($("ask-agent"), () => {
  memory.set(`agent.${store.spec}`, picker.spec);
  agent.restart();
  advisor.ask();
});
const view = new PositionView(store, board, () => newGame());
const advisor = new Advisor({ store, board, bars, picker });
const agent = new AgentMoves({ store, view, picker, advisor, say });
const outlook = new Outlook(store, picker);
advisor.asked = () => outlook.clear();
const mover = new Mover({
  store,
  view,
  board,
  say,
  moving: (action) => advisor.judge(action),
  moved: () => advisor.ask(),
  isOffline: (truth) => ($("offline").hidden = !truth),
});
const follower = new Follower({ store, view, board, say, followed: () => advisor.ask() });
let entered = false;

/** Do something only when there is a game on the table: keys may come before it. */
const withGame = (act) => (...given) => view.game && store.isReady && act(...given);

const press = withGame((action) => {
  if (follower.isOn) {
    if (!follower.isAsking) follower.move(action);
    return;
  }
  mover.press(action);
  agent.showState();
});

/** Another position is on the table: undo, redo, another game. */
async function tabled(game) {
  mover.clear();
  follower.stop();
  agent.showState();
  advisor.clearFeedback();
  say("");
  if (view.game !== game) {
    view.setGame(game);
    mover.setGame(game);
    view.refresh();
    bars.clear();
    const spec = store.spec;
    stockUp(spec);
    await picker.load(spec, memory.get(`agent.${spec}`, ""));
    if (store.spec !== spec) return;
  } else view.refresh();
  advisor.ask();
}

const travel = withGame(async (act) => {
  act();
  try {
    await tabled(await gameOf(store.spec));
  } catch (error) {
    say(error.message, true);
  }
});

// Games

/** Put a position on the table as the first of a game. */
async function table(spec, seed, position) {
  const game = await gameOf(position.game ?? spec);
  store.begin(game.spec, seed, entryOf(position));
  tabled(game).catch((error) => say(error.message, true));
}

async function begin(spec, seed) {
  try {
    await table(spec, seed, await get("start", { game: spec, seed }));
  } catch (error) {
    const [stocked, ...rest] = memory.get(`stock.${spec}`, []);
    if (!(error instanceof NoAnswer) || !stocked) throw error;
    memory.set(`stock.${spec}`, rest);
    await table(spec, stocked.seed, stocked.position);
  }
}

/** Keep some first positions in this browser, for new games without the server. */
async function stockUp(spec) {
  const stock = memory.get(`stock.${spec}`, []);
  while (stock.length < STOCK) {
    const seed = newSeed();
    const position = await get("start", { game: spec, seed }).catch(() => null);
    if (!position) return;
    stock.push({ seed, position });
    memory.set(`stock.${spec}`, stock);
  }
}

const newSeed = () => Math.floor(Math.random() * 1e6);

function newGame() {
  agent.stop();
  askForGame(store.spec, begin).catch((error) => say(error.message, true));
}

const editBoard = withGame(() => {
  agent.stop();
  askForBoard(view.game, store.now[1], (position) => table(store.spec, null, position));
});

const useText = withGame(async (text) => {
  if (isWholeGame(text)) {
    handover.pasted = text;
    location.hash = "#review";
    return;
  }
  const token = store.token;
  try {
    const position = await get("board", { game: store.spec, board: text });
    if (store.isCurrent(token)) await table(store.spec, null, position);
  } catch (error) {
    say(error.message, true);
  }
});

const save = withGame(() => download(`${view.game.name}-${store.now[2]}.jsonl`, `${recordingOf(store)}\n`, "application/x-ndjson"));

const share = withGame(async () => {
  const link = linkTo(location, { game: store.spec, board: store.now[1], agent: picker.spec });
  try {
    await navigator.clipboard.writeText(link);
    say(t("share.link"));
  } catch {
    location.hash = link.slice(link.indexOf("#"));
    say(t("share.address"));
  }
});

const copy = withGame(async () => {
  const { tiles, notes } = decode(store.now[1], view.game);
  const words = Object.entries(notes).map(([name, text]) => ` ${name}=${text}`);
  const text = tiles.map((row) => row.join(" ")).join(" / ") + words.join("");
  try {
    await navigator.clipboard.writeText(text);
    say(t("share.board"));
  } catch {
    say(text);
  }
});

const picture = withGame(() => {
  const score = store.now[2];
  const canvas = drawBoard(decode(store.now[1], view.game).tiles, view.game, `${titleOf(view.game)} · ${t("points", { n: score })}`);
  canvas.toBlob((image) => download(`${view.game.name}-${score}.png`, image, "image/png"));
});

// Keys

const isElsewhere = () => $("view-play").hidden || document.querySelector("dialog[open]");

function onKey(event) {
  if (isElsewhere() || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target.closest("input, select, textarea")) return;
  if (follower.onKey(event.key)) return event.preventDefault();
  const onButton = Boolean(target.closest("button, a, summary"));
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const actions = {
    u: () => travel(() => store.undo()),
    r: () => travel(() => store.redo()),
    n: newGame,
    f: withGame(() => follower.toggle()),
    b: withGame(() => advisor.hint()),
  };
  if (!onButton) Object.assign(actions, { Enter: withGame(() => agent.step()), " ": withGame(() => agent.toggle()) });
  const action = KEYS[key] ? () => press(KEYS[key]) : actions[key];
  if (!action) return;
  event.preventDefault();
  action();
}

function onPaste(event) {
  if (isElsewhere() || event.target.closest?.("input, textarea")) return;
  const text = event.clipboardData?.getData("text");
  if (text?.trim()) useText(text);
}

function listen() {
  addEventListener("keydown", onKey);
  addEventListener("paste", onPaste);
  addEventListener("pagehide", keepNow);
  giveBackKeys($("view-play"), () => $("board").focus({ preventScroll: true }));
  onSwipe($("board"), press);
  const clicks = {
    new: newGame,
    undo: () => travel(() => store.undo()),
    redo: () => travel(() => store.redo()),
    edit: editBoard,
    follow: withGame(() => follower.toggle()),
    auto: withGame(() => agent.toggle()),
    step: withGame(() => agent.step()),
    "hint-now": withGame(() => advisor.hint()),
    save,
    share,
    copy,
    picture,
    "ask-chances": withGame(() => outlook.ask(view.game)),
    "to-review": withGame(() => {
      handover.review = recordingOf(store);
      location.hash = "#review";
    }),
  };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  $("speed").addEventListener("input", () => agent.showSpeed());
  $("lines").addEventListener("change", (event) => travel(() => store.toLine(Number(event.target.value))));
  $("show-values").addEventListener("change", () => {
    memory.set("values", $("show-values").value);
    advisor.setMode($("show-values").value);
  });
}

/** Show the position of a link, the game that the browser kept, or a new one. Returns what there is to say, if anything. */
async function firstGame(link) {
  if (link.board) {
    const spec = link.game ?? "2048";
    if (link.agent) memory.set(`agent.${spec}`, link.agent);
    const position = await get("board", { game: spec, board: link.board });
    restore(); // can be taken back
    return table(spec, null, position);
  }
  if (restore()) {
    try {
      return await tabled(await gameOf(store.spec));
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      await begin("2048", newSeed());
      return t("play.kept", { reason: error.message });
    }
  }
  return begin("2048", newSeed());
}

export async function enter(link) {
  if (entered && !link.board && view.game) {
    view.showTitle();
    const spec = store.spec;
    if (view.game.spec !== spec) return tabled(await gameOf(spec));
    view.refresh();
    await picker.load(spec, picker.spec);
    return advisor.ask();
  }
  if (!entered) {
    entered = true;
    $("speed").value = memory.get("speed", 3);
    $("show-values").value = advisor.mode = memory.get("values", "values");
    agent.showSpeed();
    listen();
  }
  say(t("loading"));
  const loaded = sayWhileWaiting(say, t("loading"));
  try {
    const said = await firstGame(link);
    loaded();
    say(said ?? "", Boolean(said));
  } catch (error) {
    loaded();
    say(error.message, true);
  }
}

export function leave() {
  agent.stop();
  advisor.stop();
  outlook.clear();
  if (store.isPending("step", "move")) store.cancel();
  keepNow();
}
