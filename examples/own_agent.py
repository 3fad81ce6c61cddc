"""An agent of your own in five lines: it prefers moves that leave a large tile in the top left corner.

PYTHONPATH=examples tilewright evaluate own_agent:Corner --games 20
"""

import tilewright as tw


class Corner(tw.Agent):
    """Prefers moves that leave a large tile in the top left corner."""

    def values(self, board: tw.Board, stream: tw.Stream | None = None) -> dict[str, float]:
        slide = board.game.slide
        return {move: slide(board, move)[0].tiles[0][0] for move in board.game.legal(board)}


if __name__ == "__main__":
    result = tw.evaluate(Corner(), "2048", games=20, seed=1)
    print(f"mean score {result.score.value:,.0f} in {result.games} games")
