"""The numbers of `tests.structure` stay where they are, or fall."""

import json
import os
from pathlib import Path

import pytest

from tests import structure
from tests.process import PACKAGE, run_python


@pytest.mark.slow
def test_a_board_passes_few_modules(tmp_path: Path) -> None:
    """Kernels are compiled: with those of a cache nobody would see which modules are in them."""
    code = (
        "import json\nfrom tests.structure import board_modules\nprint(json.dumps(list(map(sorted, board_modules()))))"
    )
    path = os.pathsep.join((str(PACKAGE.parent), str(Path(__file__).parents[1])))
    found = run_python(code, TILEWRIGHT_CACHE=str(tmp_path), PYTHONPATH=path)
    in_python, compiled = json.loads(found.stdout)
    assert {"tilewright.cli.move", "tilewright.games.notation", "tilewright.agents.base"} <= set(in_python)
    assert {"tilewright.games.policy", "tilewright.games.twenty48", "tilewright.ntuple.value"} <= set(compiled)
    assert len({*in_python, *compiled}) <= 17


def test_packages_are_in_few_layers() -> None:
    layers = structure.import_layers()
    assert (layers[0], layers[-1]) == ("cli", "errors")
    assert len(layers) <= 12


def test_few_modules_are_in_the_root() -> None:
    assert structure.loose_modules() == ["doctor", "errors", "rng", "testing"]


def test_any_is_rare() -> None:
    assert structure.lines_with_any() <= 65


def test_public_functions_have_docstrings() -> None:
    assert structure.undocumented() == []
