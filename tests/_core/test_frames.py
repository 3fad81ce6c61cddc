"""Data frames: pandas if it is there, and a clear message if not."""

import sys

import pytest

from tilewright._core.frames import data_frame
from tilewright.errors import MissingExtraError


def test_columns_become_a_data_frame() -> None:
    frame = data_frame({"games": [10, 20], "score_mean": [1.5, 2.5]})
    assert list(frame.columns) == ["games", "score_mean"]
    assert frame.to_dict("list") == {"games": [10, 20], "score_mean": [1.5, 2.5]}
    assert [str(kind) for kind in frame.dtypes] == ["int64", "float64"]


def test_without_pandas_the_message_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="needs pandas, which is not installed: pip install pandas"):
        data_frame({})
