"""Replays of 2048verse: what is read is a game that writes back as the same replay."""

import random
from pathlib import Path

from tilewright import make_agent, make_game
from tilewright.play.recording import parse_line, play_recorded
from tilewright.play.replays import is_replay, read_replay
from torture.campaign import Campaign, Case, WrongError
from torture.mutation import mutate_text
from torture.replay_texts import NEW_LETTERS, OLD_LETTERS, new_form, old_form

__all__ = ["Replays"]

_GAMES = ("2048:rows=2,columns=2", "2048:rows=2", "2048:rows=3,columns=3", "2048:rows=3", "2048")
_WORDS = ("replay ", "3x3", "2x4", "5x5", "4x4-", "-x_", "_", "__", "\n", "\0", "¤¾", "ÿ", " ")


class Replays(Campaign):
    """Replays of small games in both forms, changed as texts and letter by letter."""

    name = "replays"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.texts: list[tuple[str, str]] = []  # with the letters of their form
        for spec in _GAMES:
            player = make_agent("random").player(make_game(spec))
            for number in range(3):
                game = play_recorded(player, 1, number)
                self.texts += [(old_form(game), OLD_LETTERS), (new_form(game), NEW_LETTERS)]

    def make(self, chance: random.Random) -> Case:
        """Make a text with up to three changes; some letters become others of the same form."""
        text, letters = chance.choice(self.texts)
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            place = chance.randrange(len(text))
            kind = chance.randrange(4)
            if kind == 0:
                text = mutate_text(chance, text, _WORDS) or text
            elif kind == 1:
                text = text[: place + 1]
            else:
                text = text[:place] + chance.choice(letters) + text[place + 1 :]
        return {"text": text}

    def run(self, case: Case) -> None:
        """Read the replay, and write what was read, as a replay and as a recorded game."""
        text = case["text"]
        is_replay(text)
        game = read_replay(text)
        if parse_line(game.to_line().encode(), trusted=False) != game:
            raise WrongError("round trip: the recorded game reads back as another one")
        for write in (old_form, new_form):
            again = read_replay(write(game))
            if (again.states, again.actions, again.scores) != (game.states, game.actions, game.scores):
                raise WrongError(f"round trip: the {write.__name__} of the game reads back as another one")
