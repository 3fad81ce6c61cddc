"""Tables in files: one record a row, as CSV or, where the name of the file ends in `.parquet`, as Parquet."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tilewright._core.files import write_bytes, write_text
from tilewright.errors import MissingExtraError

__all__ = ["Columns", "Record", "Scalar", "columns_of", "write_table"]

Scalar: TypeAlias = str | int | float | bool | None
Record: TypeAlias = Mapping[str, Scalar]
Columns: TypeAlias = dict[str, list[Scalar]]


def columns_of(records: Sequence[Record]) -> Columns:
    """Turn records into columns, in the order in which their names first appear; what a record lacks is None.

    >>> columns_of([{"alpha": 0.5}, {"alpha": 1.0, "seed": 0}])
    {'alpha': [0.5, 1.0], 'seed': [None, 0]}
    """
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def write_table(path: Path | str, columns: Columns) -> None:
    """Write columns of equal length to a file.

    Args:
        path: The file. A name that ends in `.parquet` gets Parquet, any other CSV, where None is an empty cell.
        columns: The columns by name.

    Raises:
        MissingExtraError: The file is to be Parquet, and pyarrow is not installed.
        FileError: The file cannot be written.
    """
    path = Path(path)
    if path.suffix == ".parquet":
        write_bytes(path, _parquet(columns))
        return
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_text(path, out.getvalue())


def _parquet(columns: Columns) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise MissingExtraError("Parquet needs pyarrow, which is not installed: pip install pyarrow") from None
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()
