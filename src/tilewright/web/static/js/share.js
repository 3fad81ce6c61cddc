/** Links that hold a game, a position and an agent: `#play?game=2048&board=1120000000000001&agent=expectimax`. */

/** The view and the parameters of a hash. */
export function readHash(hash) {
  const [name, query = ""] = hash.replace(/^#/, "").split("?");
  return { name, link: Object.fromEntries(new URLSearchParams(query)) };
}

/** A link to a position on the page at `location`. */
export function linkTo(location, { game, board, agent }) {
  return `${location.origin}${location.pathname}#play?${new URLSearchParams({ game, board, agent })}`;
}
