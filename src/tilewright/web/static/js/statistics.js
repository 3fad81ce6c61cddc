/** Paired differences: agents play the same games, so what counts is the difference game by game. */

const STUDENT = [NaN, 12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157];

/** The 97.5 % quantile of Student's t: from a table, or beyond it by Fisher's expansion around the normal quantile. */
export function studentPoint(degrees) {
  if (degrees < STUDENT.length) return STUDENT[degrees];
  const z = 1.959963984540054;
  const [a, b] = [(z ** 3 + z) / 4, (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96];
  const c = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + a / degrees + b / degrees ** 2 + c / degrees ** 3;
}

/** The mean of `one` less `other` over the games that both have finished: {games, mean, margin}; null before two games. */
export function pairedDifference(one, other) {
  const games = Math.min(one.length, other.length);
  if (games < 2) return null;
  const differences = Array.from({ length: games }, (_, i) => one[i] - other[i]);
  const mean = differences.reduce((sum, value) => sum + value, 0) / games;
  const squares = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { games, mean, margin: studentPoint(games - 1) * Math.sqrt(squares / (games - 1) / games) };
}

/** What a difference says: which is better, if that can be told with 95 % confidence. */
export function verdict({ mean, margin }) {
  if (mean > margin) return "better";
  return mean < -margin ? "worse" : "open";
}

/** The results of a comparison as CSV: one row a game, one column an agent. */
export function scoresAsCsv(players) {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const games = Math.max(0, ...players.map(({ scores }) => scores.length));
  const rows = Array.from({ length: games }, (_, i) => [i, ...players.map(({ scores }) => scores[i] ?? "")]);
  return [["game", ...players.map(({ spec }) => quote(spec))], ...rows].map((row) => row.join(",")).join("\n") + "\n";
}
