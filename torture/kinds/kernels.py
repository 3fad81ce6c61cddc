"""Every agent on every game, size and tile, with kernels that check every index."""

import contextlib
import importlib.util
import math
import random
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from tilewright import make_agent, make_game
from tilewright.agents.base import Player
from tilewright.errors import TilewrightError
from tilewright.games.base import Game
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.rng import stream_for
from torture.campaign import Campaign, Case, WrongError
from torture.kinds.boards import GAMES, check_board, random_notes, random_tiles
from torture.kinds.models import CHECKED, sample_models
from torture.mutation import sometimes

__all__ = ["Kernels"]

_AGENTS = (
    *(
        "random",
        "greedy",
        "heuristic:depth=1",
        "heuristic:depth=3",
        "heuristic:depth=2,table=0",
        "heuristic:limits=4-3-2",
    ),
    *("heuristic:depth=12,ms=3", "heuristic:depth=12,ms=3,table=64", "heuristic:depth=3,prune=0.1", "minimax:depth=1"),
    *("minimax:depth=3", "minimax:depth=12,ms=3", "montecarlo:rollouts=4", "montecarlo:rollouts=4,playout=merges"),
    *(
        "montecarlo:rollouts=4,value=sum",
        "montecarlo:rollouts=4,spawn=shared",
        "uct:rollouts=12",
        "uct:rollouts=12,c=0.5",
    ),
    *("uct:rollouts=12,playout=merges,value=largest",),
)
_WITH_MODELS = (
    *("ntuple", "expectimax:depth=1", "expectimax:depth=2", "expectimax:depth=12,ms=3", "expectimax:limits=3-2"),
    *("montecarlo:rollouts=4,playout=network", "montecarlo:rollouts=4,horizon=3", "uct:rollouts=8,playout=network"),
    "ntuple:downgrade_above=16",
)
_LARGEST_TABLE = "heuristic:depth=12,ms=20,table=4096"
_KEPT_PLAYERS = 40


def large_model() -> Model:
    """Return a network near the largest size; its weights are zero, so that only what is read takes memory."""
    shape = NTupleArchitecture(("0123456", "456789a", "89abcde"))
    return Model(make_game("2048"), shape, "afterstate", np.zeros(shape.table_size, np.int16))


class Kernels(Campaign):
    """Searches and networks on random boards, crowded ones among them."""

    name = "kernels"
    seconds = 60.0  # the largest table is cleared first
    megabytes = 6_000.0
    environment = CHECKED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.games = {spec: make_game(spec) for spec in GAMES}
        self.models: list[Any] = sample_models()
        if self.parts == slice(None):
            self.models += [large_model(), *_deep_models()]
        self.players: OrderedDict[tuple[str, str, int], Player] = OrderedDict()
        for agent, model in self._pairs():
            for game in ("2048:rows=3,columns=3", "threes:rows=3,columns=3,start_tiles=4"):
                if model < 0 or self._plays(model, self.games[game]):
                    board = self.games[game].start(seed=1).to_json()  # with moves, so that all kernels are compiled
                    with contextlib.suppress(TilewrightError):  # it is judged when it comes as an input
                        self.run({"game": game, "agent": agent, "model": model, "board": board, "seed": 1, "moves": 2})

    def _pairs(self) -> list[tuple[str, int]]:
        pairs = [(agent, -1) for agent in _AGENTS]
        for number, model in enumerate(self.models):
            agents = _WITH_MODELS if isinstance(model, Model) else (model.config.algorithm,)
            pairs += [(agent, number) for agent in agents]
        return pairs[self.parts]

    def _plays(self, model: int, game: Game) -> bool:
        own = self.models[model].game if isinstance(self.models[model], Model) else self.models[model].config.game
        return (own.name, own.rows, own.columns) == (game.name, game.rows, game.columns)

    def make(self, chance: random.Random) -> Case:
        """Make a board, and an agent that can play it."""
        agent, model = chance.choice(self._pairs())
        if sometimes(chance, 0.002):
            agent, model = _LARGEST_TABLE, -1
        specs = [spec for spec, game in self.games.items() if model < 0 or self._plays(model, game)]
        spec = chance.choice(specs or ["2048"])
        if not specs:
            agent, model = "heuristic:depth=2", -1
        tiles = random_tiles(self.games[spec], chance)
        notes = {key: text for key, text in random_notes(self.games[spec], chance, tiles).items() if key != "entry"}
        moves = chance.choice((0, 1, 3, 30)) if "ms" not in agent else 0
        board = {"board": tiles, **notes}
        return {
            "game": spec,
            "agent": agent,
            "model": model,
            "board": board,
            "seed": chance.randrange(100),
            "moves": moves,
        }

    def run(self, case: Case) -> None:
        """Ask for the values of all moves, and play on."""
        game = self.games[case["game"]]
        board = game.parse_position(case["board"])
        check_board(game, board)
        player = self._player(case["agent"], case["model"], game)
        analysis = player.analyse(board, stream_for(case["seed"]))
        if list(analysis.values) != game.legal(board) or not all(map(math.isfinite, analysis.values.values())):
            raise WrongError(f"values: {analysis.values} for {game.text(board)!r} by {case['agent']}")
        if analysis.move is not None and analysis.move not in analysis.values:
            raise WrongError(f"move: {analysis.move} for {game.text(board)!r} by {case['agent']}")
        if case["moves"] and analysis.move is not None:
            player.play(board, 0, stream_for(case["seed"]), case["moves"])

    def _player(self, agent: str, model: int, game: Game) -> Player:
        key = (agent, game.spec, model)
        if key not in self.players:
            options = {} if model < 0 else {"model": self.models[model]}
            self.players[key] = make_agent(agent, **options).player(game)
        self.players.move_to_end(key)
        while len(self.players) > _KEPT_PLAYERS or (agent == _LARGEST_TABLE and len(self.players) > 1):
            self.players.popitem(last=False)
        return self.players.pop(key) if agent == _LARGEST_TABLE else self.players[key]


def _deep_models() -> list[Any]:
    """Return small deep models, if PyTorch is installed."""
    if importlib.util.find_spec("torch") is None:
        return []
    import torch

    from tilewright.deep.model import DeepModel
    from tilewright.deep.network import NetworkConfig, make_network

    torch.set_num_threads(1)
    found = []
    for game in ("2048:rows=3,columns=3", "threes:rows=3,columns=3,start_tiles=4"):
        for algorithm in ("dqn", "afterstate"):
            found.append(
                DeepModel(make_network(NetworkConfig(make_game(game), algorithm, "small", "onehot"), 1).eval())
            )
    return found
