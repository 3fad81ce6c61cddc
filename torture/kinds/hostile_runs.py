"""A runs folder that somebody hostile has filled: damaged configurations, an endless curve, links, hostile models."""

import os
import shutil
from pathlib import Path

import numpy as np

from tilewright.training.session import open_session
from torture.kinds.checkpoints import small_deep_configs, small_ntuple_configs
from torture.tensor_files import read_parts, sealed

__all__ = ["make_hostile_runs"]

_CURVE_ROWS = 250_000  # 22 MB


def make_hostile_runs(runs: Path) -> None:
    """Fill a folder with good runs, `good` and `good-deep`, and bad ones."""
    good = runs / "good"
    open_session(small_ntuple_configs()[2], good, threads=1).run()
    open_session(small_deep_configs(runs.parent / "teacher", total_steps=64)[-1], runs / "good-deep", threads=1).run()
    for name in ("no-toml", "huge-number", "long-curve", "bad-model", "nan-model", "linked-model", "nested", "bytes"):
        shutil.copytree(good, runs / name)
    (runs / "no-toml" / "config.toml").write_text("= = =")
    (runs / "huge-number" / "config.toml").write_text(f"games = {'9' * 5000}\n")
    (runs / "nested" / "config.toml").write_text("tuples = " + "[" * 5000)
    (runs / "bytes" / "config.toml").write_bytes(b"\xff\xfe\0")
    row = (good / "metrics.csv").read_text().splitlines()
    (runs / "long-curve" / "metrics.csv").write_text("\n".join([row[0], *([row[-1]] * _CURVE_ROWS)]) + "\n")
    (runs / "bad-model" / "model.safetensors").write_bytes(b"\xff" * 1000)
    _write_marks(runs / "nan-model" / "model.safetensors")
    (runs / "linked-model" / "model.safetensors").unlink()
    (runs / "linked-model" / "model.safetensors").symlink_to("/etc/passwd")
    (runs / "linked-folder").symlink_to("/")
    (runs / "loop").symlink_to(runs)
    (runs / "a-file").write_text("no folder")
    (runs / "fifo").mkdir()
    os.mkfifo(runs / "fifo" / "config.toml")


def _write_marks(file: Path) -> None:
    """Mark every weight of a promoting network as unwritten, with a valid checksum."""
    metadata, arrays = read_parts(file.read_bytes())
    dtype, shape, content = arrays["weights"]
    header = {"weights": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(content)]}, "__metadata__": metadata}
    marks = np.full(len(content) // 4, -1e38, np.float32).tobytes()
    file.write_bytes(sealed(header, marks))
