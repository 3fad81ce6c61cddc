"""Exercise: a program that learns to play 2048, by TD(0) of afterstate values.

The game is given. Write the four functions that raise NotImplementedError, and check them with

    python examples/course/grade.py td_player.py

The board has two rows and three columns, so that learning takes seconds; perfect play has a mean score of 480.26.
"""

import random

ROWS, COLUMNS = 2, 3
rows = [[row * COLUMNS + column for column in range(COLUMNS)] for row in range(ROWS)]
columns = [list(cells) for cells in zip(*rows, strict=True)]
MOVES = {"left": rows, "right": [cells[::-1] for cells in rows]}  # each line from the side that tiles slide to
MOVES |= {"up": columns, "down": [cells[::-1] for cells in columns]}

Board = tuple[int, ...]
TUPLES = [(0, 1, 3, 4), (1, 2, 4, 5), (0, 1, 2), (3, 4, 5), (0, 3), (1, 4), (2, 5)]
tables: list[dict[Board, float]] = [{} for _ in TUPLES]  # one table of weights for each tuple


def slide_line(tiles: list[int]) -> tuple[list[int], int]:
    """Slide tiles to the front; two equal tiles merge, once, and their sum is the reward."""
    tiles, moved, reward = [tile for tile in tiles if tile], [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            reward += tile
        moved.append(tile)
    return moved, reward


def slide(board: Board, move: str) -> tuple[Board, int]:
    """Return the afterstate and the reward of a move; a move that is not legal changes nothing."""
    after, total = [0] * len(board), 0
    for cells in MOVES[move]:
        moved, reward = slide_line([board[cell] for cell in cells])
        for cell, tile in zip(cells, moved, strict=False):
            after[cell] = tile
        total += reward
    return tuple(after), total


def spawn(board: Board) -> Board:
    """Put a new tile on an empty cell: a 2, or with probability 0.1 a 4."""
    cell = random.choice([cell for cell, tile in enumerate(board) if tile == 0])
    return board[:cell] + (4 if random.random() < 0.1 else 2,) + board[cell + 1 :]


def read(after: Board, cells: tuple[int, ...]) -> Board:
    """Return the tiles of some cells: the key of a table."""
    return tuple(after[cell] for cell in cells)


def value(after: Board) -> float:
    """Exercise 1: return the value of an afterstate, the sum of what all tables say; an unknown key counts 0."""
    raise NotImplementedError("exercise 1: value")


def update(after: Board, error: float, alpha: float) -> None:
    """Exercise 2: change the tables so that the value of `after` grows by `alpha * error`, every table by its share."""
    raise NotImplementedError("exercise 2: update")


def best_move(board: Board) -> tuple[Board, int] | None:
    """Exercise 3: return afterstate and reward of the legal move with the largest reward + value, None at the end."""
    raise NotImplementedError("exercise 3: best_move")


def play(alpha: float) -> int:
    """Exercise 4: play a game from two random tiles, learn from it unless `alpha` is 0, and return the score."""
    raise NotImplementedError("exercise 4: play")


if __name__ == "__main__":
    for games in range(100, 1001, 100):
        print(f"games up to {games}: mean score {sum(play(alpha=0.5) for _ in range(100)) / 100:.1f}")
