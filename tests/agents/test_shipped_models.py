"""The models that come with the package: small, whole, and strong at once."""

from importlib import resources
from pathlib import Path

import pytest

from tilewright import evaluate, make_agent, make_game
from tilewright.agents.model_store import packaged_model
from tilewright.ntuple.model import load_model

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
    """Five standard errors of 300 games below the mean of docs/models.md: fails by chance once in three million."""
    found = evaluate(make_agent("ntuple"), make_game(name), games=300, seed=3)
    assert found.score.value > least
