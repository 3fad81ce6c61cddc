"""What a hostile or unlucky user gives to commands: one line and an exit code, never a traceback, never a hang."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.process import HANG_SECONDS, environment
from tests.training.sessions import tiny, train
from tilewright import evaluate
from tilewright.ntuple.model import load_model

DIGITS = "1" * 5000
BOARD = "1120000000000001"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, recorded games, a configuration, a pipe, and links to devices."""
    folder = tmp_path_factory.mktemp("hostile")
    train(tiny(), folder / "run")
    evaluate("random", games=2, record=folder / "games.jsonl")
    (folder / "digits.toml").write_text(f"games = {DIGITS}\n")
    (folder / "hexadecimal.toml").write_text(f"games = 0x{DIGITS}\n")
    (folder / "deep.toml").write_text("x = " + "[" * 5000)
    (folder / "endless.toml").symlink_to("/dev/zero")
    (folder / "null.toml").write_text('games = 5\nmodel = "\\u0000"\n')
    (folder / "long.toml").write_text(f'games = 5\nmodel = "{"m" * 5000}"\n')
    os.mkfifo(folder / "pipe.toml")
    os.mkfifo(folder / "pipe")
    (folder / "notes.txt").write_text("my thesis\n")
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "digits.toml"],
        ["train", "hexadecimal.toml"],
        ["train", "deep.toml"],
        ["train", "endless.toml"],
        ["train", "pipe.toml"],
        ["train", "null.toml"],
        ["train", "long.toml"],
        ["train", "minute", "--set", f"games={DIGITS}"],
        ["train", "minute", "--set", f"games=0x{DIGITS}"],
        ["train", "minute", "--set", f"games=[{DIGITS}]"],
        ["train", "minute", "--set", f"{DIGITS}=1"],
        ["train", "minute", "--set", "games=" + "[" * 5000],
        ["train", "minute", "--games", DIGITS],
        ["train", "minute", "--seed", DIGITS],
        ["train", "minute", "--out", "x" * 5000],
        ["train", "--resume", "x" * 5000],
        ["train", "--resume", "pipe"],
        ["train", "x" * 5000],
        ["demo", "--preset", "x" * 5000],
        ["demo", "--preset", "pipe.toml"],
        ["sweep", "minute", f"games={DIGITS},5"],
        ["sweep", "pipe.toml", "alpha=0.5,1"],
        ["sweep", "minute", "alpha=0.5,1", "--set", "games=5", "--out", "x" * 5000],
        ["sweep", "minute", "alpha=0.5,1", "--set", "games=5", "--csv", "notes.txt"],
        ["reproduce", "chen-2019", "--out", "x" * 5000],
        ["reproduce", "--csv", "notes.txt"],
        ["reproduce", "x" * 5000],
        ["evaluate", f"expectimax:depth={DIGITS}"],
        ["evaluate", "random", "--game", f"2048:rows={DIGITS}"],
        ["evaluate", "random", "--game", f"2048:four={DIGITS}"],
        ["evaluate", "random", "--games", DIGITS],
        ["evaluate", "random", "--games", DIGITS[:4000]],
        ["evaluate", "random", "--threads", DIGITS[:4000]],
        ["evaluate", "x" * 5000],
        ["evaluate", f"ntuple:model={'x' * 5000}"],
        ["evaluate", "ntuple:model=pipe"],
        ["evaluate", "ntuple:model=/dev/zero"],
        ["evaluate", "ntuple:model=/dev/stdin"],
        ["evaluate", "dqn:model=pipe"],
        ["evaluate", "random", "--games", "2", "--plot", "."],
        ["evaluate", "random", "--games", "2", "--plot", ""],
        ["evaluate", "random", "--games", "2", "--csv", "/dev/null"],
        ["evaluate", "random", "--games", "2", "--csv", "pipe"],
        ["evaluate", "random", "--games", "2", "--record", "pipe"],
        ["evaluate", "random", "--games", "2", "--record", "/dev/full"],
        ["evaluate", "random", "--games", "2", "--csv", "notes.txt"],
        ["evaluate", "random", "--games", "2", "--plot", "games.jsonl"],
        ["evaluate", "random", "--games", "2", "--csv", "run/metrics.csv/x"],
        ["evaluate", "random", "--games", "2", "--csv", "new", "--plot", "./new"],
        ["evaluate", "ntuple:model=run/model.safetensors", "--games", "2", "--csv", "run/model.safetensors", "--force"],
        ["review", "games.jsonl", "--agent", "greedy", "--plot", "."],
        ["review", "games.jsonl", "--agent", "greedy", "--plot", "games.jsonl", "--force"],
        ["review", "games.jsonl", "--agent", "greedy", "--plot", "notes.txt"],
        ["review", "games.jsonl", "--game-number", DIGITS[:4000]],
        ["review", "pipe"],
        ["review", "/dev/zero"],
        ["review", "x" * 5000],
        ["play", "--record", "pipe"],
        ["play", "--record", "notes.txt"],
        ["play", "--seed", DIGITS],
        ["move", DIGITS],
        ["move", f"[[{DIGITS}]]"],
        ["move", "x" * 100_000],
        ["move", BOARD, "--agent", f"uct:rollouts={DIGITS}"],
        ["move", BOARD, "--seed", DIGITS],
        ["models", "pipe"],
        ["models", "/dev/zero"],
        ["models", "x" * 5000],
        ["models", "run/model.safetensors", "--pack", "run/model.safetensors"],
        ["models", "run/model.safetensors", "--pack", "run/checkpoint.safetensors"],
        ["models", "run/model.safetensors", "--pack", "notes.txt"],
        ["models", "run/model.safetensors", "--pack", "/dev/null"],
        ["models", "run/model.safetensors", "--pack", "."],
        ["agents", "x" * 5000],
        ["games", "x" * 5000],
        ["bench", "x" * 5000],
        ["x" * 5000],
    ],
    ids=lambda arguments: " ".join(word[:30] for word in arguments),
)
@pytest.mark.usefixtures("here")
def test_nonsense_is_one_line_and_changes_nothing(arguments: list[str], command: Command, here: Path) -> None:
    def content() -> dict[str, bytes]:
        files = (path for path in sorted(here.rglob("*")) if path.is_file() and not path.is_symlink())
        return {str(path): path.read_bytes() for path in files}

    before = content()
    said = command(*arguments)
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("tilewright: ")
    assert said.err.count("\n") == 1
    assert len(said.err) < 2000
    assert content() == before


@pytest.mark.usefixtures("here")
def test_force_replaces_files_of_another_kind(command: Command, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / name).write_text("my thesis\n")
    assert command("evaluate", "random", "--games", "2", "--csv", f"{tmp_path}/a", "--plot", f"{tmp_path}/b",
                   "--record", f"{tmp_path}/c", "--force").code == 0  # fmt: skip
    assert command("models", "run/model.safetensors", "--pack", f"{tmp_path}/d", "--force").code == 0
    review = command("review", "games.jsonl", "--agent", "greedy", "--plot", f"{tmp_path}/e", "--force")
    assert review.code == 0, review
    assert (tmp_path / "a").read_text().startswith("number,seed")
    assert [(tmp_path / name).read_bytes()[:4] for name in ("b", "e")] == [b"\x89PNG"] * 2
    assert load_model(tmp_path / "d").origin["games"] == "300"
    for _ in range(2):  # their own kind needs no force
        assert command("evaluate", "random", "--games", "2", "--csv", f"{tmp_path}/a", "--plot", f"{tmp_path}/b",
                       "--record", f"{tmp_path}/c").code == 0  # fmt: skip


def run(script: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of the shell, in which $T is the command."""
    env = environment() | {"T": f"{sys.executable} -m tilewright"} | changes
    return subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, env=env, capture_output=True, timeout=HANG_SECONDS, check=False
    )


@pytest.mark.parametrize(
    ("script", "code", "says"),
    [
        ("$T games >&-", 0, b""),
        ("$T games >&- 2>&-", 0, b""),
        ("$T games <&- >&- 2>&-", 0, b""),
        ("$T nonsense 2>&-", 2, b""),
        ("$T games > /dev/full", 1, b"tilewright: [Errno 28] No space left on device\n"),
        ("$T --help > /dev/full", 1, b"tilewright: [Errno 28] No space left on device\n"),
        ("$T serve --port 0 > /dev/full", 1, b"tilewright: [Errno 28] No space left on device\n"),
        ("$T nonsense 2> /dev/full", 2, b""),
        ("$T play --seed 1 --agent greedy <&- | tail -1", 0, b""),
        ("$T games | head -c 1 > /dev/null", 0, b""),
    ],
)
def test_streams_that_are_closed_or_full_are_no_traceback(script: str, code: int, says: bytes, folder: Path) -> None:
    found = run(script, folder)
    errors = [line for line in found.stderr.splitlines(True) if not line.startswith(b"compiling kernels")]
    assert (found.returncode, b"".join(errors)) == (code, says)


def test_a_closed_stream_takes_nothing_into_a_file(folder: Path, tmp_path: Path) -> None:
    """Descriptor 1 is free then, and must not become the CSV file."""
    found = run(f"$T evaluate random --games 3 --threads 1 --csv {tmp_path}/games.csv >&- 2>&-", folder)
    assert found.returncode == 0
    assert len((tmp_path / "games.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize("options", ["", "--json"])
def test_files_are_written_also_where_nobody_takes_the_output(options: str, folder: Path, tmp_path: Path) -> None:
    files = f"--csv {tmp_path}/games.csv --plot {tmp_path}/plot.png"
    found = run(f"$T evaluate random --games 3 --threads 1 {files} {options} > /dev/full", folder)
    assert (found.returncode, b"Traceback" in found.stderr) == (1, False)
    assert len((tmp_path / "games.csv").read_text().splitlines()) == 4
    assert (tmp_path / "plot.png").exists()


def test_names_that_are_no_utf8_are_names(folder: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff\xfe odd")
    odd.mkdir()
    (odd / "model.safetensors").write_bytes((folder / "run" / "model.safetensors").read_bytes())
    good = [
        '$T evaluate "ntuple:model=$ODD/model.safetensors" --game 2048:rows=3,columns=3 --games 3 --threads 1 '
        '--csv "$ODD/games.csv" --plot "$ODD/plot.png" --record "$ODD/record.jsonl" --json',
        '$T review "$ODD/record.jsonl" --agent greedy --plot "$ODD/review.png"',
        '$T train "$CONFIG" --out "$ODD/run" --threads 1',
    ]
    bad = [
        '$T evaluate "ntuple:model=$ODD"',
        '$T train "$CONFIG" --set "model=$ODD/model.safetensors" --out "$ODD/second"',
    ]
    tiny().save(tmp_path / "tiny.toml")
    changes = {"ODD": str(odd), "CONFIG": str(tmp_path / "tiny.toml")}
    for script in good:
        found = run(script, folder, **changes)
        assert (found.returncode, b"Traceback" in found.stderr) == (0, False), (script, found)
    for script in bad:
        found = run(script, folder, **changes)
        assert found.returncode == 2, (script, found)
        assert found.stderr.startswith(b"tilewright: "), (script, found)
        assert found.stderr.count(b"\n") == 1, (script, found)


def test_without_compilation_there_is_one_line(folder: Path) -> None:
    for script in ("$T evaluate random --games 1", "$T train minute", f"$T move {BOARD}"):
        found = run(script, folder, NUMBA_DISABLE_JIT="1")
        assert (found.returncode, found.stdout) == (2, b"")
        assert found.stderr.startswith(b"tilewright: NUMBA_DISABLE_JIT is set")
