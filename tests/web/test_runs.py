"""The runs folder: names, models, and curves that are thinned out."""

from pathlib import Path

import pytest

from tilewright import make_game
from tilewright.errors import UsageError
from tilewright.web.runs import RunLibrary, UnknownRunError, thin_out


def test_runs_play_the_games_that_they_were_trained_for(runs: Path) -> None:
    library = RunLibrary(runs)
    assert {"large", "small"} <= set(library.folders())
    assert "large" in library.agents_for(make_game("2048"))
    assert "large" not in library.agents_for(make_game("2048:rows=3,columns=3"))
    assert library.agents_for(make_game("2048:rows=3,columns=3"))["small"] == "ntuple"
    assert library.agents_for(make_game("threes")) == {}


def test_a_model_is_found_by_the_name_of_its_run(runs: Path) -> None:
    library = RunLibrary(runs)
    assert library.model_file("large") == runs / "large" / "model.safetensors"
    with pytest.raises(UnknownRunError, match="there is no run 'lrage'"):
        library.model_file("lrage")
    with pytest.raises(UsageError, match="paths are refused"):
        library.model_file("../large")


def test_a_run_without_a_model_is_listed_but_does_not_play(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "young").mkdir()
    (tmp_path / "young" / "config.toml").write_text((runs / "large" / "config.toml").read_text())
    library = RunLibrary(tmp_path)
    assert list(library.folders()) == ["young"]
    assert library.agents_for(make_game("2048")) == {}
    with pytest.raises(UsageError, match="the run young has no model yet"):
        library.model_file("young")


def test_a_folder_that_does_not_exist_has_no_runs(tmp_path: Path) -> None:
    assert RunLibrary(tmp_path / "nowhere").folders() == {}


def test_messages_do_not_show_where_the_folder_is(tmp_path: Path) -> None:
    library = RunLibrary(tmp_path)
    assert library.hide_paths(f"{tmp_path.resolve()}/large/model: damaged") == "large/model: damaged"


def test_a_long_curve_is_thinned_out_from_its_first_point_to_its_last() -> None:
    assert thin_out(range(5), 5) == [0, 1, 2, 3, 4]
    chosen = thin_out(range(10_000), 600)
    assert (len(chosen), chosen[0], chosen[-1]) == (600, 0, 9_999)
