"""What `import tilewright` offers, what it costs, and which module may use which."""

import ast
import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tilewright
from tests.process import PACKAGE, run_python

# From the bottom up; a module imports from its own layer and from those before it.
LAYERS = [
    {"errors"},
    {"_core"},
    {"rng", "games", "models"},
    {"ntuple"},
    {"exact"},
    {"search", "learning"},
    {"agents", "envs"},
    {"play"},
    {"training", "deep"},
    {"audit", "bench", "doctor", "reproduce", "testing"},
    {"web"},
    {"cli", "__main__"},
]
SOURCES = sorted(PACKAGE.rglob("*.py"))
MODULES = [source for source in SOURCES if source != PACKAGE / "__init__.py"]


def layer_of(part: str) -> int:
    for number, parts in enumerate(LAYERS):
        if part in parts:
            return number
    raise AssertionError(f"tilewright.{part} has no layer yet")


def imports_of(source: Path) -> Iterator[str]:
    """The full names of the modules (and names) that a source imports."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def relative_name(source: Path) -> str:
    return source.relative_to(PACKAGE).as_posix()


def test_all_is_sorted_and_has_a_home_for_each_name() -> None:
    constants_first = sorted(tilewright.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert tilewright.__all__ == constants_first
    assert sorted(tilewright.__all__) == sorted(tilewright._HOMES)


@pytest.mark.parametrize("name", tilewright.__all__)
def test_every_public_name_is_there_and_its_home_exports_it(name: str) -> None:
    home = importlib.import_module(tilewright._HOMES[name])
    assert getattr(tilewright, name) is getattr(home, name)
    assert name in home.__all__


def test_a_name_that_is_not_there_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'tilewright' has no attribute 'solved'"):
        _ = tilewright.solved


@pytest.mark.parametrize("source", MODULES, ids=relative_name)
def test_every_module_exports_what_it_says(source: Path) -> None:
    if source.name == "__main__.py":
        return
    name = ".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    assert [missing for missing in exported if not hasattr(module, missing)] == []


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import tilewright", ["numba", "numpy", "torch", "gymnasium", "click", "rich"]),
        ("import tilewright.cli.main", ["numba", "numpy", "torch", "rich"]),
        ("from tilewright import AGENTS, GAMES", ["numba", "numpy", "torch"]),
        ("import tilewright.testing, tilewright.bench", ["torch", "gymnasium", "click", "rich"]),
    ],
)
def test_imports_are_light(statement: str, unwanted: list[str]) -> None:
    found = run_python(f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))")
    assert set(json.loads(found.stdout)) & set(unwanted) == set()


@pytest.mark.parametrize("source", MODULES, ids=relative_name)
def test_no_module_imports_from_a_higher_layer(source: Path) -> None:
    own = layer_of(source.relative_to(PACKAGE).parts[0].removesuffix(".py"))
    used = [name for name in imports_of(source) if name.split(".")[0] == "tilewright"]
    above = [name for name in used if name != "tilewright.__version__" and layer_of(name.split(".")[1]) > own]
    assert above == []


@pytest.mark.parametrize("source", SOURCES, ids=relative_name)
def test_no_pickle_and_no_global_generator(source: Path) -> None:
    imported = {name.split(".")[0] for name in imports_of(source)}
    assert imported & {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "random"} == set()
    attributes = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if ast.unparse(node.value) in ("np.random", "numpy.random")}
    assert used <= {"SeedSequence", "default_rng", "Generator"}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tw.evaluate(3)", "3 is"),
        ("tw.evaluate('greedy', 3)", "3 is"),
        ("tw.train(3)", "3"),
        ("tw.review(3, 'greedy')", "3"),
        ("tw.load_model(3)", "3 is not a path"),
        ("tw.load_table(3)", "3 is not the path of a table"),
        ("tw.solve(3)", "3 is"),
        ("tw.solve('2048:rows=2,columns=2', goal=3)", "goal=3"),
        ("tw.read_games(3)", "3"),
        ("tw.make_agent('greedy').move(3)", "3 is not a board"),
        ("tw.make_game('2048').slide('2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2', 3)", "3"),
        ("tw.Run(3)", "3"),
        ("tw.sweep(3, {'alpha': [1.0]})", "3"),
    ],
)
def test_a_wrong_type_gets_a_sentence(code: str, reason: str) -> None:
    with pytest.raises(tilewright.UsageError) as caught:
        eval(code, {"tw": tilewright})  # noqa: S307
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
