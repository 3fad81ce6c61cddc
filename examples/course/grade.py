"""Grade a solution of td_player.py: fixed seeds, one line per check, and a reason that names the mistake.

    python examples/course/grade.py submission.py [--json]

The exit code is 0 if every check passes, 1 otherwise. A submission runs in a process of its own, so that neither
`sys.exit` nor a loop without an end stops the grader. It is code that runs with your rights: grade
those of strangers in a container.
"""

import argparse
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

BOARD = (2, 2, 4, 0, 0, 2)
OVER = (2, 4, 2, 4, 2, 4)
SECONDS = 300.0  # of all checks together; those of a right solution take some seconds
LEARNED = 150  # the mean score of games 301 to 400; a player that learns nothing has about 110


class MistakeError(Exception):
    """What is wrong with a submission, in a sentence for the student."""


class Update(NamedTuple):
    board: tuple[int, ...]
    error: float
    value_before: float


class Played(NamedTuple):
    """What a game of the submission did."""

    afterstates: list[tuple[int, ...]]  # every board that a new tile was put on, the first two left out
    states: list[tuple[int, ...]]  # every board with a new tile
    updates: list[Update]
    score: int


def expect(holds: bool, mistake: str) -> None:
    if not holds:
        raise MistakeError(mistake)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("submission", path)
    if spec is None or spec.loader is None:
        raise MistakeError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def forget(player: Any) -> None:
    """Empty the tables."""
    for table in player.tables:
        table.clear()


def watch_game(player: Any, alpha: float, seed: int) -> Played:
    """Play one game and note every new tile and every update."""
    real_spawn, real_update = player.spawn, player.update
    spawned_on: list[tuple[int, ...]] = []
    states: list[tuple[int, ...]] = []
    updates: list[Update] = []

    def spawn(board: tuple[int, ...]) -> tuple[int, ...]:
        spawned_on.append(tuple(board))
        states.append(real_spawn(board))
        return states[-1]

    def update(after: tuple[int, ...], error: float, alpha: float) -> None:
        updates.append(Update(tuple(after), error, player.value(after)))
        real_update(after, error, alpha)

    random.seed(seed)
    player.spawn, player.update = spawn, update
    try:
        score = player.play(alpha)
    finally:
        player.spawn, player.update = real_spawn, real_update
    return Played(spawned_on[2:], states, updates, score)


def check_value(player: Any) -> None:
    forget(player)
    expect(player.value(BOARD) == 0, "an empty table must count 0")
    for table, cells in zip(player.tables, player.TUPLES, strict=True):
        table[player.read(BOARD, cells)] = 1.5
    expected = 1.5 * len(player.TUPLES)
    expect(player.value(BOARD) == expected, f"with 1.5 in every table the value must be {expected}, the sum")


def check_step(player: Any) -> None:
    forget(player)
    player.update(BOARD, 8.0, 0.5)
    grown, count = player.value(BOARD), len(player.TUPLES)
    expect(grown != 0, "update(after, 8, 0.5) does not change the value of after")
    wrong = f"update(after, 8, 0.5) must change the value by 4, and changes it by {grown:g}"
    divided = "the step is not divided by the number of look-ups, so every table makes the whole step"
    expect(abs(grown - 4 * count) > 1e-6, f"{wrong}: {divided}")
    expect(abs(grown - 4) < 1e-6, wrong)


def check_choice(player: Any) -> None:
    forget(player)
    expect(player.best_move(OVER) is None, "best_move must return None where no move is legal")
    found = player.best_move((2, 0, 0, 0, 0, 0))
    expect(found is not None and found[0] != (2, 0, 0, 0, 0, 0), "best_move chose a move that is not legal")
    after, reward = player.slide(BOARD, "down")  # no tiles merge
    player.update(after, 100.0, 1.0)
    chosen = tuple(player.best_move(BOARD))
    expect(chosen == (after, reward), "best_move must add the reward and the value of the afterstate")
    forget(player)
    expect(player.best_move(BOARD)[1] == 4, "with empty tables, best_move must choose by the reward alone")


def check_what_is_learned(player: Any) -> None:
    forget(player)
    played = watch_game(player, alpha=0.5, seed=1)
    expect(bool(played.updates), "play(0.5) must call update")
    learned = [found.board for found in played.updates]
    states = [board for board in learned if board in played.states and board not in played.afterstates]
    mistake = "update gets a board with the new tile on it: take the value before spawn, of the afterstate"
    expect(not states, mistake)
    expect(learned == played.afterstates[: len(learned)], "update must get every afterstate of the game, in order")


def check_end(player: Any) -> None:
    forget(player)
    for seed in range(3):
        played = watch_game(player, alpha=0.5, seed=seed)
    missing = len(played.afterstates) - len(played.updates)
    mistake = "the last afterstate is never updated: when the game is over nothing more will come, so its target is 0"
    expect(missing != 1, mistake)
    count = len(played.afterstates)
    expect(missing == 0, f"a game of {count} moves must have as many updates, not {len(played.updates)}")
    last = played.updates[-1]
    expect(abs(last.error + last.value_before) < 1e-6, f"{mistake}, and its error {-last.value_before:g}")


def check_target(player: Any) -> None:
    forget(player)
    watch_game(player, alpha=0.5, seed=1)
    before = [dict(table) for table in player.tables]
    watch_game(player, alpha=0.0, seed=2)
    expect(player.tables == before, "play(0) must not change the tables")
    played = watch_game(player, alpha=1e-12, seed=2)  # learns next to nothing, so that values stay as they are
    rewards = [player.slide(state, move)[1] for state, move in _moves(player, played)]
    for now, following, reward in zip(played.updates[:-1], played.updates[1:], rewards[1:], strict=False):
        expected = reward + following.value_before - now.value_before
        mistake = "an error must be the reward + the value of the next afterstate - the value of this one"
        expect(abs(now.error - expected) < 1e-3, mistake)
    expect(played.score == sum(rewards), "play must return the sum of all rewards")


def _moves(player: Any, played: Played) -> list[tuple[tuple[int, ...], str]]:
    """Return the states of a game with the moves that were made there."""
    moves = []
    for state, after in zip(played.states[1:], played.afterstates, strict=False):
        moves.append((state, next(move for move in player.MOVES if player.slide(state, move)[0] == after)))
    return moves


def check_learning(player: Any) -> None:
    forget(player)
    random.seed(1)
    scores = [player.play(0.5) for _ in range(400)]
    mean = sum(scores[300:]) / 100
    expect(
        mean > LEARNED, f"games 301 to 400 have a mean score of {mean:.0f}; more than {LEARNED} shows that it learns"
    )


CHECKS: dict[str, Callable[[Any], None]] = {
    "1 value: the sum of the tables": check_value,
    "2 update: the size of the step": check_step,
    "3 best_move: reward and value": check_choice,
    "4 play: what is learned": check_what_is_learned,
    "5 play: the end of a game": check_end,
    "6 play: the target of an update": check_target,
    "7 the player learns": check_learning,
}


def grade(path: Path, seconds: float = SECONDS) -> dict[str, str]:
    """Return the result of every check: empty text if it passes, the mistake otherwise.

    Args:
        path: The submission.
        seconds: How long all checks together may take.
    """
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        results.touch()
        words = [sys.executable, __file__, str(path), "--results", str(results), "--checks", *CHECKS]
        try:
            subprocess.run(words, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=seconds, check=False)  # noqa: S603
            missing = "the submission ended the process"
        except subprocess.TimeoutExpired:
            missing = f"not done after {seconds:g} seconds"
        found = dict(json.loads(line) for line in results.read_text(encoding="utf-8").splitlines())
    return {name: found.get(name, missing) for name in CHECKS}


def run_checks(path: Path, names: list[str], results: Path) -> None:
    """Run the submission and some checks, and write a line for each one that is done."""
    player, reason = None, ""
    try:
        player = load(path)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (a student's file may raise anything)
        reason = f"the file cannot be run: {type(error).__name__}: {error}"
    for name in names:
        found = _result(CHECKS[name], player) if player else reason
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps([name, found]) + "\n")


def _result(check: Callable[[Any], None], player: Any) -> str:
    try:
        check(player)
    except MistakeError as mistake:
        return str(mistake)
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("submission", type=Path)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)  # of the process that runs the submission
    parser.add_argument("--checks", nargs="*", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.results is not None:
        run_checks(options.submission, options.checks, options.results)
        return 0
    if not options.submission.is_file():
        parser.error(f"there is no file {options.submission}")
    results = grade(options.submission)
    passed = sum(not reason for reason in results.values())
    if options.json:
        mistakes = {name: reason for name, reason in results.items() if reason}
        print(json.dumps({"passed": passed, "checks": len(results), "mistakes": mistakes}))
    else:
        for name, reason in results.items():
            print(f"{'no ' if reason else 'yes'}  {name}" + (f"\n     {reason}" if reason else ""))
        print(f"{passed} of {len(results)}")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
