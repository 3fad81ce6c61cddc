"""The generated parts of the reference pages, made from the code when the site is built.

A page says `<!-- generated: NAME -->` where the part NAME belongs; `expand` puts it there.
"""

import re
from collections.abc import Callable

from _reference import commands, configs, formats, http_api, options, python_api

__all__ = ["PARTS", "expand"]

PARTS: dict[str, Callable[[], str]] = {
    "agents": options.agents,
    "architectures": configs.architectures,
    "commands": commands.commands,
    "deep-keys": configs.deep_keys,
    "games": options.games,
    "http-api": http_api.routes,
    "networks": configs.networks,
    "ntuple-keys": configs.ntuple_keys,
    "presets": configs.presets,
    "python-api": python_api.api,
    "run-folder": formats.run_folder,
}
_PLACE = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)


def expand(text: str) -> str:
    """Replace every `<!-- generated: NAME -->` of a page by that part."""
    return _PLACE.sub(lambda found: PARTS[found[1]](), text)
