"""Gymnasium environments for 2048 and Threes. Importing this package registers them.

    gymnasium.make("tilewright/2048-v1")
    gymnasium.make_vec("tilewright/Threes-v1", num_envs=1024)

Gymnasium imports it by itself for ids such as "tilewright.envs:tilewright/2048-v1".

This package needs Gymnasium: `pip install tilewright[gym]`.
"""

from tilewright.errors import MissingExtraError

try:
    import gymnasium
except ImportError:
    raise MissingExtraError("environments need Gymnasium: pip install 'tilewright[gym]'") from None

__all__ = ["IDS", "TEXT_IDS"]

IDS = {"tilewright/2048-v1": "2048", "tilewright/Threes-v1": "threes"}  # environment id -> game

TEXT_IDS = {"tilewright/2048-text-v0": "2048", "tilewright/Threes-text-v0": "threes"}


def _register(environment: str, game: str, **options: object) -> None:
    if environment not in gymnasium.registry:
        gymnasium.register(
            environment,
            entry_point="tilewright.envs.single:BoardEnv",
            vector_entry_point="tilewright.envs.vector:BoardVectorEnv",
            kwargs={"game": game, **options},
        )


for _id, _game in IDS.items():
    _register(_id, _game)
    _register(_id.replace("-v1", "-v0"), _game, max_invalid_moves=0)
for _id, _game in TEXT_IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(_id, entry_point="tilewright.envs.text:TextEnv", kwargs={"game": _game})
