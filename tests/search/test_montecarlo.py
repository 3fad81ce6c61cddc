"""Monte Carlo against a twin in plain Python, bit for bit, and against exact expectations on tiny boards.

Statistical tests are seeded; right playouts fail one of them for one seed in a thousand (5 sigma, some hundred means).
"""

import math
from pathlib import Path

import pytest

from tests.agents.test_ntuple import random_model
from tests.search import twin
from tests.search.exact import GAMES, board_of, playout_values, some_states
from tilewright import Board, Episode, evaluate, make_agent, make_game
from tilewright.agents.ntuple import NTupleAgent
from tilewright.games.policy import act_one
from tilewright.games.rules import typed_state
from tilewright.rng import Stream, stream_for

SIGMAS = 5
VARIANTS = ["2048", "2048:four=0.5,start_tiles=1,cascade=true", "2048:rows=3,columns=2", "threes"]
PLAYERS = {"random": twin.plays_randomly, "merges": twin.plays_merges}


def late_board(game: str, moves_before_the_end: int = 12) -> Board:
    """A board of a random game, near its end so that playouts are short."""
    episode = Episode(make_game(game), seed=3)
    while not episode.is_over:
        episode.move(make_agent("random").move(episode.board, episode.stream))
    return episode.history[-min(moves_before_the_end, len(episode.history))].board


@pytest.mark.parametrize("game", VARIANTS)
@pytest.mark.parametrize("value", twin.FINALS)
@pytest.mark.parametrize("spawn", ["fresh", "shared"])
def test_values_are_those_of_the_twin(game: str, value: str, spawn: str) -> None:
    board = late_board(game)
    values = make_agent(f"montecarlo:rollouts=7,value={value},spawn={spawn}").values(board, stream_for(5))
    final = twin.FINALS[value]
    assert values == twin.monte_carlo(board, stream_for(5), rollouts=7, final=final, shared=spawn == "shared")


@pytest.mark.parametrize("game", VARIANTS)
@pytest.mark.parametrize("spawn", ["fresh", "shared"])
def test_playouts_that_prefer_merges_are_those_of_the_twin(game: str, spawn: str) -> None:
    board = late_board(game)
    values = make_agent(f"montecarlo:rollouts=5,playout=merges,spawn={spawn}").values(board, stream_for(6))
    options = {"rollouts": 5, "final": twin.FINALS["score"], "player": twin.plays_merges}
    assert values == twin.monte_carlo(board, stream_for(6), shared=spawn == "shared", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("game", ["2048", "threes:rows=3,columns=4"])
@pytest.mark.parametrize("playout", ["largest", "corner", "combined"])
def test_playouts_with_a_preference_are_those_of_the_twin(game: str, playout: str) -> None:
    board = late_board(game)
    values = make_agent(f"montecarlo:rollouts=5,playout={playout}").values(board, stream_for(6))
    liked = ("merges", "largest", "corner") if playout == "combined" else (playout,)
    player = twin.plays_by_preference(**dict.fromkeys(liked, True))
    assert values == twin.monte_carlo(board, stream_for(6), rollouts=5, final=twin.FINALS["score"], player=player)


@pytest.mark.parametrize("rollouts", [1, 255, 256, 257, 600])
@pytest.mark.parametrize("value", ["sum", "largest"])
def test_any_number_of_rollouts_is_added_up(rollouts: int, value: str) -> None:
    board = make_game("2048:rows=2,columns=2").parse("8 4 / 2 2")
    values = make_agent(f"montecarlo:rollouts={rollouts},value={value}").values(board, stream_for(7))
    assert values == twin.monte_carlo(board, stream_for(7), rollouts=rollouts, final=twin.FINALS[value])


@pytest.mark.parametrize(
    ("game", "value_function"),
    [
        ("2048:rows=3,columns=3", "afterstate"),
        pytest.param("2048:rows=3,columns=3", "action", marks=pytest.mark.slow),
        ("threes:rows=3,columns=4", "afterstate"),
    ],
)
def test_networks_play_and_judge_playouts_as_those_of_the_twin(game: str, value_function: str, tmp_path: Path) -> None:
    path, network = tmp_path / "model.safetensors", NTupleAgent(random_model(game, value_function).in_16_bits())
    random_model(game, value_function).save(path)
    board = late_board(game, 8)

    def play(board: Board, stream: Stream) -> str:
        return network.move(board)

    def evaluate_state(board: Board) -> float:
        return max(network.values(board).values(), default=0.0)

    values = make_agent(f"montecarlo:rollouts=4,playout=network,horizon=3,model={path}").values(board, stream_for(8))
    final = twin.FINALS["score"]
    assert values == twin.monte_carlo(
        board, stream_for(8), rollouts=4, final=final, player=play, n_step=3, evaluate_state=evaluate_state
    )
    values = make_agent(f"montecarlo:rollouts=4,playout=network,value=largest,model={path}").values(
        board, stream_for(9)
    )
    final = twin.FINALS["largest"]
    assert values == twin.monte_carlo(board, stream_for(9), rollouts=4, final=final, player=play)


def test_a_network_judges_random_playouts_that_are_cut_short(tmp_path: Path) -> None:
    game, path = "2048:rows=3,columns=3", tmp_path / "model.safetensors"
    network = NTupleAgent(random_model(game).in_16_bits())
    random_model(game).save(path)
    board, final = late_board(game, 8), twin.FINALS["score"]

    def evaluate_state(board: Board) -> float:
        return max(network.values(board).values(), default=0.0)

    for n_step in (1, 5):
        values = make_agent(f"montecarlo:rollouts=9,horizon={n_step},model={path}").values(board, stream_for(n_step))
        expected = twin.monte_carlo(
            board, stream_for(n_step), rollouts=9, final=final, n_step=n_step, evaluate_state=evaluate_state
        )
        assert values == expected


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("value", twin.FINALS)
@pytest.mark.parametrize("playout", PLAYERS)
def test_means_are_the_exact_expectations(game: str, value: str, playout: str) -> None:
    rollouts = 20_000
    agent = make_agent(f"montecarlo:rollouts={rollouts},value={value},playout={playout}")
    expected = playout_values(game, value, playout)
    compared = 0
    for number, state in enumerate(some_states(game, 12)):
        values = agent.values(board_of(game, state), stream_for(10, number))
        assert list(values) == list(expected[state])
        for action, mean in values.items():
            exact = expected[state][action]
            assert abs(mean - exact.mean) <= SIGMAS * exact.deviation / math.sqrt(rollouts) + 1e-9, (state, action)
            compared += exact.deviation > 0.1
    assert compared > 10


def test_a_shared_tile_is_one_tile_and_fresh_ones_are_many() -> None:
    """On this board the game ends with the first new tile, so that the sum tells which one it was."""
    game = make_game("2048:rows=2,columns=2,four=0.5")
    board = game.parse("8 16 / 32 32")
    after, _ = game.slide(board, "left")
    assert game.text(after) == "8 16 / 64 0"
    assert all(game.is_over(outcome) for outcome, _ in game.outcomes(after))
    shared: set[float] = set()
    fresh: set[float] = set()
    for number in range(40):
        for spawn, found in (("shared", shared), ("fresh", fresh)):
            agent = make_agent(f"montecarlo:rollouts=100,value=sum,spawn={spawn}")
            found.add(agent.values(board, stream_for(1, number))["left"])
    assert shared == {90.0, 92.0}
    assert all(90 < mean < 92 for mean in fresh)  # all alike in one of 2**99 cases


def test_among_equal_largest_tiles_the_sum_decides() -> None:
    """Both moves end with a 24 whatever comes; with 42 on the board, and 44 in the mean."""
    game, agent = make_game("threes:rows=2,columns=2,start_tiles=2"), make_agent("montecarlo:rollouts=50,value=largest")
    board = game.parse("6 3 / 6 24 hint=3 bag=111")
    for seed in range(20):
        values = agent.values(board, stream_for(seed))
        assert values["up"] == 24 + 42 / 2**32
        assert values["down"] == pytest.approx(24 + 44 / 2**32, abs=1.5 / 2**32)
        assert agent.move(board, stream_for(seed)) == "down"


@pytest.mark.parametrize("game", ["2048", "threes"])
@pytest.mark.parametrize("rollouts", [10, 1500])
def test_values_are_the_same_for_any_number_of_threads(game: str, rollouts: int) -> None:
    board = make_game(game).start(4)
    values = [
        make_agent(f"montecarlo:rollouts={rollouts},value=largest,threads={threads}").values(board, stream_for(3))
        for threads in (1, 2, 3, 7)
    ]
    assert all(found == values[0] for found in values)
    assert make_agent(f"montecarlo:rollouts={rollouts},value=largest").values(board, stream_for(4)) != values[0]


def test_the_games_of_kernels_are_those_of_single_moves() -> None:
    game, agent = make_game("2048:rows=3,columns=3"), make_agent("montecarlo:rollouts=20,threads=2")
    episode = Episode(game, seed=6)
    while not episode.is_over:
        episode.move(agent.move(episode.board, episode.stream))
    found = evaluate(agent, game, games=1, seed=6)
    assert (found.scores[0], found.moves[0]) == (episode.score, len(episode.history))


def test_a_move_takes_two_words_of_the_stream_however_many_rollouts() -> None:
    board, after_two = make_game().start(1), stream_for(2)
    for _ in range(2):
        twin.next_word(after_two)
    for rollouts in (1, 100):
        stream = stream_for(2)
        make_agent(f"montecarlo:rollouts={rollouts}").move(board, stream)
        assert stream.tolist() == after_two.tolist()


def test_the_moves_of_playouts_are_counted(tmp_path: Path) -> None:
    path, game = tmp_path / "model.safetensors", make_game("2048:rows=3,columns=3")
    random_model(game.spec).save(path)
    policy = make_agent(f"montecarlo:rollouts=10,horizon=3,model={path}").policy(game)
    assert policy is not None
    board = game.parse("0 0 0 / 0 2 0 / 0 0 0")
    act_one(policy, game.rules, typed_state(board.state), stream_for(1))
    assert policy.rollouts.moves.tolist() == [4 * 10 * 3]


def test_more_rollouts_play_better() -> None:
    """2x3 boards, 300 games each: the 95 % intervals of 1 and of 100 rollouts lie apart."""
    game = make_game("2048:rows=2,columns=3")
    means = [evaluate(make_agent(f"montecarlo:rollouts={n}"), game, games=300, seed=1).score for n in (1, 100)]
    lower, upper = means[0].high, means[1].low
    assert lower is not None
    assert upper is not None
    assert lower < upper
