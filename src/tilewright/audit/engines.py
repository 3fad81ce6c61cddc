"""Engines under audit: the interfaces of other packages behind one small protocol.

gymnasium:ID        an environment of Gymnasium, as gymnasium:package:Name-v0
pgx                 the environment 2048 of pgx
jumanji             Game2048 of jumanji
open_spiel          the game 2048 of OpenSpiel
module:callable     an engine of yours, or an environment of Gymnasium, that the callable returns
"""

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tilewright._core.registry import load_object
from tilewright._core.text import excerpt
from tilewright.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import gymnasium

__all__ = ["Engine", "EngineFactory", "Shown", "View", "open_engine"]

# Tile values or exponents, or one plane for each exponent, in any of the usual shapes.
Shown: TypeAlias = NDArray[np.number | np.bool_]

_MASK_NAMES = ("action_mask", "action_masks", "legal_action_mask", "valid_actions_mask")


class View(NamedTuple):
    """What an engine shows of a game."""

    board: Shown
    legal: tuple[bool, ...] | None = None  # the engine's own answer which actions are legal; None if it has none
    over: bool = False
    truncated: bool = False  # the episode ends for another reason than the rules, such as a limit of steps


class Engine(Protocol):
    """A game of 2048 that can be driven. Actions are 0 to 3, in any order of the four directions."""

    def reset(self, seed: int) -> View:
        """Start a game."""

    def step(self, action: int) -> tuple[View, float]:
        """Make a move; return what is seen and the reward."""


class EngineFactory(NamedTuple):
    """How engines under audit are made, and what they are called."""

    target: str
    version: str
    make: Callable[[], Engine]
    takes_illegal_moves: bool = True  # whether an illegal move may be tried
    draws_tiles: bool = True  # whether the engine itself draws its new tiles


def open_engine(target: str) -> EngineFactory:
    """Find the engine that a target names.

    Args:
        target: `gymnasium:ID`, `pgx`, `jumanji`, `open_spiel` or `module:callable`.

    Raises:
        UsageError: There is no such engine, or it cannot be made.
        MissingExtraError: Its package is not installed.
    """
    if not isinstance(target, str) or not target.strip():
        raise UsageError(
            f"{excerpt(target)} is not an engine: give gymnasium:ID, pgx, jumanji, open_spiel or module:callable"
        )
    name, _, rest = target.partition(":")
    if name == "gymnasium" and rest:
        return _open_gymnasium(target, rest)
    if target in _PACKAGES:
        package, make, takes_illegal_moves, draws_tiles = _PACKAGES[target]
        _require(package)
        return EngineFactory(target, _version_of(package), make, takes_illegal_moves, draws_tiles)
    if not rest:
        raise UsageError(
            f"there is no engine {target!r}; there are: gymnasium:ID, {', '.join(_PACKAGES)}, module:callable"
        )
    return _open_callable(target)


def _require(package: str) -> None:
    module = "pyspiel" if package == "open_spiel" else package
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{package} is not installed ({error}): pip install {package}") from None


def _version_of(module: str) -> str:
    """The version of the distribution that has a module, as `name 1.2.3`."""
    top = module.partition(".")[0]
    for name in importlib.metadata.packages_distributions().get(top, [top]):
        try:
            return f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


# Gymnasium


def _open_gymnasium(target: str, environment: str) -> EngineFactory:
    _require("gymnasium")
    import gymnasium

    try:
        env = gymnasium.make(environment)
    except (gymnasium.error.Error, ImportError) as error:
        raise UsageError(f"{target}: {_first_line(error)}") from None
    version = _version_of(type(env.unwrapped).__module__)
    env.close()
    return EngineFactory(target, version, lambda: _GymnasiumEngine(gymnasium.make(environment)))


class _GymnasiumEngine:
    def __init__(self, env: "gymnasium.Env[object, int]") -> None:
        self.env = env

    def reset(self, seed: int) -> View:
        observation, info = self.env.reset(seed=seed)
        return self._view(observation, info)

    def step(self, action: int) -> tuple[View, float]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._view(observation, info, bool(terminated), bool(truncated)), float(reward)

    def _view(
        self, observation: object, info: Mapping[str, object], over: bool = False, truncated: bool = False
    ) -> View:
        return View(_find_board(observation, info), self._legal(observation, info), over, truncated)

    def _legal(self, observation: object, info: Mapping[str, object]) -> tuple[bool, ...] | None:
        for source in (info, observation if isinstance(observation, dict) else {}):
            for name in _MASK_NAMES:
                if name in source:
                    return _as_mask(source[name])
        masks = getattr(self.env.unwrapped, "action_masks", None)
        return _as_mask(masks()) if callable(masks) else None


def _find_board(observation: object, info: Mapping[str, object]) -> Shown:
    """The array that may be a board: the observation itself, an entry of it, or `info["board"]`."""
    entries = list(observation.values()) if isinstance(observation, dict) else [observation]
    if isinstance(observation, dict) and "board" in observation:
        entries = [observation["board"]]
    for entry in [*entries, info.get("board")]:
        array = np.asarray(entry)
        if array.dtype.kind in "iufb" and array.size >= 4:
            return array if isinstance(entry, np.ndarray) else array.copy()
    raise UsageError("the observations contain no array that could be a board")


def _as_mask(mask: object) -> tuple[bool, ...]:
    return tuple(bool(legal) for legal in np.asarray(mask).reshape(-1))


# Packages with an interface of their own


class _PgxEngine:
    def __init__(self) -> None:
        import jax
        import pgx

        self._jax = jax
        env = pgx.make("2048")
        self._init, self._step = jax.jit(env.init), jax.jit(env.step)
        self._state: Any = None
        self._key: Any = None

    def reset(self, seed: int) -> View:
        self._key, key = self._jax.random.split(self._jax.random.PRNGKey(seed))
        self._state = self._init(key)
        return self._view()

    def step(self, action: int) -> tuple[View, float]:
        self._key, key = self._jax.random.split(self._key)
        self._state = self._step(self._state, action, key)
        return self._view(), float(self._state.rewards[0])

    def _view(self) -> View:
        state = self._state
        mask = _as_mask(state.legal_action_mask)
        return View(np.asarray(state.observation), mask, bool(state.terminated), bool(state.truncated))


class _JumanjiEngine:
    def __init__(self) -> None:
        import jax
        import jumanji

        self._jax = jax
        env = jumanji.make("Game2048-v1")
        self._reset, self._step = jax.jit(env.reset), jax.jit(env.step)
        self._state: Any = None

    def reset(self, seed: int) -> View:
        self._state, timestep = self._reset(self._jax.random.PRNGKey(seed))
        return self._view(timestep)

    def step(self, action: int) -> tuple[View, float]:
        self._state, timestep = self._step(self._state, action)
        return self._view(timestep), float(timestep.reward)

    def _view(self, timestep: Any) -> View:
        seen = timestep.observation
        return View(np.asarray(seen.board), _as_mask(seen.action_mask), bool(timestep.last()))


class _OpenSpielEngine:
    def __init__(self) -> None:
        import pyspiel

        self._game = pyspiel.load_game("2048")
        self._state: Any = None
        self._chance = np.random.default_rng(0)

    def reset(self, seed: int) -> View:
        self._chance = np.random.default_rng(seed)
        self._state = self._game.new_initial_state()
        self._draw()
        return self._view()

    def step(self, action: int) -> tuple[View, float]:
        self._state.apply_action(action)
        self._draw()
        return self._view(), float(self._state.rewards()[0])

    def _draw(self) -> None:
        """Draw new tiles with the probabilities that the game states."""
        while self._state.is_chance_node():
            actions, probabilities = zip(*self._state.chance_outcomes(), strict=True)
            weights = np.asarray(probabilities)
            self._state.apply_action(int(self._chance.choice(actions, p=weights / weights.sum())))

    def _view(self) -> View:
        state = self._state
        board = np.asarray(state.observation_tensor(0), np.int64)
        legal = set(state.legal_actions()) if not state.is_terminal() else set()
        return View(board, tuple(action in legal for action in range(4)), state.is_terminal())


# target -> (package, engine, whether illegal moves may be tried, whether it draws its tiles)
_PACKAGES: dict[str, tuple[str, Callable[[], Engine], bool, bool]] = {
    "pgx": ("pgx", _PgxEngine, True, True),
    "jumanji": ("jumanji", _JumanjiEngine, True, True),
    "open_spiel": ("open_spiel", _OpenSpielEngine, False, False),  # an illegal move ends the process
}


# Callables


def _open_callable(target: str) -> EngineFactory:
    try:
        function = load_object(target)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"engine {target}: {_first_line(error)}") from None
    if not callable(function):
        raise UsageError(f"engine {target}: is not callable; it must return an engine")
    _adapt(function(), target)
    return EngineFactory(target, _version_of(target.partition(":")[0]), lambda: _adapt(function(), target))


def _adapt(made: object, target: str) -> Engine:
    if hasattr(made, "observation_space"):
        return _GymnasiumEngine(cast("gymnasium.Env[object, int]", made))
    if not callable(getattr(made, "reset", None)) or not callable(getattr(made, "step", None)):
        raise UsageError(f"engine {target}: {excerpt(made)} has no methods reset(seed) and step(action)")
    return _PlainEngine(cast(_PlainGame, made))


class _PlainGame(Protocol):
    """What a callable of yours returns."""

    def reset(self, seed: int) -> object:
        """Start a game; return a View or the board."""

    def step(self, action: int) -> Sequence[Any]:
        """Make a move; return (View, reward), (board, reward, over) or (board, reward, over, legal)."""


class _PlainEngine:
    """An engine of plain Python."""

    def __init__(self, made: _PlainGame) -> None:
        self._made = made

    def reset(self, seed: int) -> View:
        seen = self._made.reset(seed)
        return seen if isinstance(seen, View) else View(_as_board(seen))

    def step(self, action: int) -> tuple[View, float]:
        result = self._made.step(action)
        if isinstance(result[0], View):
            return result[0], float(result[1])
        board, reward, over, *legal = result
        return View(_as_board(board), _as_mask(legal[0]) if legal else None, bool(over)), float(reward)


def _as_board(board: object) -> Shown:
    return board if isinstance(board, np.ndarray) else np.array(board)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
