"""Reviews: losses by the agent's own values, the worst moves in order, tables and plots."""

import json
import random
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.play.test_recording import random_game
from tilewright import Agent, Board, Episode, Game, UsageError, make_agent, make_game
from tilewright._core.plots import png
from tilewright.agents.base import Player
from tilewright.agents.greedy import GreedyAgent
from tilewright.play.recording import Recording, recording_of
from tilewright.play.review import draw_review, review
from tilewright.rng import Stream


@dataclass(frozen=True)
class Scripted(Agent):
    """Values that depend on the board alone, but follow no reason."""

    name: ClassVar[str] = "scripted"

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        chance = random.Random(board.game.text(board))
        return {action: chance.randint(-20, 20) / 2 for action in board.game.legal(board)}


def a_game(spec: str, number: int = 0, most: int = 10_000) -> Recording:
    return recording_of(random_game(make_game(spec), number, most=most), "human")


@pytest.mark.parametrize("spec", ["2048", "threes", "2048:rows=2,columns=3"])
def test_the_loss_of_a_move_is_what_the_best_one_is_worth_more(spec: str) -> None:
    recording = a_game(spec)
    found = review(recording, Scripted())
    assert len(found.moves) == len(recording.actions)
    losses = []
    for i, move in enumerate(found.moves):
        values = Scripted().values(recording.board(i))
        losses.append(max(values.values()) - values[recording.actions[i]])
        assert (move.number, move.board, move.played) == (i + 1, recording.board(i), recording.actions[i])
        assert values[move.best] == max(values.values())
        assert (move.best == move.played) == (move.loss == 0)
    assert found.losses == losses
    assert found.total_loss == pytest.approx(sum(losses))
    assert found.mean_loss == pytest.approx(sum(losses) / len(losses))
    assert found.agreement == losses.count(0) / len(losses)


def test_the_worst_moves_come_first_and_none_without_loss() -> None:
    found = review(a_game("2048"), Scripted())
    losses = sorted((loss for loss in found.losses if loss > 0), reverse=True)
    assert [move.loss for move in found.worst(7)] == losses[:7]
    assert [move.loss for move in found.worst(10_000)] == losses
    assert found.worst(0) == []


def test_an_agent_finds_no_fault_with_its_own_moves() -> None:
    game = make_game("2048")
    episode = Episode(game, 4)
    while not episode.is_over:
        episode.move(make_agent("greedy").move(episode.board, episode.stream))
    found = review(recording_of(episode, "greedy"), make_agent("greedy"))
    assert (found.total_loss, found.agreement, found.worst()) == (0.0, 1.0, [])


def test_json_has_every_loss_and_the_worst_moves_as_boards() -> None:
    found = review(a_game("threes"), Scripted())
    facts = json.loads(json.dumps(found.summary(worst=2)))
    assert (facts["agent"], facts["player"], facts["game"]) == (Scripted().spec, "human", "threes")
    assert (facts["moves"], facts["score"], facts["over"]) == (len(found.moves), found.recording.score, True)
    assert facts["losses"] == found.losses
    assert facts["values"] == [max(move.values.values()) for move in found.moves]
    first, second = facts["worst"]
    assert first["loss"] >= second["loss"] > 0
    board = make_game("threes").parse(first["text"])
    assert first["values"] == Scripted().values(board)
    assert first["values"][first["best"]] - first["values"][first["played"]] == first["loss"]


def test_progress_counts_every_move() -> None:
    told: list[int] = []
    recording = a_game("2048")
    review(recording, Scripted(), told.append)
    assert sum(told) == len(recording.actions)


def test_a_game_without_moves_has_nothing_to_review() -> None:
    with pytest.raises(UsageError, match="game 3 of seed 5 has no moves to review"):
        review(a_game("2048", 3, most=0), Scripted())


def test_the_drawing_shows_values_and_losses_over_the_moves() -> None:
    found = review(a_game("2048"), Scripted())
    figure = draw_review(found)
    above, below, total = figure.axes
    assert np.asarray(above.lines[0].get_ydata()).tolist() == [max(move.values.values()) for move in found.moves]
    heights = [float(np.asarray(path.vertices)[1, 1]) for path in below.collections[0].get_paths()]
    assert heights == found.losses
    assert np.asarray(total.lines[0].get_ydata())[-1] == pytest.approx(found.total_loss)
    assert {text.get_text() for text in below.texts} <= {str(move.number) for move in found.worst(5)}
    assert str(found.worst(1)[0].number) in {text.get_text() for text in below.texts}
    assert png(figure).startswith(b"\x89PNG")


def test_the_columns_have_one_entry_per_move() -> None:
    found = review(a_game("threes"), Scripted())
    columns = found.to_dict()
    assert list(columns)[:6] == ["move", "board", "score", "played", "best", "loss"]
    assert columns["move"] == list(range(1, len(found.moves) + 1))
    assert columns["score"] == list(found.recording.scores[:-1])
    for i, move in enumerate(found.moves):
        values = {action: columns[f"value_{action}"][i] for action in ("up", "right", "down", "left")}
        assert {action: value for action, value in values.items() if value is not None} == move.values
        assert found.recording.game.parse(str(columns["board"][i])) == move.board
        assert (columns["played"][i], columns["best"][i], columns["loss"][i]) == (move.played, move.best, move.loss)


def test_a_frame_has_one_row_per_move() -> None:
    found = review(a_game("2048"), Scripted())
    frame = found.to_frame()
    assert len(frame) == len(found.moves)
    assert frame["loss"].sum() == pytest.approx(found.total_loss)
    assert frame["played"].tolist() == list(found.recording.actions)


def test_the_plot_of_a_review_shows_its_losses() -> None:
    found, axes = review(a_game("2048"), Scripted()), Figure().add_subplot()
    assert found.plot(axes) is axes
    heights = [float(np.asarray(path.vertices)[1, 1]) for path in axes.collections[0].get_paths()]
    assert heights == found.losses
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("move", "loss")


def test_the_repr_is_one_line_and_a_notebook_shows_the_worst_moves() -> None:
    found = review(a_game("2048"), Scripted())
    assert repr(found) == (
        f"<Review of 2048 by human: {len(found.moves):,} moves, {100 * found.agreement:.1f} % agree with "
        f"{Scripted().spec}, total loss {found.total_loss:,.0f}>"
    )
    rows = re.findall(r"<tr><td>([\d,]+)</td><td>(\w+)</td><td>(\w+)</td>", found._repr_html_())
    assert rows == [(f"{move.number:,}", move.played, move.best) for move in found.worst()]


def test_one_player_reviews_the_whole_game(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Player] = []
    make = GreedyAgent.player

    def player(agent: GreedyAgent, game: Game) -> Player:
        made.append(make(agent, game))
        return made[-1]

    monkeypatch.setattr(GreedyAgent, "player", player)
    review(a_game("2048"), "greedy")
    assert len(made) == 1


def test_the_tables_kept_from_move_to_move_change_no_value() -> None:
    recording = a_game("2048:rows=3,columns=3", most=25)
    found = review(recording, "heuristic:depth=3")
    for i, move in enumerate(found.moves):
        assert move.values == make_agent("heuristic:depth=3").player(recording.game).analyse(recording.board(i)).values


@pytest.mark.parametrize(
    ("recording", "agent", "message"),
    [
        ("games.jsonl", "greedy", "'games.jsonl' is not a Recording"),
        (None, "greedy", "None is not a Recording"),
        (a_game("2048", most=3), 5, "5 is not an agent"),
        (a_game("2048", most=3), "gredy", "there is no agent 'gredy'"),
    ],
)
def test_a_wrong_argument_is_named(recording: Any, agent: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        review(recording, agent)


@pytest.mark.parametrize("most", [1, 2])
def test_a_plot_of_hardly_any_moves_and_of_no_loss(most: int) -> None:
    assert png(draw_review(review(a_game("2048", most=most), make_agent("random")))).startswith(b"\x89PNG")
