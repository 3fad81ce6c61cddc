"""The public Python API: everything in `tilewright.__all__`, by subject."""

import inspect

import tilewright

__all__ = ["api"]

_SUBJECTS = {
    "Games and boards": ("make_game", "Game", "LineGame", "Board", "Episode", "GAMES", "Stream", "stream_for"),
    "Agents": ("make_agent", "Agent", "Player", "Analysis", "AGENTS", "Range"),
    "Evaluating": ("evaluate", "Evaluation", "Estimate", "read_games", "Recording", "review", "Review"),
    "Training": (
        "train",
        "Run",
        "TrainingConfig",
        "DeepConfig",
        "read_config",
        "Callback",
        "WandbCallback",
        "TrackioCallback",
        "Model",
        "load_model",
    ),
    "Experiments": ("sweep", "SweepResult"),
    "Exact play": ("solve", "ExactTable", "load_table", "evaluate_exactly", "ExactEvaluation"),
}

_STREAM = "A random stream: an array with the state of a generator, changed in place. `stream_for` makes one."


def api() -> str:
    """Return the directives of all public names; one that has no subject yet is under Others."""
    errors = [name for name in tilewright.__all__ if name.endswith("Error")]
    listed = {name for names in _SUBJECTS.values() for name in names}
    others = [name for name in tilewright.__all__ if name not in listed and name not in errors]
    subjects = {**_SUBJECTS, "Others": tuple(others), "Errors": tuple(errors)}
    return "\n".join(_section(title, names) for title, names in subjects.items() if names)


def _section(title: str, names: tuple[str, ...]) -> str:
    directives = "\n".join(map(_directive, names))
    return f"## {title}\n\n```{{eval-rst}}\n{directives}\n```\n"


def _directive(name: str) -> str:
    found = getattr(tilewright, name)
    if name == "Stream":
        return f".. py:data:: tilewright.Stream\n\n   {_STREAM}\n"
    if inspect.isclass(found):
        is_config = name.endswith("Config")  # its keys are in a table of their own
        members = "" if is_config or name.endswith("Error") else "   :members:\n"
        return f".. autoclass:: tilewright.{name}\n{members}"
    if inspect.isfunction(found):
        return f".. autofunction:: tilewright.{name}\n"
    return f".. autodata:: tilewright.{name}\n   :no-value:\n"
