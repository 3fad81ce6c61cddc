"""`tilewright play`: play in the terminal, ask an agent for hints, or watch it play."""

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
from tilewright.cli.play_screen import PlayScreen
from tilewright.cli.play_session import HELP, SPEEDS, PlaySession
from tilewright.cli.terminal import Terminal, is_terminal, stopping_on_signals
from tilewright.errors import UsageError
from tilewright.games import make_game
from tilewright.games.episode import Episode
from tilewright.play.recorder import EpisodeRecorder

__all__ = ["play"]

_DEFAULT_SPEED = 5.0
_FRAME_SECONDS = 1 / 25
_IDLE_SECONDS = 0.25  # the longest time until a new size of the terminal is noticed


@click.command()
@game_option
@agent_option("The agent that gives hints and plays.")
@click.option("--watch", is_flag=True, help="Let the agent play from the start.")
@click.option("--seed", type=int, help="The same seed gives the same game.  [default: a random seed]")
@click.option("--speed", type=float, help=f"The moves per second of the agent.  [default: {_DEFAULT_SPEED:g}]")
@click.option("--board", help="Start with this board, in any form that `move` reads.")
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Add the games to FILE, move by move.")
@click.option("--no-color", is_flag=True, help="Draw borders instead of colours, as with NO_COLOR=1.")
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
    """Play 2048 or Threes in the terminal, with hints from an agent, or watch the agent play.

    Keys: arrows, wasd or hjkl move; i hint, u undo, space starts or stops the agent, + and - change its speed, n new
    game, ? help, q quit. Without a terminal, the command reads these keys, or the words up, right, down, left, hint,
    undo, auto, new and quit, from standard input, and prints the boards as text.

    \b
    Examples:
      tilewright play
      tilewright play --game threes --seed 7 --record games.jsonl
      tilewright play --watch --agent greedy --speed 20
      echo "left up hint left" | tilewright play --seed 7
    """
    if speed is not None and not 0 < speed <= SPEEDS[-1]:
        raise UsageError(f"speed={speed:g}: must be more than 0 and at most {SPEEDS[-1]:g} moves per second")
    output.announce_compilation()
    played = make_game(game)
    player = agent_or_default(agent, played).player(played)
    start = None if board is None else played.parse_position(board)
    episode = Episode(played, secrets.randbits(32) if seed is None else seed, 0, start)
    player.analyse(episode.board)  # an agent that cannot play the game fails before the screen changes
    with stopping_on_signals(), nullcontext() if record is None else EpisodeRecorder(record) as recorder:
        session = PlaySession(
            player, episode, recorder, _DEFAULT_SPEED if speed is None else speed, watch, confirms=is_terminal()
        )
        try:
            if is_terminal():
                _warm_up(session)
                with Terminal() as terminal:
                    _run(session, terminal, PlayScreen.for_terminal(no_color))
            elif watch:
                _watch(session, pause=0.0 if speed is None else 1 / speed)
            else:
                _run_words(session, _words())
        finally:
            session.save()
            _summarise(session, record)
    if session.not_recorded is not None:
        raise session.not_recorded


def _warm_up(session: PlaySession) -> None:
    """Compile the kernels of a move before the screen changes, because compiling prints a notice."""
    episode = Episode(session.episode.game, session.episode.seed, 0, session.episode.start)
    if not episode.is_over:
        episode.move(session.player.move(episode.board, episode.stream))


def _run(session: PlaySession, terminal: Terminal, screen: PlayScreen) -> None:
    """Read keys, play the agent's moves at their time, and draw the screen, until the user quits."""
    size, due = terminal.size, time.monotonic()
    while not session.is_done:
        if terminal.size != size:
            size = terminal.size
            terminal.invalidate()
        terminal.show(screen.draw(session, *size))
        wait = min(max(due - time.monotonic(), 0.0), _IDLE_SECONDS) if session.autoplay else _IDLE_SECONDS
        keys = terminal.keys(wait)
        if keys is None:
            return
        played_before = session.autoplay
        for key in keys:
            session.press(key)
        if session.autoplay and not played_before:
            due = time.monotonic()
        due = min(due, time.monotonic() + 1 / session.speed)  # a higher speed takes effect at once
        frame_ends = time.monotonic() + _FRAME_SECONDS
        while session.autoplay and due <= time.monotonic() < frame_ends:
            session.agent_moves()
            due = max(due + 1 / session.speed, time.monotonic() - _FRAME_SECONDS)


def _watch(session: PlaySession, pause: float) -> None:
    """Print a game of the agent, one line per move, and the last board."""
    episode = session.episode
    while not episode.is_over:
        session.agent_moves()
        action, text = episode.history[-1].action, episode.game.text(episode.board)
        print(f"{len(episode.history):>5}  {action:<5}  {episode.score:>7}  {text}", flush=pause > 0)
        time.sleep(pause)
    print(episode.board)


def _words() -> Iterator[str]:
    """Yield the words of standard input."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    for line in sys.stdin or ():
        yield from line.split()


def _run_words(session: PlaySession, words: Iterable[str]) -> None:
    """Run the commands of words, and print the new board or the answer of each."""
    print(session.episode.board, flush=True)
    for word in words:
        before = session.episode.number, session.episode.board
        session.press(word)
        if session.is_done:
            break
        while session.autoplay:
            session.agent_moves()
        if (session.episode.number, session.episode.board) != before:
            print(session.episode.board)
        _print_notes(session)


def _print_notes(session: PlaySession) -> None:
    for action, value in session.hint.items():
        print(f"{action:<5} {value:>12,.1f}{'  best' if action in session.best else ''}")
    session.hint = {}
    if session.shows_help:
        for keys, does in HELP:
            print(f"{keys:<8}{does}")
        session.shows_help = False
    if session.message:
        print(session.message)
    sys.stdout.flush()


def _summarise(session: PlaySession, record: Path | None) -> None:
    episode = session.episode
    moves, state = len(episode.history), "over" if episode.is_over else "not over"
    print(
        f"{episode.game.spec}, seed {episode.seed}, game {episode.number}: {episode.score:,} points in "
        f"{moves:,} move{'' if moves == 1 else 's'}, largest tile {episode.game.largest(episode.board):,}, {state}"
    )
    if record is not None:
        print(f"recorded in {record}" if session.not_recorded is None else f"not all moves are recorded in {record}")
