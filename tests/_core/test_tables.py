"""Tables in files."""

from pathlib import Path

import pytest

from tilewright._core.tables import Columns, columns_of, write_table

TABLE: Columns = {"name": ['a "quoted", one', None], "alpha": [0.5, 1.0], "games": [10, 20], "won": [True, False]}


def test_csv_has_empty_cells_for_none(tmp_path: Path) -> None:
    write_table(tmp_path / "table.csv", TABLE)
    text = (tmp_path / "table.csv").read_text()
    assert text == 'name,alpha,games,won\n"a ""quoted"", one",0.5,10,True\n,1.0,20,False\n'


def test_parquet_keeps_the_types(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_table(str(tmp_path / "table.parquet"), TABLE)
    table = parquet.read_table(tmp_path / "table.parquet")
    assert table.to_pydict() == TABLE
    assert [str(field.type) for field in table.schema][1:] == ["double", "int64", "bool"]


def test_records_become_columns_in_the_order_of_their_first_appearance() -> None:
    assert columns_of([{"b": 1}, {"a": 2, "b": 3}, {}]) == {"b": [1, 3, None], "a": [None, 2, None]}
    assert columns_of([]) == {}
