"""Gymnasium environments for 2048 and Threes. Importing this package registers them.

    gymnasium.make("tilewright/2048-v0")
    gymnasium.make_vec("tilewright/Threes-v0", num_envs=1024)

This package needs Gymnasium: `pip install tilewright[gym]`.
"""

from tilewright.errors import MissingExtraError

try:
    import gymnasium
except ImportError:
    raise MissingExtraError("environments need Gymnasium: pip install 'tilewright[gym]'") from None

__all__ = ["IDS"]

IDS = {"tilewright/2048-v0": "2048", "tilewright/Threes-v0": "threes"}  # environment id -> game

for _id, _game in IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="tilewright.envs.single:BoardEnv",
            vector_entry_point="tilewright.envs.vector:BoardVectorEnv",
            kwargs={"game": _game},
        )
