"""A game of your own in plain Python: 2048 with Fibonacci numbers, in which the tile 987 wins.

PYTHONPATH=examples tilewright evaluate heuristic --game own_game:Fibonacci --games 5
"""

import tilewright as tw


class Fibonacci(tw.LineGame):
    """Two 1s merge, and so do tiles that follow each other in 1, 2, 3, 5, 8, …; 987 wins."""

    tile_values = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987)
    win_tile = 987

    def slide_line(self, line: list[int]) -> tuple[list[int], int]:
        tiles, moved, reward = [tile for tile in line if tile], [], 0
        while tiles:
            tile = tiles.pop(0)
            if tiles and tile + tiles[0] in self.tile_values:
                tile += tiles.pop(0)
                reward += tile
            moved.append(tile)
        return moved + [0] * (len(line) - len(moved)), reward

    def spawns(self) -> dict[int, float]:
        return {1: 0.9, 2: 0.1}


if __name__ == "__main__":
    result = tw.evaluate("heuristic:depth=2", Fibonacci(), games=20, seed=1)
    print(f"mean score {result.score.value:,.0f} in {result.games} games")
