"""Tables in files: one record a row, as CSV or, where the name of the file ends in `.parquet`, as Parquet."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tilewright._core.files import write_bytes, write_text
from tilewright._core.outputs import FileKind, check_output
from tilewright.errors import MissingExtraError

__all__ = ["CSV", "PARQUET", "Columns", "Record", "Scalar", "check_table_output", "columns_of", "write_table"]

Scalar: TypeAlias = str | int | float | bool | None
Record: TypeAlias = Mapping[str, Scalar]
Columns: TypeAlias = dict[str, list[Scalar]]

_COLUMN = re.compile(r"[\w.%+-]+")


def _is_csv(head: bytes) -> bool:
    """Tell whether a text begins with at least two names of columns, and has as many cells in the next line."""
    try:
        rows = list(csv.reader(head.decode("utf-8", "ignore").splitlines()[:2], strict=True))
    except csv.Error:
        return False
    if b"\0" in head or not rows or len(rows[0]) < 2 or not all(_COLUMN.fullmatch(name) for name in rows[0]):
        return False
    return all(len(row) == len(rows[0]) for row in rows[1:])


CSV = FileKind("CSV table", _is_csv)
PARQUET = FileKind("Parquet table", lambda head: head.startswith(b"PAR1"))


def columns_of(records: Sequence[Record]) -> Columns:
    """Turn records into columns, in the order in which their names first appear; what a record lacks is None.

    >>> columns_of([{"alpha": 0.5}, {"alpha": 1.0, "seed": 0}])
    {'alpha': [0.5, 1.0], 'seed': [None, 0]}
    """
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _kind_of(path: Path) -> FileKind:
    return PARQUET if path.suffix == ".parquet" else CSV


def check_table_output(path: Path, *, inputs: Iterable[Path | str] = (), force: bool = False) -> None:
    """Check that a table may be written to a file, before the work that it is for.

    Args:
        path: The file.
        inputs: Files that are read, and must not be written.
        force: Whether to allow an existing file that is not such a table.

    Raises:
        FileError: It may not; see `check_output`.
        MissingExtraError: The file is to be Parquet, and pyarrow is not installed.
    """
    check_output(path, _kind_of(path), inputs=inputs, force=force)
    if _kind_of(path) is PARQUET:
        _parquet({})


def write_table(path: Path | str, columns: Columns, *, force: bool = False) -> None:
    """Write columns of equal length to a file.

    Args:
        path: The file. A name that ends in `.parquet` gets Parquet, any other CSV, where None is an empty cell.
        columns: The columns by name.
        force: Whether to replace an existing file that is not such a table.

    Raises:
        MissingExtraError: The file is to be Parquet, and pyarrow is not installed.
        FileError: The file cannot be written, or is of another kind.
    """
    path = Path(path)
    if _kind_of(path) is PARQUET:
        write_bytes(path, _parquet(columns), PARQUET, force=force)
        return
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_text(path, out.getvalue(), CSV, force=force)


def _parquet(columns: Columns) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise MissingExtraError("Parquet needs pyarrow, which is not installed: pip install pyarrow") from None
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()
