"""What a better lossless code could save in a packed model: sizes now, and entropies that no code of that kind beats.

python benchmarks/weight_coding.py package:2048
"""

import sys
import zlib

import numpy as np
from numpy.typing import NDArray

from tilewright.models import model_path
from tilewright.ntuple.model import load_model


def entropy(symbols: NDArray[np.int64]) -> float:
    """The bytes that these symbols take if each is coded by its frequency alone."""
    counts = np.bincount(symbols)
    counts = counts[counts > 0]
    return float(-(counts * np.log2(counts / counts.sum())).sum() / 8)


def entropy_given(symbols: NDArray[np.int64], contexts: NDArray[np.int64]) -> float:
    """The same, if the frequencies depend on a context."""
    return sum(entropy(symbols[contexts == context]) for context in np.unique(contexts))


def main(name: str) -> None:
    """Print the sizes of the two parts of a packed model: which weights there are, and their values."""
    weights = load_model(model_path(name)).weights.astype(np.int64)
    there = weights != 0
    bits = np.packbits(there).astype(np.int64)
    values = weights[there]
    folded = (values << 1) ^ (values >> 63)
    neighbour = np.concatenate([[0], weights[:-1]])[there]
    size_class = np.ceil(np.log2(np.abs(neighbour) + 1)).clip(max=8).astype(np.int64) * 2 + (neighbour < 0)
    print(f"{name}: {len(values):,} of {len(weights):,} weights")
    print(f"which: zlib {len(zlib.compress(bits.astype(np.uint8).tobytes(), 9)):,}", end=", ")
    print(f"entropy of bytes {entropy(bits):,.0f}, given the byte before {entropy_given(bits[1:], bits[:-1]):,.0f}")
    now = sum(len(zlib.compress(part.astype(np.uint8).tobytes(), 9)) for part in (folded >> 8, folded & 255))
    print(f"values: zlib {now:,}, entropy {entropy(folded):,.0f}", end=", ")
    print(f"given sign and size of the weight before {entropy_given(folded, size_class):,.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
