"""The errors that tilewright raises on purpose. Their messages are written for the user.

TilewrightError
├── UsageError            an impossible request (exit code 2)
│   ├── BoardError        something that is not a board of the game
│   ├── SpecError         an unknown game or agent, or an impossible option
│   ├── ConfigError       a training configuration with an unknown key or an impossible value
│   ├── FileError         a file that is missing, damaged, of another kind, or cannot be written
│   └── IllegalMoveError  a move that is not legal on the board
├── DivergedError         learning diverged: a weight became infinite or NaN
├── UnreachedError        no training game reached the next stage
├── SearchStoppedError    another thread stopped the search
├── ClusterError          a cluster lost the same work too many times
├── JobsFailedError       some jobs of a suite failed; the others are finished
└── MissingExtraError     an optional dependency is not installed
"""

__all__ = [
    "BoardError",
    "ClusterError",
    "ConfigError",
    "DivergedError",
    "FileError",
    "IllegalMoveError",
    "JobsFailedError",
    "MissingExtraError",
    "SearchStoppedError",
    "SpecError",
    "TilewrightError",
    "UnreachedError",
    "UsageError",
]


_LONGEST_LINE = 1_500  # characters


class TilewrightError(Exception):
    """Base class of all errors that tilewright raises on purpose.

    The message is one line of printable text, whatever it quotes: control characters are escaped, and the middle
    of a message that is too long is left out.

    >>> UsageError("no \\x1b[31mboard\\n")
    UsageError('no \\\\x1b[31mboard\\\\n')
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(_one_line(str(message)))


def _one_line(text: str) -> str:
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    if len(text) > _LONGEST_LINE:
        return f"{text[: _LONGEST_LINE // 2]} … {text[-_LONGEST_LINE // 3 :]}"
    return text


class UsageError(TilewrightError, ValueError):
    """An impossible request; the message says why it is impossible."""


class BoardError(UsageError):
    """A text, list or array that is not a board of the game; the message names the cell and the reason."""


class SpecError(UsageError):
    """An unknown game or agent, an option it does not have, or a value that the option does not allow."""


class ConfigError(UsageError):
    """A training configuration with an unknown key or an impossible value; the message names the key."""


class FileError(UsageError):
    """A file that is missing, damaged, of another kind, or cannot be written."""


class DivergedError(TilewrightError):
    """Learning diverged: a weight became infinite or NaN. The last checkpoint is kept."""


class UnreachedError(TilewrightError):
    """No training game reached the next stage. The weights learned so far are kept."""


class SearchStoppedError(TilewrightError):
    """Another thread stopped the search before it was finished."""


class ClusterError(TilewrightError):
    """A cluster lost the same work too many times."""


class JobsFailedError(TilewrightError):
    """Some jobs of a suite failed, one line each in the message; all others are finished."""

    def __init__(self, message: object = "") -> None:
        super().__init__()
        self.args = ("\n".join(map(_one_line, str(message).split("\n"))),)


class IllegalMoveError(UsageError):
    """A move that is not legal: it changes nothing on the board, or there is no such move."""


class MissingExtraError(TilewrightError, ImportError):
    """An optional dependency is not installed; the message contains the pip command."""
