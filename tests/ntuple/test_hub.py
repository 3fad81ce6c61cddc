"""Models in folders and on a hub that is a folder; the real hub is never asked."""

import shutil
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright import FileError, MissingExtraError, Model, UsageError, make_game
from tilewright.ntuple.hub import make_card
from tilewright.ntuple.patterns import NTupleArchitecture


@pytest.fixture
def model() -> Model:
    architecture = NTupleArchitecture(("01", "04"), stages=("16",))
    weights = np.arange(architecture.table_size, dtype=np.float32)
    origin = {"games": "1234567", "seconds": "61.6", "revision": "0.2.0", "config": 'game = "2048"\nalpha = 0.5\n'}
    return Model(make_game("2048"), architecture, "afterstate", weights, origin=origin)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for huggingface_hub, with the signatures of its version 2.4, whose repositories are folders."""
    repositories = tmp_path / "hub"

    def hf_hub_download(repo_id: str, filename: str, *, revision: str | None, **options: Any) -> str:
        assert options.keys() == {"cache_dir", "local_files_only", "token", "library_name"}
        file = repositories / repo_id / (revision or "main") / filename
        if not file.is_file():
            raise FileNotFoundError(f"404 Client Error: {repo_id}")
        return str(file)

    class HfApi:
        def __init__(self, token: str | None, library_name: str) -> None:
            assert library_name == "tilewright"

        def create_repo(self, repo_id: str, *, private: bool | None, exist_ok: bool) -> types.SimpleNamespace:
            if " " in repo_id:
                raise ValueError("Repo id must use alphanumeric chars")
            (repositories / repo_id).mkdir(parents=True, exist_ok=exist_ok)
            return types.SimpleNamespace(repo_id=repo_id)

        def create_branch(self, repo_id: str, *, branch: str, exist_ok: bool) -> None:
            (repositories / repo_id / branch).mkdir(exist_ok=exist_ok)

        def upload_folder(self, *, repo_id: str, folder_path: str, commit_message: str, revision: str | None) -> str:
            shutil.copytree(folder_path, repositories / repo_id / (revision or "main"), dirs_exist_ok=True)
            return f"https://hub/{repo_id}/commit/1"

    module = types.ModuleType("huggingface_hub")
    vars(module).update(hf_hub_download=hf_hub_download, HfApi=HfApi)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return repositories


def test_a_folder_gives_back_the_model_without_the_hub(model: Model, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path / "mine")
    found = Model.from_pretrained(tmp_path / "mine")
    np.testing.assert_array_equal(found.weights, model.weights)
    assert (found.game, found.architecture, found.origin) == (model.game, model.architecture, model.origin)
    model.save_pretrained(str(tmp_path / "mine"), compact=True)  # replaces its own files
    assert Model.from_pretrained(str(tmp_path / "mine")).weights.dtype == np.int16


def test_a_readme_of_somebody_else_is_not_replaced(model: Model, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# My notes\n")
    with pytest.raises(FileError, match=r"README\.md"):
        model.save_pretrained(tmp_path)
    assert (tmp_path / "README.md").read_text() == "# My notes\n"
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]  # and the model is not written, either


def test_errors_of_the_transport_are_one_line(model: Model, hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class TransportError(Exception):
        """As that of httpx, which is no OSError."""

    def fail(*_: object, **__: object) -> None:
        raise TransportError("\nno route to host\n\nsee the manual")

    client = sys.modules["huggingface_hub"]
    monkeypatch.setattr(client, "hf_hub_download", fail)
    monkeypatch.setattr(client.HfApi, "create_repo", fail)
    with pytest.raises(FileError, match=r"from the Hub: no route to host$"):
        Model.from_pretrained("me/mine")
    with pytest.raises(FileError, match=r"to the Hub: no route to host$"):
        model.push_to_hub("me/mine")


def test_a_model_goes_to_the_hub_and_comes_back(model: Model, hub: Path) -> None:
    assert model.push_to_hub("me/mine") == "https://hub/me/mine/commit/1"
    assert sorted(file.name for file in (hub / "me/mine/main").iterdir()) == ["README.md", "model.safetensors"]
    np.testing.assert_array_equal(Model.from_pretrained("me/mine").weights, model.weights)
    model.push_to_hub("me/mine", branch="small", compact=True)
    assert Model.from_pretrained("me/mine", revision="small").weights.dtype == np.int16


def test_what_the_hub_refuses_is_one_line(model: Model, hub: Path) -> None:
    with pytest.raises(FileError, match="me/none: cannot be read from the Hub: 404"):
        Model.from_pretrained("me/none")
    with pytest.raises(FileError, match="cannot be written to the Hub: Repo id"):
        model.push_to_hub("not a name")
    with pytest.raises(FileError, match="neither a folder nor the name of a repository"):
        Model.from_pretrained("runs/mine/model")
    with pytest.raises(UsageError, match="3: give a folder"):
        Model.from_pretrained(3)  # type: ignore[arg-type]


def test_without_the_package_the_extra_is_named(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tilewright\[hub\]'"):
        model.push_to_hub("me/mine")


def test_the_card_says_what_the_metadata_say(model: Model) -> None:
    card = make_card(model)
    assert card.startswith("---\nlibrary_name: tilewright\ntags:\n")
    assert '- "2048"\n---\n' in card
    for row in ("| tuples | `01 04` |", "| stages | 16 |", "| weights | 1,024 |", "| games of training | 1,234,567 |"):
        assert row in card
    assert '```toml\ngame = "2048"\nalpha = 0.5\n```' in card
    assert "tile-downgrading" not in card
