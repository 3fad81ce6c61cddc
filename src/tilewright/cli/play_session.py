"""One sitting at the board: what the keys and words of `tilewright play` do, whatever shows the result."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tilewright._core.text import excerpt
from tilewright.agents.base import Agent
from tilewright.errors import IllegalMoveError
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS
from tilewright.play.recording import EpisodeRecorder

__all__ = ["HELP", "SPEEDS", "Sitting"]

SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

_WORDS = {
    "up": ("up", "w", "k"),
    "right": ("right", "d", "l"),
    "down": ("down", "s", "j"),
    "left": ("left", "a", "h"),
    "hint": ("hint", "i"),
    "undo": ("undo", "u"),
    "auto": ("auto", "p", " "),
    "faster": ("faster", "+", "="),
    "slower": ("slower", "-", "_"),
    "new": ("new", "n"),
    "help": ("help", "?"),
    "quit": ("quit", "q"),
}
_MEANING = {word: command for command, words in _WORDS.items() for word in words}

HELP = [
    ("arrows", "move; also wasd and hjkl"),
    ("i", "what the agent thinks"),
    ("u", "take a move back"),
    ("space", "the agent plays, or stops"),
    ("+ -", "its speed"),
    ("n", "a new game"),
    ("?", "these keys"),
    ("q", "leave"),
]


@dataclass
class Sitting:
    """A game, an agent to ask or to watch, and what the player has to be told."""

    agent: Agent
    episode: Episode
    recorder: EpisodeRecorder | None = None
    speed: float = 5.0  # moves of the agent a second
    autoplay: bool = False
    confirms: bool = True  # giving up a game takes a second `n`
    message: str = ""
    hint: dict[str, float] = field(default_factory=dict)
    shows_help: bool = False
    is_done: bool = False
    _players: list[str] = field(default_factory=list)  # who has moved in this game
    _asked_for_new: bool = False

    def press(self, word: str) -> None:
        """Do what a key or a word stands for; what cannot be done is said in `message`."""
        command = _MEANING.get(word) or _MEANING.get(word.lower())
        self.message = ""
        if command is None:
            self.message = f"{excerpt(word)} means nothing here; ? lists what does"
            return
        asked, self._asked_for_new = self._asked_for_new, False
        if command in ACTIONS:
            self.autoplay = False
            self._move(command, "human")
        elif command == "new":
            self._new(asked)
        else:
            actions: dict[str, Callable[[], None]] = {
                "hint": self._hint,
                "undo": self._undo,
                "auto": self._auto,
                "faster": lambda: self._change_speed(+1),
                "slower": lambda: self._change_speed(-1),
                "help": self._help,
                "quit": self._quit,
            }
            actions[command]()

    def agent_moves(self) -> None:
        """One move of the agent: the one it makes in `evaluate`, where it draws chance from the game's own stream."""
        self._move(self.agent.move(self.episode.board, self.episode.stream), self.agent.spec)

    @property
    def player(self) -> str:
        return " + ".join(self._players)

    @property
    def best(self) -> list[str]:
        """The best of the moves that `hint` values."""
        top = max(self.hint.values(), default=0.0)
        return [action for action, value in self.hint.items() if value == top]

    def _move(self, action: str, player: str) -> None:
        episode = self.episode
        if episode.is_over:
            self.message = "the game is over; n begins another, u takes the last move back"
            return
        won_before = episode.is_won
        try:
            episode.move(action)
        except IllegalMoveError:
            self.message = f"{action} moves nothing; legal: {', '.join(episode.legal)}"
            return
        if player not in self._players:
            self._players.append(player)
        self._changed()
        if episode.is_over:
            self.autoplay = False
            self.message = f"game over: {episode.score:,} points in {len(episode.history):,} moves"
        elif episode.is_won and not won_before:
            self.message = f"{episode.game.largest(episode.board)}: you have won, and may go on"

    def _changed(self) -> None:
        self.hint = {}
        if not self.episode.history:
            self._players.clear()
        if self.recorder is not None:
            self.recorder.update(self.episode, self.player)

    def _hint(self) -> None:
        self.hint = {} if self.hint else self.agent.values(self.episode.board)
        if self.episode.is_over:
            self.message = "the game is over: no move is legal"

    def _undo(self) -> None:
        self.autoplay = False
        if not self.episode.history:
            self.message = "there is no move to take back"
            return
        self.episode.undo()
        self._changed()

    def _auto(self) -> None:
        if self.episode.is_over:
            self.message = "the game is over; n begins another"
            return
        self.autoplay = not self.autoplay

    def _change_speed(self, step: int) -> None:
        others = [speed for speed in SPEEDS if (speed - self.speed) * step > 0]
        if others:
            self.speed = others[0] if step > 0 else others[-1]
        self.message = f"speed: {self.speed:g} moves a second"

    def _new(self, asked: bool) -> None:
        """Begin the next game; one that is under way may ask for a second `n`."""
        old = self.episode
        if self.confirms and old.history and not old.is_over and not asked:
            self._asked_for_new = True
            self.message = "n once more gives this game up and begins another"
            return
        self.episode = Episode(old.game, old.seed, old.number + 1, old.start)
        self.hint, self._players = {}, []
        if self.recorder is not None:
            self.recorder.begin()

    def _help(self) -> None:
        self.shows_help = not self.shows_help

    def _quit(self) -> None:
        self.is_done = True
