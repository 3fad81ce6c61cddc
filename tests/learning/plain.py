"""Learning written a second time, as the papers put it: no kernels, one game at a time.

The rules of the game are those of the package (its methods for Python), the network is the naive one. Sums that decide
between moves are taken in 32 bits and in the order of the package, so that both play the same games; targets are taken
in 64 bits straight from the formulas.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.games.naive import score
from tests.ntuple import naive
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import ACTIONS
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.rng import Stream, stream_for

f32 = np.float32
Floats = NDArray[np.float32]
Corrected = Callable[[list[int], float], float]  # places and error -> the value after the correction


class Step(NamedTuple):
    indices: list[int]  # of what a move stood on
    earned: float  # from there to the next


def sum_weights(weights: Floats, indices: list[int]) -> np.float32:
    """Four sums side by side, and what is left over to the first."""
    whole = len(indices) // 4 * 4
    sums = [f32(0)] * 4
    for k in range(whole):
        sums[k % 4] += weights[indices[k]]
    for k in range(whole, len(indices)):
        sums[0] += weights[indices[k]]
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def gain(before: Board, after: Board) -> int:
    """What a new tile is worth: its points in Threes, nothing in 2048."""
    return score(after.tiles) - score(before.tiles) if before.game.name == "threes" else 0


@dataclass
class Plain:
    """A network that learns in plain Python. `sums` and `sizes` are E and A of temporal coherence."""

    game: Game
    shape: NTupleArchitecture
    weights: Floats
    value_function: str = "afterstate"
    step_size: str = "fixed"
    alpha: float = 1.0
    ends_are_zero: bool = False  # state values at play time: a finished board is worth nothing
    sums: Floats = field(init=False)
    sizes: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.sums, self.sizes = np.zeros_like(self.weights), np.zeros_like(self.weights)

    # What is valued: figures 4 to 6 of Szubert & Jaśkowski 2014

    def indices(self, board: Board, action: str = "") -> list[int]:
        """With an action: in the network of that action."""
        shift = ACTIONS.index(action) * self.shape.table_size if action else 0
        return [index + shift for index in naive.indices(self.shape, board)]

    def value(self, board: Board, action: str = "") -> np.float32:
        return sum_weights(self.weights, self.indices(board, action))

    def q_values(self, board: Board, action: str) -> np.float32:
        """EVALUATE of the paper."""
        if self.value_function == "action":
            return self.value(board, action)
        after, reward = self.game.slide(board, action)
        if self.value_function == "afterstate":
            return f32(reward) + self.value(after)
        total = f32(reward)
        for following, chance in self.game.outcomes(after):
            ended = self.ends_are_zero and self.game.is_over(following)
            value = f32(0) if ended else self.value(following)
            total += f32(chance) * (value + f32(gain(after, following)))
        return total

    def worths(self, board: Board) -> dict[str, np.float32]:
        return {action: self.q_values(board, action) for action in self.game.legal(board)}

    def best(self, board: Board) -> str | None:
        """The best move, the first among equals; None when the game is over."""
        worths = self.worths(board)
        return max(worths, key=lambda action: worths[action]) if worths else None

    def target_state(self, board: Board, action: str) -> list[int]:
        """The places of what a move stands on."""
        if self.value_function == "afterstate":
            return self.indices(self.game.slide(board, action)[0])
        return self.indices(board, action if self.value_function == "action" else "")

    # How far a weight moves

    def update_weights(self, indices: list[int], error: Any) -> np.float32:
        """One weight after the other, in 32 bits; returns their sum, each as it was after its step."""
        n, value = f32(len(indices)), f32(0)
        for index in indices:
            if self.step_size == "fixed":
                step = f32(self.alpha) * f32(error) / n
            else:
                part = f32(error) / n
                step = f32(self.alpha) * part
                if self.sizes[index] > 0:
                    step = step * abs(self.sums[index]) / self.sizes[index]
                self.sums[index] += part
                self.sizes[index] += abs(part)
            self.weights[index] += step
            value += self.weights[index]
        return value

    # Games

    def play(self, seed: int, number: int) -> list[Step]:
        """The moves of a game in which nothing is learned."""
        moves = []
        stream = stream_for(seed, number)
        board, _ = self.game.start_from(stream)
        while (action := self.best(board)) is not None:
            moves.append((self.target_state(board, action), *self._move(board, action, stream)))
            board = moves[-1][1]
        if self.value_function != "afterstate":
            return [Step(indices, reward + new) for indices, _, reward, new in moves]
        rewards = [reward for _, _, reward, _ in moves[1:]] + [0]
        return [Step(indices, new + reward) for (indices, _, _, new), reward in zip(moves, rewards, strict=True)]

    def _move(self, board: Board, action: str, stream: Stream) -> tuple[Board, int, int]:
        after, reward = self.game.slide(board, action)
        following, _ = self.game.spawn(after, stream)
        return following, reward, gain(after, following)

    def learn_online(self, seed: int, number: int) -> None:
        """LEARN EVALUATION of the paper after every move, once the next one is known."""
        stream = stream_for(seed, number)
        board, _ = self.game.start_from(stream)
        before, earned = None, 0.0
        while True:
            action = self.best(board)
            target = earned
            if action is not None:
                target += float(self.q_values(board, action))
                if self.value_function == "state":
                    target = earned + float(self.value(board))
            if before is not None:
                self.update_weights(before, target - float(sum_weights(self.weights, before)))
            if action is None:
                return
            before = self.target_state(board, action)
            board, reward, new = self._move(board, action, stream)
            earned = new if self.value_function == "afterstate" else reward + new

    def learn_backward(self, seed: int, number: int, lambda_: float, n_step: int) -> None:
        """The whole game first, then every value towards its return, the last first."""
        game = self.play(seed, number)
        rewards = [step.earned for step in game]
        values = [0.0] * (len(game) + 1)  # after their own correction; the end is worth nothing
        for t in reversed(range(len(game))):
            target = lambda_return(rewards, values, t, lambda_, n_step)
            values[t] = float(
                self.update_weights(game[t].indices, target - float(sum_weights(self.weights, game[t].indices)))
            )

    def learn_rechoosing(self, seed: int, number: int, *, rechoose: bool, value_last_board: bool) -> None:
        """`close_episode` and `learn` of Chen 2019: backward, with a next move by the weights as they are."""
        stream = stream_for(seed, number)
        board, _ = self.game.start_from(stream)
        moves = []
        while (action := self.best(board)) is not None:
            following, reward, new = self._move(board, action, stream)
            moves.append((self.target_state(board, action), following, reward, new))
            board = following
        for t, (indices, following, reward, new) in reversed(list(enumerate(moves))):
            target = float(new if self.value_function == "afterstate" else reward + new)
            action = self.best(following)
            if action is not None and rechoose:
                target += float(self.q_values(following, action))
            elif action is not None:
                target += float(sum_weights(self.weights, moves[t + 1][0]))
            elif value_last_board:
                target += float(self.value(following))
            self.update_weights(indices, target - float(sum_weights(self.weights, indices)))


def n_step_return(rewards: list[float], values: list[float], t: int, n: int) -> float:
    """Equation (4) of Yeh et al. 2016."""
    return sum(rewards[t : t + n]) + values[t + n]


def return_weights(lambda_: float, longest: int) -> list[float]:
    """How much the returns over 1, 2, … `longest` moves count, by equation (3): the last takes what is left."""
    return [(1 - lambda_) * lambda_ ** (n - 1) for n in range(1, longest)] + [lambda_ ** (longest - 1)]


def lambda_return(rewards: list[float], values: list[float], t: int, lambda_: float, n_step: int) -> float:
    """Equation (3), over at most `n_step` moves where that is not 0."""
    left = len(rewards) - t
    longest = min(n_step, left) if n_step else left
    weights = return_weights(lambda_, longest)
    return sum(weight * n_step_return(rewards, values, t, n) for n, weight in enumerate(weights, 1))
