"""A Ray cluster of two workers on this machine: the same bits as threads give, whatever happens to the workers."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command, command  # noqa: F401
from tests.process import run_python
from tests.reproduce.tiny import QUICK, tiny_experiment
from tilewright import evaluate, make_agent, make_game
from tilewright._core.cluster import Cluster
from tilewright.agents.base import Agent
from tilewright.errors import ConfigError, UsageError
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.reproduce.report import make_report, write_markdown
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import pieces_of, run_suite


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(processors=2) as found:
        yield found


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    shape = NTupleArchitecture(("0124", "456"))
    weights = np.random.default_rng(1).uniform(0, 50, shape.table_size).astype(np.float32)
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    Model(make_game("2048:rows=3,columns=3"), shape, "afterstate", weights).save(path)
    return make_agent("ntuple", model=str(path))


def worker_processes() -> list[int]:
    """The processes below this one in which Ray calls our functions."""
    parents, workers = {}, []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if "ray::" in (folder / "cmdline").read_text() and "_call" in (folder / "cmdline").read_text():
                    workers.append(int(folder.name))
            except OSError:
                continue
    return [worker for worker in workers if _is_below(worker, parents)]


def _is_below(process: int, parents: dict[int, int]) -> bool:
    while process > 1:
        process = parents.get(process, 0)
        if process == os.getpid():
            return True
    return False


def test_games_are_the_same_bits_as_here(cluster: Cluster, agent: Agent) -> None:
    told: list[int] = []
    game = make_game("2048:rows=3,columns=3")
    there = evaluate(agent, game, games=301, seed=4, cluster=cluster, progress=told.append)
    here = evaluate(agent, game, games=301, seed=4, threads=1)
    for name in ("scores", "moves", "codes"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert (there.agent, there.threads, sum(told)) == (here.agent, 2, 301)


def test_a_worker_that_is_killed_changes_nothing(cluster: Cluster) -> None:
    """Every time a piece is finished in the first seconds, a worker is killed."""
    killed: list[int] = []
    agent, game, began = make_agent("montecarlo:rollouts=10"), make_game("2048"), time.monotonic()

    def kill_one(games: int) -> None:
        workers = worker_processes()
        if workers and len(killed) < 2 and time.monotonic() - began < 60:
            os.kill(workers[0], signal.SIGKILL)
            killed.append(workers[0])

    there = evaluate(agent, game, games=32, seed=1, cluster=cluster, progress=kill_one)
    assert len(killed) == 2
    np.testing.assert_array_equal(there.scores, evaluate(agent, game, games=32, seed=1, threads=1).scores)


def _count_slowly(to: int, report: Callable[[float], bool]) -> int:
    for i in range(to):
        time.sleep(0.1)
        assert report(i / to)
    return to


def test_progress_comes_from_the_workers(cluster: Cluster) -> None:
    told: list[tuple[int, float]] = []
    found = dict(cluster.map(_count_slowly, [(30,), (40,)], progress=lambda *sign: told.append(sign)))
    assert found == {0: 30, 1: 40}
    for number in (0, 1):
        shares = [done for piece, done in told if piece == number]
        assert shares == sorted(shares)
        assert len(set(shares)) >= 3
        assert 0 <= shares[0] < shares[-1] < 1


def _fail(reason: str) -> None:
    raise ConfigError(reason)


def test_an_error_of_ours_comes_back_as_it_was(cluster: Cluster) -> None:
    with pytest.raises(ConfigError, match=r"^share = 7: no$"):
        list(cluster.map(_fail, [("share = 7: no",)]))


@pytest.mark.slow
def test_a_suite_gives_the_same_report_as_here(cluster: Cluster, tmp_path: Path) -> None:
    experiment = tiny_experiment(tmp_path)
    there, here = Store(tmp_path / "there"), Store(tmp_path / "here")
    run_suite(pieces_of(experiment, QUICK), there, workers=2, cluster=cluster)
    run_suite(pieces_of(experiment, QUICK), here, workers=2)
    for store, folder in ((there, "a"), (here, "b")):
        write_markdown(make_report(experiment, QUICK, store), tmp_path / folder)
    assert (tmp_path / "a" / "report.md").read_text() == (tmp_path / "b" / "report.md").read_text()


def test_what_cannot_be_is_one_line(cluster: Cluster, agent: Agent, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="games that are played on a cluster cannot be recorded"):
        evaluate(agent, make_game("2048:rows=3,columns=3"), games=1, cluster=cluster, record=tmp_path / "games.jsonl")


def test_an_address_needs_the_engine(command: Command) -> None:  # noqa: F811
    said = command("evaluate", "random", "--games", "1", "--address", "auto")
    assert (said.code, said.err) == (2, "tilewright: --address goes with --engine ray\n")


def test_without_ray_the_pip_line_is_named() -> None:
    said = run_python(
        "import sys; sys.modules['ray'] = None\n"
        "from tilewright.cli.main import main\n"
        "sys.exit(main(['evaluate', 'random', '--games', '1', '--engine', 'ray']))"
    )
    assert said.returncode == 1
    assert said.stderr == 'tilewright: the engine ray needs Ray: pip install "tilewright[ray]"\n'
