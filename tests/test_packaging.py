"""The wheel and the source distribution hold what a user needs, and nothing else."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.process import environment

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a wheel that was built from the source distribution, as a user's pip would."""
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, "sdist", folder)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    build(folder / source.name.removesuffix(".tar.gz"), "wheel", folder)
    return folder


def build(project: Path, target: str, folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)


@pytest.mark.slow
def test_an_installed_wheel_plays(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    installed = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    board = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
    found = subprocess.run(
        [sys.executable, "-m", "tilewright", "move", board, "--agent", "ntuple"],
        env=environment(installed / "tilewright"), cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "best" in found.stdout


@pytest.mark.slow
def test_a_wheel_has_the_package_only(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"tilewright"}
    for needed in ("py.typed", "models/2048.safetensors", "web/static/index.html", "training/presets/minute.toml"):
        assert f"tilewright/{needed}" in names
