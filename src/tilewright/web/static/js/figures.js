/** What a review says of a game as a whole: figures, classes, and the worst moves. */

import { CLASSES } from "./analysis.js";
import { Board } from "./board.js";
import { $, make } from "./dom.js";
import { decode } from "./games.js";
import { t } from "./language.js";
import { count, oneDigit, percent, shortSpec, signed } from "./numbers.js";
import { HUMAN } from "./store.js";

/** [key of the name, value] of everything that is said of the game as a whole; `figure.NAME.means` says what it means. */
function figuresOf(result, summary) {
  const found = [
    ["player", result.player.split(" + ").map((player) => (player === HUMAN ? t("you") : shortSpec(player))).join(" + ")],
    ["score", count(result.score)],
    ["moves", count(result.moves)],
    ["agreement", percent(result.agreement)],
    ["loss", oneDigit(result.loss.total)],
  ];
  if (!summary) return found;
  const { accuracy, expected, lost, luck } = summary;
  found.splice(3, 0, ["accuracy", percent(accuracy)]);
  found.push(["expected", count(expected)], ["cost", signed(-lost)]);
  if (result.over) found.push(["luck", signed(luck)]);
  return found;
}

/** Show what is said of the game as a whole, and how many moves belong to which class. */
export function showFigures(result, summary) {
  const box = ([name, value]) =>
    make("div", { title: t(`figure.${name}.means`) }, make("dt", {}, t(`figure.${name}`)), make("dd", { class: value.length > 7 ? "words" : "" }, value));
  $("review-figures").replaceChildren(...figuresOf(result, summary).map(box));
  const counted = CLASSES.map(({ name, sign }) => {
    const number = summary?.counts[name] ?? 0;
    const title = t(`class.${name}.means`);
    return make("li", { "data-class": name, title }, `${sign} ${t(`class.${name}.many`, { n: number })} `, make("b", {}, count(number)));
  });
  $("review-classes").hidden = !summary;
  $("review-classes").replaceChildren(...counted);
  $("review-unit").textContent = summary ? "" : t("review.unitless");
}

/** List the worst moves as small boards; `pick(i)` is called when one is chosen, counted from 0. */
export function showWorst(worst, game, codeAt, pick) {
  const entries = worst.map((move) => {
    const small = make("div", { class: "board" });
    const lost = move.cost === null ? `−${oneDigit(move.loss)}` : `−${count(move.loss)} (${percent(move.cost)})`;
    const names = { number: count(move.number), move: t(`move.${move.played}`), best: t(`move.${move.best}`) };
    const words = make("span", {}, `${t("worst.move", names)} `, make("b", {}, lost), t("worst.better", names));
    const button = make("button", { type: "button" }, small, words);
    button.addEventListener("click", () => pick(move.number - 1));
    const view = new Board(small);
    view.setGame(game);
    view.show(decode(codeAt(move.number - 1), game).tiles);
    return make("li", {}, button);
  });
  $("review-worst").replaceChildren(...(entries.length ? entries : [make("li", { class: "none" }, t("worst.none"))]));
}
