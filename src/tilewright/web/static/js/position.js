/** Brings everything that Play shows of a position in line with the store. */

import { $, make, memory } from "./dom.js";
import { actionOf, colours, decode, isWon, titleOf } from "./games.js";
import { count, moves } from "./numbers.js";
import { HUMAN, isOwnGame, playersOf } from "./store.js";

/** Show what a board says of the next tile. */
export function showHint(element, game, hint) {
  element.hidden = !game.hints.length;
  const shown = element.querySelector("b");
  shown.textContent = hint ? (hint.startsWith("+") ? "+" : hint) : "?";
  const { back, fore } = colours(game, Number(hint) || game.tiles[4]);
  shown.style.background = back;
  shown.style.color = fore;
  element.setAttribute("aria-label", hint ? `Next tile: ${hint}` : "The next tile is not known");
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
    $("game-about").textContent = `${moves(store.at)} · ${store.seed === null ? "own board" : `seed ${store.seed}`}`;
    this.#showPlayers();
    $("undo").disabled = !store.canUndo;
    $("undo").title = store.at || !store.past.length ? "Take back a move (U)" : "Back to the game before (U)";
    $("redo").disabled = !store.canRedo;
    $("to-review").disabled = $("save").disabled = store.at === 0;
    $("auto").disabled = $("step").disabled = $("hint-now").disabled = legal === "";
    $("won").hidden = !isWon(code, game);
    $("won").textContent = `won: ${count(game.winTile ?? 0)}`;
    showHint($("hint"), game, notes.hint);
    if (legal === "") this.#veil("Game over", `${count(score)} points in ${moves(store.at)}`);
    else board.veil();
    this.showTitle();
  }

  showTitle() {
    if (this.game && !$("view-play").hidden) document.title = `${count(this.store.now[2])} · ${titleOf(this.game)} – tilewright`;
  }

  /** The tile that wins was made for the first time in this game. */
  celebrate() {
    const on = make("button", { type: "button", class: "main" }, "Keep going");
    on.addEventListener("click", () => {
      this.board.veil();
      $("board").focus({ preventScroll: true });
    });
    this.#veil("You win", `${count(this.game.winTile)} in ${moves(this.store.at)}; the game goes on with any move`, on);
  }

  #veil(title, words, ...buttons) {
    const again = make("button", { type: "button", class: buttons.length ? "" : "main" }, "New game");
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

  /** Who made the moves, if it was not one alone. */
  #showPlayers() {
    const players = playersOf(this.store);
    const [last, , , , , mover] = this.store.now;
    const names = players.map(([player, made]) => `${player === HUMAN ? "you" : player} ${count(made)}`);
    const said = players.length > 1 && last ? `${names.join(" · ")} · last move ${last} by ${mover === HUMAN ? "you" : mover}` : "";
    $("game-players").textContent = said;
  }
}

/** The legal moves of an entry by their names. */
export const legalOf = (entry) => [...entry[4]].map(actionOf);
