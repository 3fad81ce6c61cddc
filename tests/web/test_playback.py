"""Playing some moves at a time is playing the game that `evaluate` plays."""

from pathlib import Path

import pytest

from tilewright import evaluate, make_agent, make_game
from tilewright.play.recording import play_recorded
from tilewright.web.agents import AgentCatalogue, WebAgent
from tilewright.web.limits import Limits
from tilewright.web.playback import GameSeries, Playback
from tilewright.web.positions import start_position
from tilewright.web.runs import RunLibrary


def agent_of(spec: str) -> WebAgent:
    return AgentCatalogue(RunLibrary(Path("nowhere")), Limits()).make(spec, make_game("2048"))


@pytest.mark.parametrize("spec", ["2048", "threes"])
def test_every_position_of_a_game_is_returned(spec: str) -> None:
    game = make_game(spec)
    playback, position, moves = Playback(agent_of("random"), game), start_position(game, 4, 0), []
    while part := playback.play(position, 7):
        moves += part
        position = part[-1].position
    recorded = play_recorded(make_agent("random").player(game), 4, 0)
    assert tuple(move.move for move in moves) == recorded.actions
    assert tuple(move.position.board.state for move in moves) == recorded.states[1:]
    assert tuple(move.position.score for move in moves) == recorded.scores[1:]


def test_a_position_is_not_changed_by_playing_on() -> None:
    game = make_game("2048")
    position, playback = start_position(game, 4, 0), Playback(agent_of("random"), game)
    before = position.stream.copy()
    first = playback.play(position, 3, seconds=float("inf"))
    assert (position.stream == before).all()
    assert [move.move for move in playback.play(position, 3, seconds=float("inf"))] == [move.move for move in first]


def test_at_least_one_move_is_played_however_little_time_there_is() -> None:
    game = make_game("2048")
    assert len(Playback(agent_of("random"), game).play(start_position(game, 4, 0), 10, seconds=0)) == 1


def test_a_series_has_the_results_of_evaluate() -> None:
    game = make_game("2048")
    series, finished = GameSeries(agent_of("greedy"), game, 5, 3), list[int]()
    assert series.to_json() is None
    series.run(lambda: False, lambda: finished.append(series.finished))
    expected = evaluate("greedy", game, games=5, seed=3)
    assert finished == [1, 2, 3, 4, 5]
    assert series.evaluation().scores.tolist() == expected.scores.tolist()
    assert series.evaluation().moves.tolist() == expected.moves.tolist()
    assert sum(series.tiles().values()) == 5


def test_a_series_stops_between_moves() -> None:
    series = GameSeries(agent_of("greedy"), make_game("2048"), 5, 3)
    answers = iter([False, False, True])
    series.run(lambda: next(answers), lambda: None)
    assert series.finished == 0
    assert series.moves > 0
