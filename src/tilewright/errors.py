"""Everything that can go wrong by a user's doing, as one tree; the message is what the user reads.

TilewrightError
├── UsageError            what was asked for cannot be (exit code 2)
│   ├── BoardError        a text that is no board of the game
│   ├── SpecError         an unknown game or agent, or an option it does not have
│   ├── ConfigError       a training recipe with an unknown key or an impossible value
│   ├── FileError         a file that is missing, damaged, of another kind, or cannot be written
│   └── IllegalMoveError  a move that changes nothing
├── DivergedError         learning went to infinity
├── UnreachedError        no game of training came so far
├── ClusterError          a cluster lost what it was to do, too often to try again
├── JobsFailedError       some jobs of a suite ended with an error; the others are finished
└── MissingExtraError     an optional part of the package is not installed
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
    "SpecError",
    "TilewrightError",
    "UnreachedError",
    "UsageError",
]


class TilewrightError(Exception):
    """Base of all errors that tilewright raises on purpose."""


class UsageError(TilewrightError, ValueError):
    """What was asked for cannot be; the message says why."""


class BoardError(UsageError):
    """A text, list or array that is no board of the game."""


class SpecError(UsageError):
    """A game or agent that does not exist, or an option it does not have."""


class ConfigError(UsageError):
    """A training configuration with an unknown key or an impossible value; the message names the key."""


class FileError(UsageError):
    """A file that is missing, damaged, of another kind, or cannot be written."""


class DivergedError(TilewrightError):
    """Learning went to infinity; the last good checkpoint is kept."""


class UnreachedError(TilewrightError):
    """No game came as far as the next stage of training; what was learned until then is kept."""


class ClusterError(TilewrightError):
    """A cluster lost what it was to do, too often to try again."""


class JobsFailedError(TilewrightError):
    """Some jobs of a suite ended with an error, each told in a line; all others are finished."""


class IllegalMoveError(UsageError):
    """A move that changes nothing on that board."""


class MissingExtraError(TilewrightError, ImportError):
    """An optional part of the package is not installed; the message has the pip line."""
