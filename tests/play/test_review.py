"""Reviews: losses by the agent's own values, the worst moves in order, tables and plots."""

import json
import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from tests.play.test_recording import random_game
from tilewright import Agent, Board, Episode, UsageError, make_agent, make_game
from tilewright._core.plots import png
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
    assert (facts["agent"], facts["player"], facts["game"]) == ("scripted", "human", "threes")
    assert (facts["moves"], facts["score"], facts["over"]) == (len(found.moves), found.recording.score, True)
    assert facts["losses"] == found.losses
    assert facts["values"] == [max(move.values.values()) for move in found.moves]
    first, second = facts["worst"]
    assert first["loss"] >= second["loss"] > 0
    board = make_game("threes").parse(first["text"])
    assert first["values"] == Scripted().values(board)
    assert first["values"][first["best"]] - first["values"][first["played"]] == first["loss"]


def test_progress_is_told_every_move() -> None:
    told: list[int] = []
    recording = a_game("2048")
    review(recording, Scripted(), told.append)
    assert sum(told) == len(recording.actions)


def test_a_game_without_moves_has_nothing_to_review() -> None:
    with pytest.raises(UsageError, match="game 3 of seed 5 has no moves to review"):
        review(a_game("2048", 3, most=0), Scripted())


def test_the_picture_shows_values_and_losses_over_the_moves() -> None:
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


@pytest.mark.parametrize("most", [1, 2])
def test_a_picture_of_hardly_any_moves_and_of_no_loss(most: int) -> None:
    assert png(draw_review(review(a_game("2048", most=most), make_agent("random")))).startswith(b"\x89PNG")
