"""Architectures of n-tuple networks: their tuples, features and stages, and the networks of the papers by name."""

from dataclasses import dataclass

import numpy as np

from tilewright._core.text import did_you_mean, excerpt
from tilewright.errors import SpecError
from tilewright.games.base import Game
from tilewright.ntuple.bitplanes import (
    MAX_ALPHABET,
    MAX_TUPLE_LENGTH,
    MIN_ALPHABET,
    make_alphabet,
    stored_alphabet,
    tuple_mask,
)
from tilewright.ntuple.features import (
    FEATURES,
    HINTS,
    Features,
    FeaturesAndHintTuples,
    FeatureSet,
    NoFeatures,
    find_neighbours,
)
from tilewright.ntuple.stages import Weights, parse_stages
from tilewright.ntuple.weights import WeightTables

__all__ = ["NETWORKS", "NTupleArchitecture", "find_network"]

MAX_TUPLES = 1024
MAX_STAGES = 64
MAX_WEIGHTS = 2**32  # indices have 32 bits


@dataclass(frozen=True)
class NTupleArchitecture:
    """What an n-tuple network reads of a board.

    Attributes:
        tuples: Cells as hexadecimal digits, 0 at the top left, four a row.
        symmetric: Whether each tuple is read from every symmetry of the board, with the same weights.
        alphabet: The number of tiles that a cell can tell apart, the empty cell included: 8 to 16. With 12, 2048 is
            the largest tile of 2048 that has weights; see `ntuple.bitplanes`.
        features: Names of `ntuple.features.FEATURES`.
        by_hint: Whether tuples have separate weights for each hint of Threes.
        stages: Tiles that begin the second, third … stage, like 16384+8192 (see `ntuple.stages`).
        promote: Whether a weight of a later stage is read from the stage before until it is written.
        hint_tuples: Tuples that are read together with the hint of Threes, besides the others.

    >>> shape = NTupleArchitecture(("0123", "4567"))
    >>> shape.weight_count(), shape.lookups(make_game("2048"))
    (131072, 16)
    """

    tuples: tuple[str, ...]
    symmetric: bool = True
    alphabet: int = 16
    features: tuple[str, ...] = ()
    by_hint: bool = False
    stages: tuple[str, ...] = ()
    promote: bool = False
    hint_tuples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.tuples:
            raise SpecError("a network needs at least one tuple")
        if len(self.tuples) + len(self.hint_tuples) > MAX_TUPLES:
            raise SpecError(
                f"{len(self.tuples) + len(self.hint_tuples):,} tuples are too many; the most are {MAX_TUPLES:,}"
            )
        if len(self.stages) >= MAX_STAGES:
            raise SpecError(f"{1 + len(self.stages):,} stages are too many; the most are {MAX_STAGES}")
        for cells in (*self.tuples, *self.hint_tuples):
            if not 1 <= len(cells) <= MAX_TUPLE_LENGTH or not set(cells) <= set("0123456789abcdef"):
                raise SpecError(
                    f"tuple {excerpt(cells)}: must be 1 to {MAX_TUPLE_LENGTH} cells, hexadecimal digits 0 to f"
                )
            if len(set(cells)) < len(cells):
                raise SpecError(f"tuple {cells!r}: a cell is named twice")
        if self.alphabet not in range(MIN_ALPHABET, MAX_ALPHABET + 1):
            raise SpecError(
                f"alphabet={excerpt(self.alphabet)}: must be a whole number from {MIN_ALPHABET} to {MAX_ALPHABET}"
            )
        for name in self.features:
            if name not in FEATURES:
                raise SpecError(
                    f"there is no feature {excerpt(name)}{did_you_mean(name, FEATURES)}; "
                    f"there are: {', '.join(FEATURES)}"
                )
        if len(set(self.features)) < len(self.features):
            twice = next(name for name in FEATURES if self.features.count(name) > 1)
            raise SpecError(f"features: {twice} is named twice")
        if self.hint_tuples and not self.features:
            raise SpecError("hint_tuples need at least one other feature")
        if self.promote and not self.stages:
            raise SpecError("promote goes with stages; this network has none")
        if self.table_size >= MAX_WEIGHTS:
            raise SpecError(
                f"a network of {self.table_size:,} weights is too large; indices of 32 bits allow {MAX_WEIGHTS - 1:,}"
            )

    @property
    def _tuple_sizes(self) -> list[int]:
        """The stored length of every tuple's table."""
        return [stored_alphabet(self.alphabet) ** len(cells) for cells in self.tuples]

    @property
    def _hints(self) -> int:
        """The number of adjacent weights of an entry: a move changes the hint more often than the entry."""
        return HINTS if self.by_hint else 1

    @property
    def _tuples_size(self) -> int:
        return self._hints * sum(self._tuple_sizes)

    @property
    def stage_size(self) -> int:
        """The number of stored weights of one stage."""
        return self._tuples_size + self._features_size + HINTS * sum(self._hint_tuple_sizes)

    @property
    def _hint_tuple_sizes(self) -> list[int]:
        """The same for hint tuples, for one hint: four bits a cell, whatever the alphabet."""
        return [16 ** len(cells) for cells in self.hint_tuples]

    @property
    def _features_size(self) -> int:
        return sum(FEATURES[name] for name in self.features)

    @property
    def table_size(self) -> int:
        """The number of stored weights of all stages."""
        return (1 + len(self.stages)) * self.stage_size

    @property
    def promoted_from(self) -> int | None:
        """The index from which on weights may be unwritten; None without promotion."""
        return self.stage_size if self.promote else None

    def weight_count(self) -> int:
        """Return the number of weights as papers count them: the alphabet to the power of each tuple's length."""
        tuples: int = self._hints * sum(self.alphabet ** len(cells) for cells in self.tuples)
        hint_tuples: int = HINTS * sum(self.alphabet ** len(cells) for cells in self.hint_tuples)
        return (1 + len(self.stages)) * (tuples + self._features_size + hint_tuples)

    def symmetry_count(self, game: Game) -> int:
        """Return the number of symmetries that are read."""
        return (8 if game.rows == game.columns else 4) if self.symmetric else 1

    def lookups(self, game: Game) -> int:
        """Return the number of weights that add up to one value."""
        return self.symmetry_count(game) * (len(self.tuples) + len(self.hint_tuples)) + len(self.features)

    def check_fits(self, game: Game) -> None:
        """Check that the network fits the game.

        Raises:
            SpecError: A tuple leaves the board, a stage names a tile that the game does not have, the game has no
                hints, or it has more tiles than the alphabet and its boards cannot be downgraded.
        """
        parse_stages(self.stages, game)
        tiles = len(game.tile_values)
        is_full = stored_alphabet(self.alphabet) == MAX_ALPHABET
        if not (is_full or game.can_downgrade or tiles <= self.alphabet):
            raise SpecError(
                f"alphabet={self.alphabet}: boards of {game.name} cannot be downgraded; its tiles need {tiles}"
            )
        if self.by_hint and not game.has_hints:
            raise SpecError(f"by_hint: {game.name} has no hints")
        if self.hint_tuples and not game.has_hints:
            raise SpecError(f"hint_tuples: {game.name} has no hints")
        for cells in (*self.tuples, *self.hint_tuples):
            for cell in cells:
                row, column = divmod(int(cell, 16), 4)
                if row >= game.rows or column >= game.columns:
                    raise SpecError(f"tuple {cells!r}: cell {cell} is not on a {game.rows}x{game.columns} board")

    def tables(self, game: Game, weights: Weights, quantum: float = 1.0) -> WeightTables:
        """Return what kernels take; `weights` may hold several networks one after the other."""
        self.check_fits(game)
        offsets = np.cumsum([0, *self._tuple_sizes])
        return WeightTables(
            weights,
            np.float32(quantum),
            tuple(tuple_mask(cells) for cells in self.tuples),
            tuple(np.uint64(offset) for offset in offsets[:-1]),
            tuple(np.uint64(which) for which in range(self.symmetry_count(game))),
            self._feature_set(game),
            tuple(np.uint64(hint) for hint in range(self._hints)),
            parse_stages(self.stages, game, promote=self.promote),
            np.uint64(self.stage_size),
            make_alphabet(self.alphabet, self.tuples),
        )

    def _feature_set(self, game: Game) -> FeatureSet:
        if not self.features:
            return NoFeatures()
        begin = self._tuples_size + np.cumsum([0, *(FEATURES[name] for name in self.features)])
        kinds = tuple(list(FEATURES).index(name) for name in self.features)
        features = Features(kinds, tuple(np.uint64(offset) for offset in begin[:-1]), find_neighbours(game.rules))
        if not self.hint_tuples:
            return features
        offsets = begin[-1] + HINTS * np.cumsum([0, *self._hint_tuple_sizes])
        return FeaturesAndHintTuples(
            features,
            tuple(tuple_mask(cells) for cells in self.hint_tuples),
            tuple(np.uint64(offset) for offset in offsets[:-1]),
            tuple(np.uint64(which) for which in range(self.symmetry_count(game))),
        )

    def __str__(self) -> str:
        """Draw the tuples as small boards, and tell the size."""
        lines = [""] * 4
        for cells in self.tuples:
            for row in range(4):
                marks = "".join("■" if f"{4 * row + column:x}" in cells else "·" for column in range(4))
                lines[row] += f"{marks}  "
        width = 16
        blocks = [
            "\n".join(line[6 * start : 6 * (start + width)].rstrip() for line in lines)
            for start in range(0, len(self.tuples), width)
        ]
        count = self.weight_count()
        features = f", features {', '.join(self.features)}" if self.features else ""
        kind = "symmetric" if self.symmetric else "no symmetry"
        kind += f", alphabet {self.alphabet}" if stored_alphabet(self.alphabet) < MAX_ALPHABET else ""
        features += ", by hint" if self.by_hint else ""
        features += f", with the hint {', '.join(self.hint_tuples)}" if self.hint_tuples else ""
        stages = f", stages at {', '.join(self.stages)}" if self.stages else ""
        memory = 4 * self.table_size / 2**20
        return "\n\n".join(
            [*blocks, f"{len(self.tuples)} tuples, {kind}{features}{stages}: {count:,} weights, {memory:,.1f} MiB"]
        )


def _all_straight_and_square() -> tuple[str, ...]:
    rows = [[4 * r + c for c in range(4)] for r in range(4)]
    columns = [[4 * r + c for r in range(4)] for c in range(4)]
    squares = [[4 * r + c, 4 * r + c + 1, 4 * r + c + 4, 4 * r + c + 5] for r in range(3) for c in range(3)]
    return tuple("".join(f"{cell:x}" for cell in cells) for cells in rows + columns + squares)


_YEH = ("012345", "456789", "012456", "45689a")
_MATSUZAKI = ("012456", "456789", "012345", "234569", "01259a", "345678", "134567", "01489a")

NETWORKS = {
    "szubert-small": NTupleArchitecture(_all_straight_and_square(), symmetric=False, alphabet=15),
    "szubert-large": NTupleArchitecture(("0123", "4567", "012456", "45689a"), alphabet=15),
    "4x6": NTupleArchitecture(_YEH),
    "5x6": NTupleArchitecture((*_YEH, "89abcd")),
    "8x6": NTupleArchitecture(_MATSUZAKI),
    "yeh": NTupleArchitecture(_YEH, features=("large_tiles",)),
    "yeh-tuned": NTupleArchitecture(
        _YEH, features=("large_tiles", "empty_cells", "distinct_tiles", "mergeable_pairs", "neighbouring_pairs")
    ),
    "yeh-threes": NTupleArchitecture(_YEH, features=("large_tiles", "hint")),
    "yeh-threes-tuned": NTupleArchitecture(
        _YEH, features=("large_tiles", "hint", "empty_cells", "distinct_tiles", "mergeable_pairs", "neighbouring_pairs")
    ),
    "yeh-threes-program": NTupleArchitecture(_YEH, features=("middle_tiles", "merge_counts"), hint_tuples=("01234",)),
    "4x6-by-hint": NTupleArchitecture(_YEH, features=("large_tiles",), by_hint=True),
    "8x6-by-hint": NTupleArchitecture(_MATSUZAKI, features=("large_tiles",), by_hint=True),
    "2x4": NTupleArchitecture(("0123", "4567")),
}


def find_network(name: str) -> NTupleArchitecture:
    """Return the architecture of a network of the papers.

    >>> find_network("szubert-small").weight_count()
    860625
    """
    if name not in NETWORKS:
        raise SpecError(f"there is no network {name!r}{did_you_mean(name, NETWORKS)}; there are: {', '.join(NETWORKS)}")
    return NETWORKS[name]
