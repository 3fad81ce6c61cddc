/** Brings everything that Play shows of a position in line with the store. */

import { $, make, memory } from "./dom.js";
import { actionOf, colours, decode, isWon, titleOf } from "./games.js";
import { t } from "./language.js";
import { count, moves } from "./numbers.js";
import { HUMAN, isOwnGame, playersOf, variationsOf } from "./store.js";

/** Show what a board says of the next tile. */
export function showHint(element, game, hint) {
  element.hidden = !game.hints.length;
  const shown = element.querySelector("b");
  shown.textContent = hint ? (hint.startsWith("+") ? "+" : hint) : "?";
  const { back, fore } = colours(game, Number(hint) || game.tiles[4]);
  shown.style.background = back;
  shown.style.color = fore;
  element.setAttribute("aria-label", hint ? t("hint.next", { hint }) : t("hint.unknown"));
}

export class PositionView {
  /** `newGame` starts another game. */
  constructor(store, board, newGame) {
    Object.assign(this, { store, board, newGame, game: null });
  }

  setGame(game) {
    this.game = game;
    this.board.setGame(game);
    $("game-name").textContent = game.title;
    $("game-variant").textContent = game.variant;
  }

  /** `motion` is {move, after} where tiles slide, or "appear" where only the new tile is missing. */
  refresh(motion = null) {
    const { store, game, board } = this;
    const [, code, score, , legal] = store.now;
    const { tiles, notes } = decode(code, game);
    board.arrow();
    if (motion === "appear") board.appear(tiles);
    else if (motion) board.slide(motion.move, motion.after, tiles);
    else board.show(tiles);
    $("score").textContent = count(score);
    $("best").textContent = count(this.#best(score));
    $("game-about").textContent = `${moves(store.at)} · ${store.seed === null ? t("play.own") : t("play.seed", { seed: store.seed })}`;
    this.#showPlayers();
    this.#showLines();
    $("undo").disabled = !store.canUndo;
    $("undo").title = store.at || !store.past.length ? t("play.undo.move") : t("play.undo.game");
    $("redo").disabled = !store.canRedo;
    $("to-review").disabled = $("save").disabled = store.at === 0;
    $("auto").disabled = $("step").disabled = $("hint-now").disabled = legal === "";
    $("won").hidden = !isWon(code, game);
    $("won").textContent = t("play.won", { tile: count(game.winTile ?? 0) });
    showHint($("hint"), game, notes.hint);
    if (legal === "") this.#veil(t("play.over"), t("play.over.result", { points: t("points", { n: score }), moves: moves(store.at) }));
    else board.veil();
    this.showTitle();
  }

  showTitle() {
    if (this.game && !$("view-play").hidden) document.title = `${count(this.store.now[2])} · ${titleOf(this.game)} – tilewright`;
  }

  /** The tile that wins was made for the first time in this game. */
  celebrate() {
    const on = make("button", { type: "button", class: "main" }, t("play.on"));
    on.addEventListener("click", () => {
      this.board.veil();
      $("board").focus({ preventScroll: true });
    });
    this.#veil(t("play.win"), t("play.win.result", { tile: count(this.game.winTile), moves: moves(this.store.at) }), on);
  }

  #veil(title, words, ...buttons) {
    const again = make("button", { type: "button", class: buttons.length ? "" : "main" }, t("play.new"));
    again.addEventListener("click", this.newGame);
    this.board.veil(make("div", {}, make("strong", {}, title), words), make("div", { class: "row" }, ...buttons, again));
  }

  /** The visitor's own best score of this game; agents' games do not count. */
  #best(score) {
    const best = memory.get("best", {});
    const known = best[this.store.spec] ?? 0;
    if (!isOwnGame(this.store) || score <= known) return known;
    memory.set("best", { ...best, [this.store.spec]: score });
    return score;
  }

  /** The variations of a game that is analysed. */
  #showLines() {
    const { store } = this;
    $("lines").hidden = store.lines.length < 2;
    if ($("lines").hidden) return;
    const names = variationsOf(store).map(([number, move], i) => {
      const first = move ? t("lines.move", { number, move: t(`move.${move}`) }) : "";
      return `${t("lines.variation", { number: i + 1 })}${first}`;
    });
    const options = [t("lines.main"), ...names].map((name, value) => make("option", { value }, name));
    const list = $("lines").querySelector("select");
    list.replaceChildren(...options);
    list.value = store.line;
  }

  /** Who made the moves, if it was not one alone. */
  #showPlayers() {
    const players = playersOf(this.store);
    const [last, , , , , mover] = this.store.now;
    const nameOf = (player) => (player === HUMAN ? t("you") : player);
    const names = players.map(([player, made]) => `${nameOf(player)} ${count(made)}`);
    const lastMove = last && t("play.last", { move: t(`move.${last}`), player: nameOf(mover) });
    const said = players.length > 1 && last ? `${names.join(" · ")} · ${lastMove}` : "";
    $("game-players").textContent = said;
  }
}

/** The legal moves of an entry by their names. */
export const legalOf = (entry) => [...entry[4]].map(actionOf);
