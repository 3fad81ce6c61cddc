"""The keys of configurations, the presets, and the networks that have names."""

from _reference.markdown import code, table
from tilewright._core.config import Config, describe_config
from tilewright.deep.architectures import ARCHITECTURES, Architecture, Convolution
from tilewright.deep.config import DeepConfig
from tilewright.ntuple.patterns import NETWORKS
from tilewright.training.config import TrainingConfig, list_presets, read_config

__all__ = ["architectures", "deep_keys", "networks", "ntuple_keys", "presets"]


def _keys(kind: type[Config]) -> str:
    rows = [(code(row.key), row.type, code(row.default), row.allowed, row.meaning) for row in describe_config(kind)]
    return table(("key", "type", "default", "allowed", "meaning and paper"), rows)


def ntuple_keys() -> str:
    """Return the keys of a TrainingConfig."""
    return _keys(TrainingConfig)


def deep_keys() -> str:
    """Return the keys of a DeepConfig."""
    return _keys(DeepConfig)


def presets() -> str:
    """Return the presets with their game and budget."""
    rows = []
    for name, summary in list_presets().items():
        config = read_config(name)
        kind = "deep" if isinstance(config, DeepConfig) else "n-tuple"
        rows.append((code(name), kind, code(config.game), config.length, summary))
    return table(("preset", "kind", "game", "budget", "what it trains"), rows)


def networks() -> str:
    """Return the n-tuple networks that have names."""
    rows = [
        (
            code(name),
            code(" ".join(found.tuples)),
            "yes" if found.symmetric else "no",
            found.alphabet,
            ", ".join(map(code, found.features)),
            f"{found.weight_count():,}",
        )
        for name, found in NETWORKS.items()
    ]
    return table(("network", "tuples", "symmetries", "alphabet", "features", "weights"), rows)


def architectures() -> str:
    """Return the deep architectures that have names."""
    rows = [(code(name), _trunk(found), _sizes(found), found.action_hidden) for name, found in ARCHITECTURES.items()]
    yes = [(name, trunk, sizes, "yes" if also else "") for name, trunk, sizes, also in rows]
    return table(("architecture", "layers that see the board", "hidden layers of a head", "for action values"), yes)


def _sizes(found: Architecture) -> str:
    return ", ".join(map(str, found.hidden_sizes))


def _trunk(found: Architecture) -> str:
    if found.line_channels:
        return f"rows and columns with shared weights, {found.line_channels} channels"
    if found.tuple_channels:
        return f"a vector of {found.tuple_channels} channels for every row, column and 2x2 square, with shared weights"
    return ", ".join(map(_layer, found.convolutions)) or "none"


def _layer(found: Convolution) -> str:
    stride = f" stride {found.stride}" if found.stride > 1 else ""
    return f"{found.channels} of {found.kernel_size}x{found.kernel_size}{stride}"
