"""Stages learned in turn: boards are collected where a stage begins, and games of that stage begin on them."""

from collections.abc import Iterator

import numpy as np
import pytest

from tilewright._core.jit import Int, kernel
from tilewright.agents.ntuple import NTupleAgent
from tilewright.errors import ConfigError
from tilewright.games import make_game
from tilewright.games.base import Game
from tilewright.games.board import Board
from tilewright.games.episode import Episode
from tilewright.games.rules import Rules, State
from tilewright.learning.start_states import StartPool, collect_starts, concatenate_pools, make_start_pool, reset
from tilewright.ntuple.stages import parse_stages
from tilewright.rng import Stream, new_stream, stream_for, stream_key
from tilewright.training.config import TrainingConfig
from tilewright.training.schedule import Phase
from tilewright.training.trainer import COLLECTING, Trainer

# Without fours a board tells its score: a tile 2ᵏ is made by k - 1 rounds of merges, each worth 2ᵏ in all.
NO_FOURS = "2048:rows=3,columns=3,four=0"


@kernel
def begun(rules: Rules, starts: StartPool, number: Int, stream: Stream) -> tuple[State, Int]:
    return reset(rules, starts, np.uint64(number), stream)


def boards_of(game: Game, boards: StartPool) -> Iterator[Board]:
    for cells, extra in zip(boards.cells, boards.extra, strict=True):
        yield Board(game, State(int(cells), int(extra)))


def tiles_of(board: Board) -> list[int]:
    return sorted((tile for row in board.tiles for tile in row if tile), reverse=True)


def trainer_of(game: str, stages: tuple[str, ...], **changes: object) -> Trainer:
    options = {"games": 10, "start_pool": 50, "network": "", "tuples": ("0124", "456"), **changes}
    return Trainer(TrainingConfig(game=game, stages=stages, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", [0, 1])
def test_boards_are_collected_where_a_stage_is_reached_first(stage: int) -> None:
    trainer = trainer_of(NO_FOURS, ("32", "32+16"))
    trainer.learn(0, 300)
    if stage:
        trainer.keep([trainer.collect_starts(0, 200)])
        trainer.start_next_stage(0)
        trainer.learn(300, 300, Phase(stage=1))
    found = concatenate_pools([trainer.collect_starts(0, 200, stage)])
    assert 20 < len(found.cells) < 200  # some games reach it, some do not
    for board, score, final in zip(boards_of(trainer.game, found), found.scores, found.finals, strict=True):
        tiles = tiles_of(board)
        assert tiles[0] == 32
        assert tiles.count(32) == 1
        assert tiles.count(16) == (1 if stage else tiles.count(16))
        assert score == sum(tile * (int(tile).bit_length() - 2) for tile in tiles)
        assert final >= score


def test_boards_are_collected_by_what_the_network_knows() -> None:
    """The games are those of an agent with this network, played move by move from Python."""
    finals = {}
    for downgrade_above in (0, 16):
        trainer = trainer_of("2048:rows=3,columns=3", ("64",), downgrade_above=downgrade_above)
        trainer.learn(0, 300)
        agent, found = NTupleAgent(trainer.model({})), trainer.collect_starts(0, 20)
        for number in range(20):
            episode = Episode(trainer.game, 0, COLLECTING + number)
            while not episode.is_over:
                episode.move(agent.move(episode.board))
            assert found.finals[number] == episode.score
        finals[downgrade_above] = found.finals.tolist()
    assert finals[0] != finals[16]


def test_collected_boards_of_threes_keep_bag_and_hint() -> None:
    trainer = trainer_of("threes", ("24",))
    trainer.learn(0, 200)
    found = concatenate_pools([trainer.collect_starts(0, 200)])
    assert len(found.cells) > 100
    for board in boards_of(trainer.game, found):
        assert 24 in tiles_of(board)
    assert len(np.unique(found.extra)) > 10


def test_games_begin_on_the_boards_in_turn() -> None:
    game = make_game("2048")
    texts = ["64 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 128"]
    starts = make_start_pool(2)
    for i, text in enumerate(texts):
        state = game.parse(text).state
        starts.cells[i], starts.extra[i], starts.scores[i] = state.cells, state.extra, 1000 + i
    for number in range(6):
        state, score = begun(game.rules, starts, number, stream_for(1, number))
        assert score == 1000 + number % 2
        tiles = tiles_of(Board(game, State(int(state[0]), int(state[1]))))
        assert tiles[0] == (64 if number % 2 == 0 else 128)
        assert tiles[1:] in ([2], [4])  # the new tile


def test_without_boards_a_game_begins_with_the_first_tiles() -> None:
    game = make_game("2048")
    state, score = begun(game.rules, make_start_pool(0), 3, stream_for(1, 3))
    tiles = tiles_of(Board(game, State(int(state[0]), int(state[1]))))
    assert (len(tiles), score) == (2, 0)


@pytest.mark.parametrize("downgrade_above", [0, 16])
def test_a_stage_that_is_taught_learns_from_games_of_the_one_before(downgrade_above: int) -> None:
    """Their results are those of that stage without learning, on the same boards with the same tiles."""
    trainer = trainer_of("2048:rows=3,columns=3", ("32",), downgrade_above=downgrade_above, teacher_fraction=0.5)
    trainer.learn(0, 300)
    trainer.keep([trainer.collect_starts(0, 200)])
    policy = trainer._policy(0, trainer.weights[: trainer.architecture.stage_size])
    trainer.start_next_stage(0)
    size, boards = trainer.architecture.stage_size, make_start_pool(50)
    first, key = trainer.weights[:size].copy(), stream_key(trainer.config.seed)
    stages, stream = parse_stages(("32",), trainer.game), new_stream()
    collect_starts(trainer.game.rules, policy, trainer.starts, stages, 1, key, 300, stream, boards)
    taught = Phase(stage=1, taught=True)
    np.testing.assert_array_equal(trainer.learn(300, 50, taught).scores, boards.finals)
    np.testing.assert_array_equal(trainer.weights[:size], first)
    assert trainer.weights[size:].any()
    assert (trainer.learn(300, 50, Phase(stage=1)).scores != boards.finals).any()


def test_a_stage_learns_weights_of_its_own_and_counts_what_came_before() -> None:
    trainer = trainer_of(NO_FOURS, ("32",))
    size = trainer.architecture.stage_size
    trainer.learn(0, 300)
    assert trainer.weights[:size].any()
    assert not trainer.weights[size:].any()
    trainer.keep([trainer.collect_starts(0, 200)])
    trainer.start_next_stage(0)
    first, errors = trainer.weights[:size].copy(), trainer.sums[: 2 * size].copy()
    results = trainer.learn(300, 100, Phase(stage=1))
    np.testing.assert_array_equal(trainer.weights[:size], first)
    np.testing.assert_array_equal(trainer.sums[: 2 * size], errors)
    assert trainer.weights[size:].any()
    assert trainer.sums[2 * size :].any()
    numbers = np.arange(300, 400) % len(trainer.starts.scores)
    assert (results.scores >= trainer.starts.scores[numbers]).all()
    assert (results.codes >= 5).all()  # 32 is there from the beginning


def test_no_more_boards_are_kept_than_the_recipe_asks_for() -> None:
    trainer = trainer_of(NO_FOURS, ("32",), start_pool=20)
    trainer.learn(0, 300)
    whole = concatenate_pools([trainer.collect_starts(0, 200)])
    trainer.keep([trainer.collect_starts(0, 80), trainer.collect_starts(80, 120)])
    for kept, found in zip(trainer.found, whole, strict=True):
        np.testing.assert_array_equal(kept, found[:20])


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"start_pool": 10}, "start_pool needs stages; this config has none"),
        ({"start_pool": -1, "stages": ("512",)}, "start_pool = -1: must be from 0"),
        ({"teacher_fraction": 0.5, "stages": ("512",)}, "teacher_fraction needs start_pool"),
        (
            {"teacher_fraction": 0.5, "stages": ("512",), "start_pool": 10, "epsilon": 0.1},
            "teacher_fraction does not work with epsilon",
        ),
        ({"teacher_fraction": 1.5, "stages": ("512",), "start_pool": 10}, "teacher_fraction"),
        ({"start_pool": 10, "stages": ("512",), "promote": True}, "promote trains all stages together"),
        (
            {"start_pool": 10, "stages": ("512",), "value_function": "action"},
            'start_pool does not work with value_function = "action"',
        ),
    ],
)
def test_what_does_not_go_together_is_refused(keys: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        TrainingConfig(games=1, **keys)  # type: ignore[arg-type]
