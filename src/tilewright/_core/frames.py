"""Tables for users: columns as plain lists, or as a pandas DataFrame where pandas is installed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.errors import MissingExtraError

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["data_frame"]


def data_frame(columns: Mapping[str, Sequence[object]]) -> "DataFrame":
    """Make a DataFrame of columns of equal length.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("a data frame needs pandas, which is not installed: pip install pandas") from None
    return pandas.DataFrame(dict(columns))
