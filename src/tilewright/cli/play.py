"""`tilewright play`: play in the terminal, ask an agent, or watch it."""

import io
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import click

from tilewright.agents.defaults import agent_or_default
from tilewright.cli import output
from tilewright.cli.options import agent_option, game_option
from tilewright.cli.play_screen import Screen
from tilewright.cli.play_session import HELP, SPEEDS, Sitting
from tilewright.cli.terminal import Terminal, is_terminal, stop_signals
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.games.episode import Episode
from tilewright.play.recording import EpisodeRecorder

__all__ = ["play"]

_DEFAULT_SPEED = 5.0
_FRAME_SECONDS = 1 / 25
_IDLE_SECONDS = 0.25  # how soon a changed size of the terminal is noticed


@click.command()
@game_option
@agent_option("Who gives hints, and plays when asked to.")
@click.option("--watch", is_flag=True, help="Let the agent play from the start.")
@click.option("--seed", type=int, help="The same seed gives the same game.  [default: a new one every time]")
@click.option("--speed", type=float, help=f"Moves of the agent a second.  [default: {_DEFAULT_SPEED:g}]")
@click.option("--board", help="Begin with this board, in any form that `move` reads.")
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Add the games to FILE, move by move.")
@click.option("--no-color", is_flag=True, help="Borders instead of colours, as with NO_COLOR=1.")
def play(
    game: str,
    agent: str | None,
    watch: bool,
    seed: int | None,
    speed: float | None,
    board: str | None,
    record: Path | None,
    no_color: bool,
) -> None:
    """Play 2048 or Threes in the terminal, with an agent to ask, or watch it play.

    Keys: arrows, wasd or hjkl move; i hint, u undo, space lets the agent play, + and - its speed, n new game, ? help,
    q quit. Without a terminal, the same keys and the words up, right, down, left, hint, undo, auto, new, quit are read
    from the input, and boards are printed plainly.

    \b
    Examples:
      tilewright play
      tilewright play --game threes --seed 7 --record games.jsonl
      tilewright play --watch --agent greedy --speed 20
      echo "left up hint left" | tilewright play --seed 7
    """
    if speed is not None and not 0 < speed <= SPEEDS[-1]:
        raise UsageError(f"speed={speed:g}: must be more than 0 and at most {SPEEDS[-1]:g} moves a second")
    output.announce_compilation()
    played = make_game(game)
    player = agent_or_default(agent, played)
    start = None if board is None else played.parse_position(board)
    episode = Episode(played, secrets.randbits(32) if seed is None else seed, 0, start)
    player.values(episode.board)  # whatever cannot be played together says so before the screen is ours
    with stop_signals(), nullcontext() if record is None else EpisodeRecorder(record) as recorder:
        sitting = Sitting(
            player, episode, recorder, _DEFAULT_SPEED if speed is None else speed, watch, confirms=is_terminal()
        )
        try:
            if is_terminal():
                _warm_up(sitting)
                with Terminal() as terminal:
                    _run(sitting, terminal, Screen.for_terminal(no_color))
            elif watch:
                _watch(sitting, pause=0.0 if speed is None else 1 / speed)
            else:
                _obey(sitting, _words())
        finally:
            _summarise(sitting, record)


def _warm_up(sitting: Sitting) -> None:
    """Compile what a move needs while its notice does not disturb a screen."""
    episode = Episode(sitting.episode.game, sitting.episode.seed, 0, sitting.episode.start)
    if not episode.is_over:
        episode.move(sitting.agent.move(episode.board, episode.stream))


def _run(sitting: Sitting, terminal: Terminal, screen: Screen) -> None:
    """Keys in, screens out, and moves of the agent when it is time for them."""
    size, due = terminal.size, time.monotonic()
    while not sitting.is_done:
        if terminal.size != size:
            size = terminal.size
            terminal.forget()
        terminal.show(screen.draw(sitting, *size))
        wait = min(max(due - time.monotonic(), 0.0), _IDLE_SECONDS) if sitting.autoplay else _IDLE_SECONDS
        keys = terminal.keys(wait)
        if keys is None:
            return
        played_before = sitting.autoplay
        for key in keys:
            sitting.press(key)
        if sitting.autoplay and not played_before:
            due = time.monotonic()
        due = min(due, time.monotonic() + 1 / sitting.speed)  # a higher speed counts at once
        frame_ends = time.monotonic() + _FRAME_SECONDS
        while sitting.autoplay and due <= time.monotonic() < frame_ends:
            sitting.agent_moves()
            due = max(due + 1 / sitting.speed, time.monotonic() - _FRAME_SECONDS)


def _watch(sitting: Sitting, pause: float) -> None:
    """A game of the agent, a line a move, and its last board."""
    episode = sitting.episode
    while not episode.is_over:
        sitting.agent_moves()
        action, text = episode.history[-1].action, episode.game.text(episode.board)
        print(f"{len(episode.history):>5}  {action:<5}  {episode.score:>7}  {text}", flush=pause > 0)
        time.sleep(pause)
    print(episode.board)


def _words() -> Iterator[str]:
    """What the input says, a word at a time."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    for line in sys.stdin:
        yield from line.split()


def _obey(sitting: Sitting, words: Iterable[str]) -> None:
    """Do what the words say, and print what comes of each: a board, or a line where there is no other."""
    print(sitting.episode.board, flush=True)
    for word in words:
        before = sitting.episode.number, sitting.episode.board
        sitting.press(word)
        if sitting.is_done:
            break
        while sitting.autoplay:
            sitting.agent_moves()
        if (sitting.episode.number, sitting.episode.board) != before:
            print(sitting.episode.board)
        _print_notes(sitting)


def _print_notes(sitting: Sitting) -> None:
    for action, value in sitting.hint.items():
        print(f"{action:<5} {value:>12,.1f}{'  best' if action in sitting.best else ''}")
    sitting.hint = {}
    if sitting.shows_help:
        for keys, does in HELP:
            print(f"{keys:<8}{does}")
        sitting.shows_help = False
    if sitting.message:
        print(sitting.message)
    sys.stdout.flush()


def _summarise(sitting: Sitting, record: Path | None) -> None:
    episode = sitting.episode
    moves, state = len(episode.history), "over" if episode.is_over else "not over"
    print(
        f"{episode.game.spec}, seed {episode.seed}, game {episode.number}: {episode.score:,} points in "
        f"{moves:,} move{'' if moves == 1 else 's'}, largest tile {episode.game.largest(episode.board):,}, {state}"
    )
    if record is not None:
        print(f"recorded in {record}")
