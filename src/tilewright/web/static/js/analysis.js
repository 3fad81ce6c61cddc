/**
 * What the numbers of a review mean: what a move cost, which class it belongs to, how accurate a game was, and what was
 * luck. Only judges whose values are points that are still to come (`unit` "points") say all of that.
 *
 * The cost of a move is the part of the expected final score that it lost: its loss, divided by the score so far and the
 * value of the best move. So the last moves of a lost game cost little, however they lose.
 *
 * The limits of the classes, and the scale of the accuracy, come from 30,000 moves of players from random to strong,
 * judged by expectimax with two plies: docs/how-to/web.md has the table.
 */

export const CLASSES = [
  { name: "best", sign: "✓", from: 0 },
  { name: "good", sign: "✓", from: 0 },
  { name: "inaccuracy", sign: "?!", from: 0.005 },
  { name: "mistake", sign: "?", from: 0.02 },
  { name: "blunder", sign: "??", from: 0.08 },
];
const SCALE = 0.02; // the cost at which a move is 37 % accurate
const MISTAKE = 0.02;

/** The part of the expected final score that a move lost. */
export function costOf(loss, score, best) {
  const expected = score + best;
  return loss <= 0 ? 0 : expected > 0 ? Math.min(1, loss / expected) : 1;
}

/** The class of a move. */
export function classOf(cost) {
  return cost > 0 ? CLASSES.findLast((one) => cost >= one.from && one.name !== "best") : CLASSES[0];
}

/** How accurate a move is, from 0 to 1: 1 if it loses nothing. */
export const accuracyOf = (cost) => Math.exp(-cost / SCALE);

/** How long the bars of the moves are, from 0 to 1: their accuracy, their probability, or their place among the others. */
export function barParts(values, unit, score) {
  const all = Object.values(values);
  const [top, low] = [Math.max(...all), Math.min(...all)];
  const relative = (value) => (top > low ? 0.12 + (0.88 * (value - low)) / (top - low) : 1);
  const scale = { points: (value) => accuracyOf(costOf(top - value, score, top)), probability: (value) => value };
  const part = scale[unit] ?? relative;
  return Object.fromEntries(Object.entries(values).map(([action, value]) => [action, part(value)]));
}

/** What a move was, by the values of the position before it; null if the values do not have it. */
export function judge(advice, score, played) {
  const value = advice.values[played];
  if (value === undefined) return null;
  const top = Math.max(...Object.values(advice.values));
  const best = value === top ? played : Object.keys(advice.values).find((action) => advice.values[action] === top);
  const loss = top - value;
  if (advice.unit !== "points") return { played, best, loss, cost: null, kind: null };
  const cost = costOf(loss, score, top);
  return { played, best, loss, cost, kind: classOf(cost) };
}

/** Every move of a reviewed game: {number, played, best, loss, cost, kind, luck, player, score}. */
export function reviewedMoves(review, recording, startScore) {
  const scores = [startScore, ...recording.moves.map((move) => move[2])];
  const players = (recording.players ?? []).flatMap(([player, turns]) => Array.from({ length: turns }, () => player));
  const isPoints = review.unit === "points";
  return recording.moves.map(([played], i) => {
    const [loss, value] = [review.losses[i], review.values[i]];
    const cost = isPoints ? costOf(loss, scores[i], value) : null;
    const isLast = i + 1 === recording.moves.length;
    const next = isLast ? (review.over ? 0 : null) : review.values[i + 1];
    const luck = isPoints && next !== null ? scores[i + 1] - scores[i] + next - (value - loss) : null;
    const kind = isPoints ? classOf(cost) : null;
    return { number: i + 1, played, best: review.best[i], loss, cost, kind, luck, player: players[i] ?? review.player, score: scores[i] };
  });
}

/** What a reviewed game comes to: accuracy, moves by class, and where the points went. Null without a unit. */
export function summaryOf(moves, review, startScore) {
  if (review.unit !== "points") return null;
  const counts = Object.fromEntries(CLASSES.map(({ name }) => [name, moves.filter((move) => move.kind.name === name).length]));
  const sum = (key) => moves.reduce((all, move) => all + (move[key] ?? 0), 0);
  return {
    accuracy: moves.reduce((all, move) => all + accuracyOf(move.cost), 0) / moves.length,
    counts,
    expected: startScore + review.values[0],
    lost: sum("loss"),
    luck: sum("luck"),
  };
}

/** The moves that lost most of what could still be won, the worst first; by their loss where values have no unit. */
export function worstMoves(moves, most) {
  const weight = (move) => move.cost ?? move.loss;
  return moves.filter((move) => move.loss > 0).sort((a, b) => weight(b) - weight(a)).slice(0, most);
}

/** Whether a move is worth a look: a mistake or a blunder; where values have no unit, any loss. */
export const isMistake = (move) => (move.cost === null ? move.loss > 0 : move.cost >= MISTAKE);

/** The index of the next (1) or last (-1) mistake before or after `at`; -1 if there is none. */
export function otherMistake(moves, at, direction) {
  for (let i = at + direction; i >= 0 && i < moves.length; i += direction) if (isMistake(moves[i])) return i;
  return -1;
}
