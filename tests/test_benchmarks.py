"""The scripts in `benchmarks` run."""

import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.process import HANG_SECONDS, environment
from tilewright import make_game
from tilewright.ntuple.model import Model
from tilewright.ntuple.patterns import NTupleArchitecture

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def run_benchmark(name: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / name), *arguments]
    found = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.slow
def test_tuning_writes_weights_that_tuning_reads(tmp_path: Path) -> None:
    out = tmp_path / "weights.json"
    brief = ["--game", "2048:rows=2,columns=2", "--games", "2", "--check-games", "2", "--candidates", "4"]
    printed = run_benchmark("tune_heuristic.py", *brief, "--minutes", "0.0001", "--out", str(out))
    assert "generation 1" in printed
    weights = json.loads(out.read_text())
    again = run_benchmark("tune_heuristic.py", *brief, "--minutes", "0", "--start", str(out), "--spread", "0.1")
    assert f"base={weights[0]}" in again


def test_move_times_has_a_line_for_every_limit() -> None:
    lines = run_benchmark("move_times.py", "minimax", "--limits", "1", "2", "--moves", "2").splitlines()
    assert [line.split()[0] for line in lines] == ["limit,", "1", "2"]


@pytest.mark.slow
def test_late_games_tell_a_strong_player_from_a_weak_one() -> None:
    brief = ["--sum", "100", "--goal", "3000", "--games", "10"]
    lines = run_benchmark("late_games.py", "random", "ntuple", *brief).splitlines()
    assert lines[0] == "10 of 10 games of the packaged model reach a sum of 100"
    assert lines[1].startswith("random: 0 of 10 make a sum of 3,000 (0% to ")
    assert int(lines[2].removeprefix("ntuple: ").split()[0]) >= 9


@pytest.mark.slow
def test_weight_coding_compares_with_what_a_packed_model_takes(tmp_path: Path) -> None:
    architecture = NTupleArchitecture(("0123", "4567"))
    weights = np.random.default_rng(1).normal(0, 300, architecture.table_size).astype(np.float32)
    model = Model(make_game("2048"), architecture, "afterstate", weights)
    model.save(tmp_path / "model.safetensors", compact=True, quantum=16.0)
    printed = run_benchmark("weight_coding.py", str(tmp_path / "model.safetensors"))
    assert [line.split(":")[0] for line in printed.splitlines()[1:]] == ["which", "values"]


def test_move_classes_add_up_and_stronger_players_are_more_accurate() -> None:
    brief = ["--moves", "40", "--longest", "40", "--judge", "ntuple"]
    lines = [line.rsplit(" %", 6) for line in run_benchmark("move_classes.py", *brief).splitlines()[1:]]
    parts = [[float(cell.split()[-1]) for cell in cells[:-1]] for cells in lines]
    assert [round(sum(classes)) for *classes, _ in parts] == [100] * 6
    assert parts[-1][-1] == 100.0  # the judge itself
    assert parts[0][-1] < parts[-1][-1]


def test_ctrl_c_ends_the_measurement_of_a_server_that_searches() -> None:
    searching = threading.Event()

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if "ms=500" in self.path:
                searching.set()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        command = [sys.executable, str(BENCHMARKS / "web_latency.py"), url, "1", str(2 * HANG_SECONDS)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            assert searching.wait(HANG_SECONDS)
            process.send_signal(signal.SIGINT)
            assert process.wait(HANG_SECONDS) == -signal.SIGINT
        finally:
            process.kill()
            process.wait()
            server.shutdown()
