"""A game and agents of a user, as plug-ins that tests register."""

import tilewright as tw

__all__ = ["Broken", "Corner", "Halves", "NotFinite", "Unregistered"]


class Halves(tw.LineGame):
    """Equal tiles merge to the next smaller one: tiles do not merge by adding up."""

    tile_values = (2, 4, 8, 16)
    rows = 3
    columns = 3

    def slide_line(self, line: list[int]) -> tuple[list[int], int]:
        tiles, moved, reward = [tile for tile in line if tile], list[int](), 0
        while tiles:
            tile = tiles.pop(0)
            if tile > 2 and tiles and tiles[0] == tile:
                tiles.pop(0)
                tile //= 2
                reward += tile
            moved.append(tile)
        return moved + [0] * (len(line) - len(moved)), reward

    def spawns(self) -> dict[int, float]:
        return {4: 0.5, 16: 0.5}


class Unregistered(Halves):
    """A game that the server is not started with."""


class Corner(tw.Agent):
    """Prefers moves that leave a large tile in the top left corner."""

    weight: int = 1

    def values(self, board: tw.Board, stream: tw.Stream | None = None) -> dict[str, float]:
        slide = board.game.slide
        return {move: self.weight * slide(board, move)[0].tiles[0][0] for move in board.game.legal(board)}


class Broken(tw.Agent):
    """Raises an error at every board."""

    def values(self, board: tw.Board, stream: tw.Stream | None = None) -> dict[str, float]:
        raise ZeroDivisionError("an error of the agent")


class NotFinite(tw.Agent):
    """Gives every move the value NaN."""

    def values(self, board: tw.Board, stream: tw.Stream | None = None) -> dict[str, float]:
        return dict.fromkeys(board.game.legal(board), float("nan"))
