"""Nothing is written outside the folder of a run, and root's rights are given up."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.torture.test_pool import REPOSITORY, worker_environment
from torture.__main__ import main
from torture.sandbox import SandboxError, check_inside, environment, new_folder


def test_paths_outside_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "run"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path)
    assert check_inside(inside / "a" / "b", inside) == (inside / "a" / "b").resolve()
    for path in (tmp_path, inside / ".." / "x", inside / "link" / "x", Path("/etc/passwd"), Path.home()):
        with pytest.raises(SandboxError, match="nothing is written there"):
            check_inside(path, inside)


def test_the_folder_of_runs_belongs_to_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = new_folder()
    assert folder.parent.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.parent.chmod(0o755)
    with pytest.raises(SandboxError, match="this user alone"):
        new_folder()


def test_no_variable_of_a_worker_points_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    found = environment(tmp_path / "run")
    assert "XDG_CACHE_HOME" not in found
    for name in ("HOME", "TMPDIR", "TILEWRIGHT_CACHE", "TORTURE_CHECKED_CACHE", "TORTURE_ROOT", "MPLCONFIGDIR"):
        assert Path(found[name]).is_relative_to(tmp_path)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "torture", *arguments]
    return subprocess.run(
        command, env=worker_environment(), cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def test_an_output_folder_outside_is_refused(tmp_path: Path) -> None:
    said = run("--kinds", "boards", "--inputs", "1", "--out", str(tmp_path / "mine"))
    assert said.returncode == 2
    assert "nothing is written there" in said.stderr
    assert not (tmp_path / "mine").exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root has rights to give up")
def test_root_goes_on_as_nobody() -> None:
    code = "from torture import sandbox; print(sandbox.drop_privileges(['--kinds', 'boards', '--inputs', '3']))"
    command = [sys.executable, "-c", code]
    found = subprocess.run(
        command, env=worker_environment(), cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert found.stdout.splitlines()[-1] == "0", found.stderr
    assert found.stdout.splitlines()[1].split()[:2] == ["boards", "3"]


def test_the_input_that_nobody_runs_again_is_named_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's process has another current folder."""
    passed_on: list[str] = []

    def pass_on(words: list[str]) -> int:
        passed_on.extend(words)
        return 0

    monkeypatch.setattr("torture.sandbox.drop_privileges", pass_on)
    monkeypatch.setattr(sys, "argv", ["torture", "--again", "failing.json"])
    monkeypatch.chdir(tmp_path)
    Path("failing.json").touch()
    with pytest.raises(SystemExit):
        main()
    assert passed_on[-2:] == ["--again", str(tmp_path / "failing.json")]


@pytest.mark.parametrize("during", ["torture.sandbox.drop_privileges", "torture.__main__.run_again"])
def test_ctrl_c_while_an_input_is_run_again_says_stopped(
    during: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("torture.sandbox.drop_privileges", lambda words: None)
    monkeypatch.setattr(during, stop)
    monkeypatch.setenv("TORTURE_FOLDER", str(tmp_path))
    (tmp_path / "failing.json").touch()
    with pytest.raises(SystemExit) as ended:
        main(["--again", str(tmp_path / "failing.json")])
    assert (ended.value.code, capsys.readouterr().err) == (1, "stopped\n")
