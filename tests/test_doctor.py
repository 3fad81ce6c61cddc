"""What `tilewright doctor` finds on a sound machine, and what it says of a broken one."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Said
from tests.process import run_tilewright
from tilewright import doctor, models
from tilewright._core import kernel_cache
from tilewright.cli.main import main
from tilewright.doctor import Check, Diagnosis, diagnose
from tilewright.games.base import Game


@pytest.fixture(scope="module")
def sound() -> Diagnosis:
    return diagnose()


def found(diagnosis: Diagnosis, name: str) -> Check:
    return next(check for check in diagnosis.checks if check.name == name)


def test_all_is_well_here(sound: Diagnosis) -> None:
    assert sound.problems == []
    assert sound.is_well
    machine = found(sound, "machine").facts
    assert machine["cores"] == os.cpu_count()
    assert found(sound, "versions").facts["tilewright"].startswith("0.")  # type: ignore[union-attr]
    assert found(sound, "kernels").facts["boards compared"] == 500
    assert "verified" in str(found(sound, "models").facts["package:2048"])
    assert json.loads(json.dumps(sound.to_dict()))["problems"] == []


def test_the_text_names_no_home_folder(sound: Diagnosis) -> None:
    assert str(Path.home()) not in sound.text()
    assert all(f"{check.name}: all is well" in sound.text() for check in sound.checks)


def test_missing_extras_come_with_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["click>=8", 'torch>=2.4; extra == "deep"', "fastapi; extra == 'web'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: wanted)
    monkeypatch.setattr(doctor, "_version", lambda library: None if library == "torch" else "1.0")
    facts = doctor._check("extras", doctor._look_at_extras).facts
    assert facts == {"deep": "without torch: pip install 'tilewright[deep]'", "web": "installed"}


def test_a_cache_that_others_can_write_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unsafe = tmp_path / "cache"
    unsafe.mkdir()
    unsafe.chmod(0o777)
    monkeypatch.setattr(kernel_cache, "cache_roots", lambda: iter([unsafe]))
    monkeypatch.setattr(kernel_cache, "cache_folder", kernel_cache.cache_folder.__wrapped__)
    check = doctor._check("cache", doctor._look_at_cache)
    assert "others can write to it" in check.problem
    assert "set TILEWRIGHT_CACHE" in check.problem
    assert check.facts["choice 1"] == f"{unsafe}: others can write to it"


def test_kernels_that_move_wrongly_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Game.slide
    monkeypatch.setattr(Game, "slide", lambda self, board, action: (right(self, board, action)[0], 7))
    assert doctor._check("kernels", doctor._look_at_kernels).problem.startswith("wrong: left on ")


def test_a_damaged_model_and_one_with_other_values_are_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = models.packaged_models()
    damaged = tmp_path / "2048.safetensors"
    content = bytearray(files["package:2048"].read_bytes())
    content[-5] ^= 1
    damaged.write_bytes(content)
    monkeypatch.setattr(models, "packaged_models", lambda: {"package:2048": damaged})
    problem = doctor._check("models", doctor._look_at_models).problem
    assert "2048.safetensors: damaged" in problem
    assert "package:threes is missing" in problem
    monkeypatch.setattr(models, "packaged_models", lambda: dict.fromkeys(files, files["package:threes"]))
    known = doctor._KNOWN_BOARDS["package:threes"]
    other = {"package:threes": known._replace(values={**known.values, "up": 1.0})}
    monkeypatch.setattr(doctor, "_KNOWN_BOARDS", other)
    assert "package:threes: {'up': 65414.0" in doctor._check("models", doctor._look_at_models).problem


def test_whatever_breaks_is_told_and_not_raised() -> None:
    def look(facts: doctor.Facts) -> str:
        facts["before"] = 1
        raise RuntimeError("two\nlines")

    assert doctor._check("x", look) == Check("x", {"before": 1}, "RuntimeError: two lines")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: str) -> Said:
        return Said(main(list(arguments)), *capsys.readouterr())

    return run


def test_the_command_prints_it_and_fails_with_the_reason(
    command: Command,
    sound: Diagnosis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tilewright.cli.doctor.diagnose", lambda: sound)
    said = command("doctor")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(sound.text())
    assert "for a bug report" in said.out
    assert json.loads(command("doctor", "--json").out) == sound.to_dict()
    broken = Diagnosis((Check("cache", {}, "no folder"), Check("models", {"a": True}, "damaged")))
    monkeypatch.setattr("tilewright.cli.doctor.diagnose", lambda: broken)
    said = command("doctor")
    assert (said.code, said.err) == (1, "tilewright: cache: no folder; models: damaged\n")
    assert "models: damaged\n  a  yes" in said.out
    assert json.loads(command("doctor", "--json").out)["is_well"] is False


def test_a_fresh_process_tells_of_a_cache_that_it_cannot_use(tmp_path: Path) -> None:
    """The next folder is used, so that all is well; which one was refused, and why, is told."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    said = run_tilewright("doctor", "--json", TILEWRIGHT_CACHE=str(blocked))
    assert said.returncode == 0, said.stderr
    cache = json.loads(said.stdout)["cache"]
    assert cache["choice 1"] == f"{blocked}: it is not a folder"
    assert cache["folder"].startswith(cache["choice 2"])
