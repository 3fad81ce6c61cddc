"""A leaderboard of a class: every agent of a folder plays the same games.

    python examples/course/leaderboard.py submissions --games 200 --seed 1 [--game threes] [--json]

A submission is a Python file with one subclass of `tilewright.Agent`. The difference to the first place is paired
by game, so that luck counts less. A file that fails is listed with the reason, and does not stop the others.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import NamedTuple

import tilewright as tw


class Entry(NamedTuple):
    name: str
    result: tw.Evaluation | None
    reason: str = ""


def find_agent(path: Path) -> tw.Agent:
    """Import a file, and make the agent that it defines."""
    spec = importlib.util.spec_from_file_location(f"submission_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise tw.UsageError("no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    own = [found for found in vars(module).values() if isinstance(found, type) and found.__module__ == module.__name__]
    agents = [found for found in own if issubclass(found, tw.Agent)]
    if len(agents) != 1:
        raise tw.UsageError(f"{len(agents)} subclasses of tilewright.Agent: must be one")
    return agents[0]()


def play(path: Path, game: str, games: int, seed: int) -> Entry:
    try:
        return Entry(path.stem, tw.evaluate(find_agent(path), game, games=games, seed=seed))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (a student's agent may raise anything)
        return Entry(path.stem, None, f"{type(error).__name__}: {error}")


def rank(folder: Path, game: str, games: int, seed: int) -> list[Entry]:
    """Return all entries, the highest mean score first, those that failed at the end."""
    entries = [play(path, game, games, seed) for path in sorted(folder.glob("*.py"))]
    return sorted(entries, key=lambda entry: -entry.result.score.value if entry.result else 1.0)


def rows(entries: list[Entry]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for place, entry in enumerate(entries, 1):
        if entry.result is None:
            found.append({"place": None, "name": entry.name, "reason": entry.reason})
            continue
        first = entries[0].result
        behind = "" if place == 1 or first is None else str(entry.result.compare(first))
        score, largest = str(entry.result.score), int(max(entry.result.reach))
        found.append({"place": place, "name": entry.name, "score": score, "behind": behind, "largest": largest})
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--game", default="2048")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    table = rows(rank(options.folder, options.game, options.games, options.seed))
    if options.json:
        print(json.dumps(table))
        return 0
    for row in table:
        if row["place"] is None:
            print(f"  –  {row['name']}: {row['reason']}")
        else:
            behind = f", {row['behind']} to the first" if row["behind"] else ""
            print(f"{row['place']:3}  {row['name']}: {row['score']}{behind}, largest tile {row['largest']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
