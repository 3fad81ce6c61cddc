"""The models that come with the package: small, whole, and strong at once."""

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from tilewright import evaluate, make_agent, make_game
from tilewright.agents.model_store import find_model, packaged_model
from tilewright.errors import UsageError
from tilewright.ntuple.model import Model, load_model
from tilewright.ntuple.patterns import NTupleArchitecture

MOST_BYTES = {"2048": 25_000_000, "threes": 15_000_000}


@pytest.mark.parametrize("name", MOST_BYTES)
def test_a_model_is_small_and_says_where_it_comes_from(name: str) -> None:
    file = packaged_model(make_game(name))
    assert file is not None
    assert file.stat().st_size <= MOST_BYTES[name]
    model = load_model(file)
    assert model.game.spec == name
    assert {"config", "seed", "games", "seconds"} <= set(model.origin)


def test_there_is_nothing_else_in_the_folder() -> None:
    folder = Path(str(resources.files("tilewright.models")))
    assert {file.stem for file in folder.glob("*.safetensors")} == set(MOST_BYTES)


@pytest.mark.parametrize(("name", "least"), [("2048", 215_000), ("threes", 42_000)])
def test_a_model_plays_well_at_one_ply(name: str, least: int) -> None:
    """Five standard errors of 300 games below docs/explanation/models.md: chance fails it once in 3 million."""
    found = evaluate(make_agent("ntuple"), make_game(name), games=300, seed=3)
    assert found.score.value > least


@pytest.mark.parametrize("name", MOST_BYTES)
def test_a_model_of_the_package_has_a_name_wherever_a_file_is_named(name: str) -> None:
    game = make_game(name)
    board = game.start(seed=1)
    named = make_agent(f"ntuple:model=package:{name}")
    assert named.values(board) == make_agent("ntuple").values(board)
    assert make_agent(named.spec) == named
    assert np.array_equal(load_model(f"package:{name}").weights, load_model(packaged_model(game) or "").weights)


def test_an_unknown_name_of_the_package_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no model 'package:2049'.*did you mean 'package:2048'.*package:threes"):
        make_agent("ntuple:model=package:2049").move(make_game("2048").start(seed=1))


def test_other_models_do_not_make_a_second_copy_of_it(tmp_path: Path) -> None:
    """Players keep it in memory, where it takes hundreds of megabytes."""
    small = make_game("2048:rows=2,columns=2")
    shipped = find_model("", make_game("2048"))
    for number in range(5):
        file = tmp_path / f"{number}.safetensors"
        Model(small, NTupleArchitecture(("01",)), "afterstate", np.zeros(256, np.float32)).save(file)
        find_model(file, small)
    assert find_model("package:2048", make_game("2048")) is shipped
