"""Many boards as one Gymnasium vector environment; one kernel call makes all moves."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tilewright._core.checks import check_choice
from tilewright.envs.batch import BatchedGames, StepResult
from tilewright.envs.options import EnvOptions, RewardFunction
from tilewright.envs.render import render_rgb
from tilewright.envs.single import BoardEnv, Info, check_options, check_seed, observation_space
from tilewright.errors import UsageError
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.rules import State

__all__ = ["BoardVectorEnv"]

Observations = NDArray[np.uint8]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class BoardVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[np.generic]]):
    """`num_envs` boards of one game, with the options of `BoardEnv`.

    Board i of an environment that is reset with seed s plays the game of a `BoardEnv` that is reset with seed s + i.

    The autoreset modes are those of Gymnasium 1.x. With NEXT_STEP, the step after the end of an episode ignores its
    action, starts the next episode and has reward 0. With SAME_STEP, the next episode starts at once;
    `info["final_obs"]` and `info["final_info"]` hold the last observation and information of the old one. With
    DISABLED, a step raises an error until `reset(options={"reset_mask": ended})` has reset the boards whose episodes
    have ended.

    >>> import gymnasium, tilewright.envs
    >>> envs = gymnasium.make_vec("tilewright/2048-v1", num_envs=1000)
    >>> observations, info = envs.reset(seed=1)
    >>> observations.shape, info["action_mask"].shape
    ((1000, 4, 4), (1000, 4))

    Attributes:
        games: The games.
        game: The game that is played on every board.
        autoreset_mode: What happens after the end of an episode; also `metadata["autoreset_mode"]`.
    """

    def __init__(
        self,
        num_envs: int,
        game: str | Game = "2048",
        *,
        observation: str = "grid",
        reward: str | RewardFunction = "score",
        penalty: float = 0.0,
        end_probability: float = 0.0,
        end_fraction: float = 0.0,
        end_after: int = 0,
        max_invalid_moves: int = 100,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            num_envs: The number of boards.
            game: A spec or a Game.
            observation: The encoding of the boards.
            reward: The reward of a valid move.
            penalty: The cost of an invalid move.
            end_probability: The probability that an invalid move ends the episode.
            end_fraction: The largest allowed fraction of invalid moves; 0 for no limit.
            end_after: The number of invalid moves up to which their fraction does not end an episode.
            max_invalid_moves: The number of invalid moves in a row that truncates the episode; 0 for no limit.
            max_episode_steps: The number of moves that truncates the episode; None for no limit.
            autoreset_mode: NEXT_STEP, SAME_STEP or DISABLED, as a text or as Gymnasium's constant.
            render_mode: ansi, rgb_array or None.

        Raises:
            UsageError: A value is not allowed.
        """
        mode = _read_autoreset_mode(autoreset_mode)
        if render_mode is not None:
            check_choice(f"render_mode={render_mode!r}", render_mode, ("ansi", "rgb_array"))
        options = EnvOptions(
            game,
            observation,
            reward,
            penalty,
            end_probability,
            end_fraction,
            end_after,
            max_invalid_moves,
            max_episode_steps,
        )
        self.games = BatchedGames(options, num_envs, autoreset=mode == AutoresetMode.SAME_STEP)
        self.game = self.games.game
        self.num_envs, self.render_mode = num_envs, render_mode
        self.autoreset_mode, self._is_disabled = mode, mode == AutoresetMode.DISABLED
        self.metadata = {**BoardEnv.metadata, "autoreset_mode": mode}
        self.single_action_space = spaces.Discrete(4)
        self.single_observation_space = observation_space(self.game, self.games.encoder)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._all = np.ones(num_envs, np.bool_)
        self._tile_values = np.array(self.game.tile_values)
        self._seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, object] | None = None
    ) -> tuple[Observations, Info]:
        """Start a new episode on every board, or on some boards.

        Args:
            seed: Board i gets the seed `seed + i`, or item i of a sequence; None continues the random stream.
            options: `{"reset_mask": mask}` resets only the boards where the mask, bool[num_envs], is True.

        Returns:
            The observations of all boards, uint8[num_envs, …], and the information of the boards that were reset.

        Raises:
            UsageError: A seed is not a whole number from 0 up, the sequence has another length than `num_envs`, an
                option is unknown, or the mask has another form.
        """
        mask = self._read_mask(check_options(options, ("reset_mask",)))
        for i, board_seed in enumerate(self._board_seeds(seed)):
            if board_seed is not None and mask[i]:
                self.games.seed(i, int(board_seed))
        result = self.games.reset() if mask.all() else self.games.reset_some(mask)
        return self._observations(result.observations), self._info(result, mask)

    def _read_mask(self, options: dict[str, object]) -> Bools:
        if "reset_mask" not in options:
            return self._all
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise UsageError(f"reset_mask must be a NumPy array of bool and of shape ({self.num_envs},)")
        if not mask.any():
            raise UsageError("reset_mask must be True for at least one board")
        if not self._seeded and not mask.all():
            raise UsageError("the first reset must reset all boards: leave out reset_mask")
        return mask.copy()

    def _board_seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        seeds: Sequence[int | None] = [None] * self.num_envs
        if isinstance(seed, int | Real):
            check_seed(seed)
            seeds = range(int(seed), int(seed) + self.num_envs)
            self._np_random, self._np_random_seed = np.random.default_rng(int(seed)), int(seed)
        elif seed is not None:
            seeds = list(seed)
            for board_seed in seeds:
                check_seed(board_seed)
            if len(seeds) != self.num_envs:
                raise UsageError(f"{len(seeds)} seeds for {self.num_envs} environments")
        first, self._seeded = not self._seeded, True
        if not first:
            return seeds
        return [int(self.np_random.integers(2**62)) if one is None else one for one in seeds]

    def step(self, actions: NDArray[np.int64]) -> tuple[Observations, Floats, Bools, Bools, Info]:
        """Make a move on every board.

        Args:
            actions: int[num_envs]; 0 up, 1 right, 2 down, 3 left.

        Returns:
            Observations, rewards, which episodes terminate, which are truncated, and the information.

        Raises:
            UsageError: The actions are not `num_envs` whole numbers from 0 to 3, or, with DISABLED, an episode has
                ended and its board was not reset.
        """
        try:
            given = np.asarray(actions)
        except ValueError:  # a ragged list
            raise self._bad_actions() from None
        if given.dtype.kind not in "iu":
            raise self._bad_actions()
        chosen = np.ascontiguousarray(given, np.int64)
        if chosen.shape != (self.num_envs,) or chosen.view(np.uint64).max() > 3:  # negative numbers are huge ones there
            raise self._bad_actions()
        if self._is_disabled:
            self._check_all_begun()
        result, any_ended = self.games.step(chosen)
        info = self._info(result, self._all)
        if any_ended:
            self._add_ends(result, info)
        return self._observations(result.observations), result.rewards, result.terminated, result.truncated, info

    def _check_all_begun(self) -> None:
        ended = np.flatnonzero(self.games.state.done)
        if len(ended):
            boards = f"board {ended[0]}" if len(ended) == 1 else f"{len(ended)} boards"
            raise UsageError(
                f"the episode of {boards} has ended, or not begun: call reset(options={{'reset_mask': mask}}) first"
            )

    def _bad_actions(self) -> UsageError:
        return UsageError(f"actions must be {self.num_envs} whole numbers from 0 to 3")

    def _observations(self, flat: Observations) -> Observations:
        return flat.reshape(self.num_envs, *self.games.observation_shape)

    def _info(self, result: StepResult, valid: Bools) -> Info:
        masks, scores = result.action_masks, result.scores
        return {"action_mask": masks, "_action_mask": valid, "score": scores, "_score": valid}

    def _add_ends(self, result: StepResult, info: Info) -> None:
        """Add what Gymnasium wants to know of the episodes that have ended."""
        ended = result.terminated | result.truncated
        largest = self._tile_values[result.largest_codes]
        if not self.games.autoreset:
            info.update(largest=largest, _largest=ended)
            return
        info["final_obs"], info["_final_obs"] = self._observations(result.final_observations), ended
        info["final_info"] = {
            "action_mask": result.final_action_masks,
            "_action_mask": ended,
            "score": result.final_scores,
            "_score": ended,
            "largest": largest,
            "_largest": ended,
        }
        info["_final_info"] = ended

    def board(self, i: int) -> Board:
        """Return the current board number i."""
        state = self.games.state
        return Board(self.game, State(state.cells[i].item(), state.extra[i].item()))

    def render(self) -> tuple[NDArray[np.uint8] | str, ...] | None:
        """Render all boards.

        Returns:
            A text (ansi) or an image uint8[height, width, 3] (rgb_array) for each board; None without a render_mode.
        """
        if self.render_mode is None:
            return None
        draw = render_rgb if self.render_mode == "rgb_array" else str
        return tuple(draw(self.board(i)) for i in range(self.num_envs))


def _read_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    found = next((one for one in AutoresetMode if mode in (one, one.name, one.value)), None)
    if found is None:
        raise UsageError(f"autoreset_mode={mode}: must be NEXT_STEP, SAME_STEP or DISABLED")
    return found
