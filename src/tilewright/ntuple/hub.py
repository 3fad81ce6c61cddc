"""Models in folders and on the Hugging Face Hub: one file of weights, and a card that says what they are.

Folders need nothing else; the Hub needs the optional dependency `hub`, which is imported when it is used.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright._core.files import write_text
from tilewright._core.inputs import shown
from tilewright._core.outputs import FileKind, check_output
from tilewright._core.registry import load_object
from tilewright._core.text import excerpt
from tilewright.errors import FileError, UsageError

if TYPE_CHECKING:
    from tilewright.ntuple.model import Model

__all__ = ["CARD_FILE", "MODEL_FILE", "load_pretrained", "make_card", "push_model", "save_pretrained"]

MODEL_FILE = "model.safetensors"
CARD_FILE = "README.md"
_LIBRARY = "library_name: tilewright"
CARD = FileKind("model card of tilewright", lambda head: _LIBRARY.encode() in head)
_COUNTS = {"games": "games of training", "moves": "moves of training", "seconds": "seconds of training"}


def make_card(model: "Model") -> str:
    """Return the card of a model as Markdown, with the metadata that the Hub reads at its top.

    Everything in it comes from the model itself.
    """
    tags = ["reinforcement-learning", "n-tuple-network", model.game.name]
    head = ["---", _LIBRARY, "tags:", *(f"- {json.dumps(tag)}" for tag in tags), "---"]
    facts = [
        ("game", f"`{model.game.spec}`"),
        ("values", f"of every {model.value_function}"),
        ("tuples", f"`{' '.join(model.architecture.tuples)}`"),
        ("symmetries", "all share their weights" if model.architecture.symmetric else "none"),
        ("features", ", ".join(model.architecture.features)),
        ("stages", ", ".join(model.architecture.stages)),
        ("weights", f"{model.architecture.weight_count():,}"),
        ("tile-downgrading", f"above {model.downgrade_above}" if model.downgrade_above else ""),
        *((title, _number(model.origin[key])) for key, title in _COUNTS.items() if key in model.origin),
        ("tilewright", model.origin.get("revision", "")),
    ]
    rows = [f"| {name} | {text} |" for name, text in facts if text]
    usage = [
        "```python",
        "import tilewright as tw",
        "",
        f'model = tw.Model.from_pretrained("FOLDER OR REPOSITORY")  # {model.game.spec}',
        'agent = tw.make_agent("expectimax", model=model, depth=2)',
        f'tw.evaluate(agent, "{model.game.spec}", games=100, seed=1).score',
        "```",
    ]
    config = model.origin.get("config", "").strip()
    training = ["", "## Training", "", "```toml", config, "```"] if config else []
    title = f"# An n-tuple network for {model.game.name}"
    lines = [*head, "", title, "", "| | |", "| --- | --- |", *rows, "", "## Use", "", *usage, *training]
    return "\n".join(lines) + "\n"


def _number(text: str) -> str:
    try:
        return f"{round(float(text)):,}"
    except ValueError:
        return text


def save_pretrained(model: "Model", folder: str | Path, *, compact: bool, force: bool) -> None:
    """Write a model and its card into a folder; see `Model.save_pretrained`."""
    if not isinstance(folder, str | os.PathLike):
        raise UsageError(f"{excerpt(folder)} is not a path: give a folder")
    path = Path(folder)
    check_output(path / CARD_FILE, CARD, force=force)  # before the model is written
    model.save(path / MODEL_FILE, compact=compact, force=force)
    write_text(path / CARD_FILE, make_card(model), CARD, force=force)


def load_pretrained(
    source: str | Path,
    *,
    revision: str | None,
    cache_dir: str | Path | None,
    local_files_only: bool,
    token: str | bool | None,
) -> "Model":
    """Read a model from a folder or from the Hub; see `Model.from_pretrained`."""
    from tilewright.ntuple.model import load_model

    if not isinstance(source, str | os.PathLike):
        raise UsageError(f"{excerpt(source)}: give a folder, or the name of a repository")
    if Path(source).is_dir():
        return load_model(Path(source) / MODEL_FILE)
    if not isinstance(source, str) or source.count("/") != 1:
        raise FileError(f"{shown(str(source))}: neither a folder nor the name of a repository, such as owner/name")
    download = load_object("huggingface_hub:hf_hub_download", "hub")
    try:
        file = download(
            source,
            MODEL_FILE,
            revision=revision,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
            token=token,
            library_name="tilewright",
        )
    except Exception as error:  # noqa: BLE001  (the client passes on errors of the library that sends its requests)
        raise FileError(f"{shown(source)}: cannot be read from the Hub: {_reason(error)}") from None
    return load_model(file)


def push_model(
    model: "Model",
    repo_id: str,
    *,
    commit_message: str,
    private: bool | None,
    branch: str | None,
    token: str | bool | None,
    compact: bool,
) -> str:
    """Upload a model and its card; see `Model.push_to_hub`."""
    api = load_object("huggingface_hub:HfApi", "hub")(token=token, library_name="tilewright")
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(model, folder, compact=compact, force=False)
        try:
            repository = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
            if branch is not None:
                api.create_branch(repository, branch=branch, exist_ok=True)
            found = api.upload_folder(
                repo_id=repository, folder_path=folder, commit_message=commit_message, revision=branch
            )
        except Exception as error:  # noqa: BLE001  (see above)
            raise FileError(f"{shown(repo_id)}: cannot be written to the Hub: {_reason(error)}") from None
    return str(found)


def _reason(error: Exception) -> str:
    """The first line of an error that has some text, or its name."""
    return next((line.strip()[:500] for line in str(error).splitlines() if line.strip()), type(error).__name__)
