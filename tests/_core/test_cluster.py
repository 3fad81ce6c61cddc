"""A Ray cluster of two workers on this machine: the same bits as threads give, whatever happens to the workers."""

import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tests.cli.conftest import Command, command  # noqa: F401
from tests.process import run_python, run_tilewright
from tests.reproduce.tiny import QUICK, tiny_experiment
from tests.training.sessions import learned, tiny, train
from tilewright import evaluate, make_agent, make_game
from tilewright._core.cluster import Cluster
from tilewright.agents.base import Agent
from tilewright.cli.terminal import stopping_on_signals
from tilewright.errors import ConfigError, UsageError
from tilewright.games.board import Board
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture
from tilewright.reproduce.report import make_report, write_markdown
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import plan_trials, run_suite
from tilewright.rng import Stream
from tilewright.training.callbacks import Callback
from tilewright.training.distributed import DistributedTrainer
from tilewright.training.ntuple_session import NTupleSession
from tilewright.training.session import TrainingSession, open_session

GAME = "2048:rows=3,columns=3"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(processors=2) as found:
        yield found


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    shape = NTupleArchitecture(("0124", "456"))
    weights = np.random.default_rng(1).uniform(0, 50, shape.table_size).astype(np.float32)
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    Model(make_game(GAME), shape, "afterstate", weights).save(path)
    return make_agent("ntuple", model=str(path))


def test_games_are_the_same_bits_as_here(cluster: Cluster, agent: Agent) -> None:
    finished: list[int] = []
    game = make_game(GAME)
    there = evaluate(agent, game, games=301, seed=4, cluster=cluster, progress=finished.append)
    here = evaluate(agent, game, games=301, seed=4, threads=1)
    for name in ("scores", "moves", "codes"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert (there.agent, there.threads, sum(finished)) == (here.agent, 2, 301)


@dataclass(frozen=True)
class DyingAgent(Agent):
    """Plays like the greedy agent, but kills the first processes that ask it, except the one that made it."""

    name: ClassVar[str] = "dying"
    folder: str
    process: int
    deaths: int

    def values(self, board: Board, stream: Stream | None = None) -> dict[str, float]:
        if os.getpid() != self.process:
            die_once(Path(self.folder), self.deaths)
        return make_agent("greedy").values(board, stream)


def die_once(folder: Path, deaths: int = 1) -> None:
    """Kill this process, unless `deaths` processes were killed so already."""
    for number in range(deaths):
        try:
            (folder / f"died-{number}").open("x").close()
        except FileExistsError:
            continue
        os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_are_killed_change_nothing(cluster: Cluster, tmp_path: Path) -> None:
    mortal = DyingAgent(str(tmp_path), os.getpid(), 2)
    there = evaluate(mortal, GAME, games=32, seed=1, cluster=cluster)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["died-0", "died-1"]
    here = evaluate(mortal, GAME, games=32, seed=1, threads=1)
    np.testing.assert_array_equal(there.scores, here.scores)


def _report_until_seen(folder: Path, task: int, report: Callable[[float], bool]) -> int:
    """Report one part after the other, each until the driver has seen it."""
    for percent in (10, 20, 50):
        while not (folder / f"{task}-{percent}").exists():
            assert report(percent / 100)
            time.sleep(0.01)
    return task


def test_progress_comes_from_the_workers(cluster: Cluster, tmp_path: Path) -> None:
    seen: list[tuple[int, float]] = []

    def progress(task: int, done: float) -> None:
        seen.append((task, done))
        (tmp_path / f"{task}-{100 * done:.0f}").touch()

    tasks: list[tuple[object, ...]] = [(tmp_path, 0), (tmp_path, 1)]
    assert dict(cluster.map(_report_until_seen, tasks, progress=progress)) == {0: 0, 1: 1}
    for task in (0, 1):
        parts = [done for number, done in seen if number == task]
        assert parts == sorted(parts)
        assert set(parts) == {0.1, 0.2, 0.5}


def _fail(reason: str) -> None:
    raise ConfigError(reason)


def test_an_error_of_ours_comes_back_as_it_was(cluster: Cluster) -> None:
    with pytest.raises(ConfigError, match=r"^alpha = 7: no$"):
        list(cluster.map(_fail, [("alpha = 7: no",)]))


def _wait_for_ever(folder: Path, task: int) -> int:
    while task:
        (folder / "started").touch()
        time.sleep(0.01)
    return task


def test_tasks_that_are_not_needed_any_more_are_cancelled(cluster: Cluster, tmp_path: Path) -> None:
    tasks: list[tuple[object, ...]] = [(tmp_path, 0), (tmp_path, 1)]
    results = list(cluster.map(_wait_for_ever, tasks, until=(tmp_path / "started").exists))
    assert results in ([], [(0, 0)])


@pytest.mark.slow
def test_a_suite_gives_the_same_report_as_here(cluster: Cluster, tmp_path: Path) -> None:
    experiment = tiny_experiment(tmp_path)
    there, here = Store(tmp_path / "there"), Store(tmp_path / "here")
    run_suite(plan_trials(experiment, QUICK), there, workers=2, cluster=cluster)
    run_suite(plan_trials(experiment, QUICK), here, workers=2)
    for store, folder in ((there, "a"), (here, "b")):
        write_markdown(make_report(experiment, QUICK, store), tmp_path / folder)
    assert (tmp_path / "a" / "report.md").read_text() == (tmp_path / "b" / "report.md").read_text()


class KillWorker(Callback):
    """Kills the process of a worker once, after a number of games."""

    def __init__(self, games: int) -> None:
        self._games = games

    def on_games_end(self, session: TrainingSession) -> None:
        if session.progress.games < self._games:
            return
        import ray

        self._games = 10**9
        assert isinstance(session, NTupleSession)
        assert isinstance(session.trainer, DistributedTrainer)
        actor = session.trainer._workers._actors[0]
        os.kill(ray.get(actor.__ray_call__.remote(lambda worker: os.getpid())), signal.SIGKILL)


def test_a_training_goes_on_when_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    config = tiny(games=200, curve_games=50)
    session = open_session(config, tmp_path, threads=2, cluster=cluster, callbacks=KillWorker(60))
    session.run()
    assert session.progress.games == 200
    assert isinstance(session.trainer, DistributedTrainer)
    assert session.trainer.losses >= 1
    # How much the lost worker had learned, and others learn again, depends on the machine; less than nothing it is not.
    trained = evaluate(f"ntuple:model={tmp_path}/model.safetensors", config.game, games=200, seed=1, threads=1)
    assert trained.score.value > evaluate("random", config.game, games=200, seed=1, threads=1).score.value


def test_one_worker_learns_the_same_bits_as_one_thread(cluster: Cluster, tmp_path: Path) -> None:
    session = open_session(tiny(), tmp_path / "worker", threads=1, cluster=cluster)
    session.run()
    train(tiny(), tmp_path / "thread")
    assert learned(tmp_path / "worker") == learned(tmp_path / "thread")


def test_games_on_a_cluster_cannot_be_recorded(cluster: Cluster, agent: Agent, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="games that are played on a cluster cannot be recorded"):
        evaluate(agent, make_game(GAME), games=1, cluster=cluster, record=tmp_path / "games.jsonl")


def test_standard_output_has_only_the_json() -> None:
    said = run_tilewright("evaluate", "random", "--games", "20", "--json", "--engine", "ray")
    assert (said.returncode, json.loads(said.stdout)["games"]) == (0, 20), said.stderr


LOSE_A_WORKER = """
import json, os, signal, sys, threading
from pathlib import Path
from tilewright._core.cluster import Cluster

printed = threading.Event()  # a message of Ray, on standard error


class Stderr:
    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        if "(raylet)" in text:
            printed.set()
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


def die_once(marker):
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


sys.stderr = Stderr(sys.stderr)
with Cluster(processors=1) as cluster:
    results = list(cluster.map(die_once, [(Path(os.environ["MARKER"]),)]))
    printed.wait(200)
print(json.dumps(results))
"""


def test_messages_of_ray_go_to_standard_error(tmp_path: Path) -> None:
    """Ray tells from a thread of its own that a worker died; left alone, it prints that to standard output."""
    said = run_python(LOSE_A_WORKER, MARKER=str(tmp_path / "died"))
    assert said.stdout == '[[0, "alive"]]\n'
    assert "(raylet)" in said.stderr


def test_a_cluster_without_an_address_is_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would join a cluster that runs on this machine, and refuse a number of processors."""
    import ray

    options: list[dict[str, object]] = []
    monkeypatch.setattr(ray, "init", lambda **given: options.append(given))
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(ray, "remote", lambda **_: lambda target: type("", (), {"remote": staticmethod(lambda: None)}))
    for given in ({"processors": 3}, {"address": "auto", "processors": 3}):
        with Cluster(**given):
            pass
    assert [(one["address"], one.get("num_cpus")) for one in options] == [("local", 3), ("auto", None)]


@pytest.mark.parametrize("when", ["while Ray starts", "once Ray has started"])
def test_sigterm_stops_a_command_on_a_cluster_as_elsewhere(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray answers it by ending the program with exit code 15, without a word, and without what was played so far."""
    calls: list[str] = []

    def init(**options: object) -> None:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))  # as Ray does
        if when == "while Ray starts":
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("ray.init", init)
    monkeypatch.setattr("ray.shutdown", lambda: calls.append("shutdown"))
    monkeypatch.setattr("ray.remote", lambda **_: lambda target: type("", (), {"remote": staticmethod(lambda: None)}))
    before = signal.getsignal(signal.SIGTERM)
    with stopping_on_signals(), pytest.raises(KeyboardInterrupt), Cluster():
        signal.raise_signal(signal.SIGTERM)
    assert calls == ["shutdown"]
    assert signal.getsignal(signal.SIGTERM) is before


STOPPED_AT_THE_START = """
import os, signal
import ray
from tilewright.cli.main import main

init = ray.init

def init_and_stop(**options):
    init(**options)
    os.kill(os.getpid(), signal.SIGTERM)

ray.init = init_and_stop
code = main(os.environ["WORDS"].split())
print(code, ray.is_initialized())
"""


def test_a_training_that_is_stopped_while_ray_starts_ends_in_order(tmp_path: Path) -> None:
    words = f"train minute --engine ray --threads 1 --out {tmp_path / 'run'}"
    said = run_python(STOPPED_AT_THE_START, WORDS=words)
    assert (said.returncode, said.stdout) == (0, "1 False\n"), said.stderr
    assert said.stderr.endswith("tilewright: stopped\n")
    assert not (tmp_path / "run").exists()


def test_an_address_where_nobody_listens_is_refused_at_once(command: Command, tmp_path: Path) -> None:  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    for where in (address, f"ray://{address}"):
        said = command("train", "minute", "--out", str(tmp_path / "run"), "--engine", "ray", "--address", where)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert re.fullmatch(rf"tilewright: no Ray cluster at {where}: .*refused.*\n", said.err)
    assert not (tmp_path / "run").exists()


def test_a_cluster_that_does_not_answer_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray tries twenty times, for 40 seconds each, unless it is told otherwise."""
    variables: list[dict[str, str]] = []

    def init(**options: object) -> None:
        variables.append(dict(os.environ))
        raise Exception("Failed to connect to GCS.\nMore lines.")

    monkeypatch.setattr("ray.init", init)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UsageError, match=rf"^no Ray cluster at {address}: Failed to connect to GCS\.$"):
            Cluster(address).__enter__()
    assert [one["RAY_gcs_server_port_wait_time_s"] for one in variables] == ["1"]
    assert "RAY_gcs_server_port_wait_time_s" not in os.environ


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
    assert said.stderr == "tilewright: ray is not installed: pip install 'tilewright[ray]'\n"
