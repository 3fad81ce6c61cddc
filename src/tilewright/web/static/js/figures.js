/** What a review says of a game as a whole: figures, classes, and the worst moves. */

import { CLASSES } from "./analysis.js";
import { Board } from "./board.js";
import { $, make } from "./dom.js";
import { decode } from "./games.js";
import { count, oneDigit, percent, shortSpec, signed } from "./numbers.js";

/** [name, value, what it means] of everything that is said of the game as a whole. */
function figuresOf(result, summary) {
  const found = [
    ["Player", shortSpec(result.player), "Who made the moves."],
    ["Score", count(result.score), "Points at the end of the recording."],
    ["Moves", count(result.moves), ""],
    ["Agree with the judge", percent(result.agreement), "Moves that are as good as the judge's best move."],
    ["Loss in total", oneDigit(result.loss.total), "The sum of what all moves lost against the judge's best ones."],
  ];
  if (!summary) return found;
  const { accuracy, expected, lost, luck } = summary;
  found.splice(3, 0, ["Accuracy", percent(accuracy), "100 % if no move loses anything; a random player has about 55 %, a strong one 98 %."]);
  found.push(["Expected at the start", count(expected), "The points that the judge would have expected to make."]);
  found.push(["Cost of choices", signed(-lost), "What the player's moves lost, in points."]);
  if (result.over) found.push(["Luck", signed(luck), "What the new tiles brought, and what the judge saw only later: the final score is what was expected, less the cost of choices, plus luck."]);
  return found;
}

/** Show what is said of the game as a whole, and how many moves belong to which class. */
export function showFigures(result, summary) {
  const box = ([name, value, means]) =>
    make("div", { title: means }, make("dt", {}, name), make("dd", { class: value.length > 7 ? "words" : "" }, value));
  $("review-figures").replaceChildren(...figuresOf(result, summary).map(box));
  const counted = CLASSES.map(({ name, sign, means }) =>
    make("li", { "data-class": name, title: means }, `${sign} ${summary?.counts[name] === 1 ? name : plural(name)} `, make("b", {}, count(summary?.counts[name] ?? 0))),
  );
  $("review-classes").hidden = !summary;
  $("review-classes").replaceChildren(...counted);
  $("review-unit").textContent = summary ? "" : "The values of this judge are no expected points: there is no accuracy, and moves have no classes.";
}

const plural = (name) => ({ best: "best", good: "good", inaccuracy: "inaccuracies" })[name] ?? `${name}s`;

/** List the worst moves as small boards; `pick(i)` is called when one is chosen, counted from 0. */
export function showWorst(worst, game, codeAt, pick) {
  const entries = worst.map((move) => {
    const small = make("div", { class: "board" });
    const lost = move.cost === null ? `−${oneDigit(move.loss)}` : `−${count(move.loss)} (${percent(move.cost)})`;
    const words = make("span", {}, `Move ${count(move.number)}: ${move.played} `, make("b", {}, lost), `, better ${move.best}`);
    const button = make("button", { type: "button" }, small, words);
    button.addEventListener("click", () => pick(move.number - 1));
    const view = new Board(small);
    view.setGame(game);
    view.show(decode(codeAt(move.number - 1), game).tiles);
    return make("li", {}, button);
  });
  $("review-worst").replaceChildren(...(entries.length ? entries : [make("li", { class: "none" }, "No move lost anything.")]));
}
