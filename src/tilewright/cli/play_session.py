"""The state of `tilewright play`, and what its keys and words do. Drawing is left to others."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tilewright._core.text import excerpt
from tilewright.agents.base import Player
from tilewright.errors import FileError, IllegalMoveError
from tilewright.games.episode import Episode
from tilewright.games.rules import ACTIONS
from tilewright.play.recorder import EpisodeRecorder

__all__ = ["HELP", "SPEEDS", "PlaySession"]

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
    ("i", "hint: the agent's values"),
    ("u", "undo a move"),
    ("space", "start or stop the agent"),
    ("+ -", "speed of the agent"),
    ("n", "new game"),
    ("?", "show or hide this help"),
    ("q", "quit"),
]


@dataclass
class PlaySession:
    """A game, an agent that gives hints or plays, and the messages for the user.

    Attributes:
        player: The agent at work on the game.
        episode: The current game.
        recorder: Records the games; None for no recording.
        speed: The moves per second of the agent.
        autoplay: Whether the agent plays.
        confirms: Whether a game that is not over is given up only after a second `n`.
        message: The answer to the last command.
        hint: The agent's values of the legal moves, empty without a hint.
        shows_help: Whether the help is shown.
        is_done: Whether the user has quit.
        not_recorded: Why the file lacks moves; None if it has them all.
    """

    player: Player
    episode: Episode
    recorder: EpisodeRecorder | None = None
    speed: float = 5.0
    autoplay: bool = False
    confirms: bool = True
    message: str = ""
    hint: dict[str, float] = field(default_factory=dict)
    shows_help: bool = False
    is_done: bool = False
    not_recorded: FileError | None = None
    _names: list[str] = field(default_factory=list)  # everybody who has moved in this game
    _asked_for_new: bool = False

    def press(self, word: str) -> None:
        """Run the command of a key or a word; `message` says if that is impossible."""
        command = _MEANING.get(word) or _MEANING.get(word.lower())
        self.message = ""
        if command is None:
            self.message = f"{excerpt(word)} is not a command; ? lists the commands"
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
        """Play one move of the agent: the move that it plays in `evaluate`, with the stream of the game."""
        self._move(self.player.move(self.episode.board, self.episode.stream), self.player.agent.spec)

    @property
    def players(self) -> str:
        """Everybody who has moved in this game, as `human + greedy`."""
        return " + ".join(self._names)

    @property
    def best(self) -> list[str]:
        """The moves of the highest value in the hint."""
        top = max(self.hint.values(), default=0.0)
        return [action for action, value in self.hint.items() if value == top]

    def _move(self, action: str, player: str) -> None:
        episode = self.episode
        if episode.is_over:
            self.message = "the game is over; n starts a new one, u undoes the last move"
            return
        won_before = episode.is_won
        try:
            episode.move(action)
        except IllegalMoveError:
            self.message = f"{action} is illegal: it moves nothing; legal: {', '.join(episode.legal)}"
            return
        if player not in self._names:
            self._names.append(player)
        self._changed()
        if self.not_recorded is not None:
            self.message = f"not recorded, tried again with every move: {self.not_recorded}"
        elif episode.is_over:
            self.message = f"game over: {episode.score:,} points in {len(episode.history):,} moves"
        elif episode.is_won and not won_before:
            self.message = f"{episode.game.largest(episode.board)}: you have won and can continue"
        self.autoplay = self.autoplay and not episode.is_over

    def _changed(self) -> None:
        self.hint = {}
        if not self.episode.history:
            self._names.clear()
        self.save()

    def save(self) -> None:
        """Record the game as it is; a full disk does not end it, and the next move tries again."""
        if self.recorder is None:
            return
        try:
            self.recorder.update(self.episode, self.players)
            self.not_recorded = None
        except FileError as error:
            self.not_recorded = error

    def _hint(self) -> None:
        self.hint = {} if self.hint else self.player.analyse(self.episode.board).values
        if self.episode.is_over:
            self.message = "the game is over: no move is legal"

    def _undo(self) -> None:
        self.autoplay = False
        if not self.episode.history:
            self.message = "there is no move to undo"
            return
        self.episode.undo()
        self._changed()

    def _auto(self) -> None:
        if self.episode.is_over:
            self.message = "the game is over; n starts a new one"
            return
        self.autoplay = not self.autoplay

    def _change_speed(self, step: int) -> None:
        others = [speed for speed in SPEEDS if (speed - self.speed) * step > 0]
        if others:
            self.speed = others[0] if step > 0 else others[-1]
        self.message = f"speed: {self.speed:g} moves per second"

    def _new(self, asked: bool) -> None:
        """Start the next game; with `confirms`, the current one is given up only after a second `n`."""
        old = self.episode
        if self.confirms and old.history and not old.is_over and not asked:
            self._asked_for_new = True
            self.message = "press n again to give this game up and start a new one"
            return
        self.save()
        if self.not_recorded is not None:
            self.message = f"the game is kept until it is recorded: {self.not_recorded}"
            return
        self.episode = Episode(old.game, old.seed, old.number + 1, old.start)
        self.hint, self._names = {}, []
        if self.recorder is not None:
            self.recorder.start_game()

    def _help(self) -> None:
        self.shows_help = not self.shows_help

    def _quit(self) -> None:
        self.is_done = True
