"""Training configurations: presets, TOML and back, and one clear line for everything that is wrong."""

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.process import run_python
from tests.training.sessions import tiny
from tilewright._core.config import MAX_SEED, MINUTES, Config, config_from_toml, describe_config
from tilewright.deep.config import DeepConfig
from tilewright.errors import ConfigError, FileError
from tilewright.ntuple.features import FEATURES
from tilewright.ntuple.patterns import NETWORKS
from tilewright.training.config import LARGEST_VALUE, TrainingConfig, list_presets, read_config
from tilewright.training.trainer import Trainer

KEYS = [field.name.rstrip("_") for field in dataclasses.fields(TrainingConfig)]
NTUPLE_PRESETS = [name for name in list_presets() if isinstance(read_config(name), TrainingConfig)]


def read_ntuple_config(source: str | Path, **changes: object) -> TrainingConfig:
    config = read_config(source, **changes)
    assert isinstance(config, TrainingConfig)
    return config


@pytest.mark.parametrize("name", NTUPLE_PRESETS)
def test_every_preset_trains_a_network_that_fits_its_game(name: str) -> None:
    config = read_ntuple_config(name)
    architecture = dataclasses.replace(config.make_architecture(), stages=(), promote=False)
    assert architecture == NETWORKS[config.network] if config.network else architecture.tuples == config.tuples
    assert config.make_architecture().lookups(config.make_game()) > 0
    assert config_from_toml(TrainingConfig, config.to_toml()) == config


def test_presets_are_listed_with_the_first_line_of_their_file() -> None:
    assert list_presets()["minute"] == "A strong 2048 player in about a minute: 4x6 network, backward TC(0.5)."
    assert all(list_presets().values())
    assert {"minute", "threes", "dqn", "deep-afterstate"} <= set(list_presets())


def test_alpha_is_the_learning_rate_per_weight_of_the_papers_times_the_weights_read() -> None:
    """As the first lines of the presets say: α = 0.0025 per weight (· 33 weights)."""
    found = 0
    for name in NTUPLE_PRESETS:
        if rate := re.search(r"α = 0.0025 per weight \(· (\d+) weights\)", list_presets()[name]):
            config = read_ntuple_config(name)
            lookups = config.make_architecture().lookups(config.make_game())
            assert int(rate[1]) == lookups, name
            assert config.alpha == pytest.approx(0.0025 * lookups), name
            found += 1
    assert found == 9


def test_a_config_is_deep_if_it_has_the_key_algorithm(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("minutes = 5")
    assert read_config(path) == read_config(str(path)) == TrainingConfig(minutes=5)
    path.write_text('algorithm = "afterstate"\nminutes = 5')
    assert read_config(path) == DeepConfig(algorithm="afterstate", minutes=5)
    assert read_config("dqn", seed=9) == dataclasses.replace(DeepConfig(**read_config("dqn").to_dict()), seed=9)  # type: ignore[arg-type]


def test_a_config_can_be_read_and_changed_like_a_file() -> None:
    assert read_config(tiny()) == tiny()
    assert read_config(tiny(), seed=9, lambda_=0.25) == tiny(seed=9, lambda_=0.25)
    assert read_config(DeepConfig(minutes=5), seed=9) == DeepConfig(minutes=5, seed=9)
    with pytest.raises(ConfigError, match=r"unknown key 'sede' \(did you mean 'seed'"):
        read_config(tiny(), sede=1)


@pytest.mark.parametrize("source", [3, None, ["minute"], b"minute"])
def test_what_is_no_config_is_one_line(source: Any) -> None:
    with pytest.raises(ConfigError, match="must be the name of a preset, the path of a file, or a configuration"):
        read_config(source)


def test_a_network_and_tuples_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match='network = "4x6" and tuples exclude each other; leave one of them out'):
        TrainingConfig(games=1, network="4x6", tuples=("0123",))
    with pytest.raises(ConfigError, match=r'minute: network = "4x6" and tuples exclude each other'):
        read_config("minute", tuples=["0123"])
    assert read_ntuple_config("minute", network="", tuples=["0123"]).subject == "tuples"


def test_without_network_and_tuples_the_network_is_4x6() -> None:
    config = TrainingConfig(games=1)
    assert (config.network, config.subject) == ("", "4x6")
    assert config.make_architecture() == NETWORKS["4x6"] == TrainingConfig(games=1, network="4x6").make_architecture()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": "much"}, "alpha = 'much': must be a number"),
        ({"games": 2.5}, "games = 2.5: must be a whole number"),
        ({"tuples": "0123"}, "tuples = '0123': must be a list of texts"),
        ({"promote": 1}, "promote = 1: must be true or false"),
        ({"game": 2048}, "game = 2048: must be text"),
        ({"lambda_": None}, "lambda = None: must be a number"),
    ],
)
def test_wrong_types_in_python_are_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(**{"games": 10, **changes})


def test_numbers_and_lists_become_what_the_key_wants() -> None:
    config = TrainingConfig(games=np.int64(7), alpha=np.float32(0.5), minutes=1, tuples=["01"])  # type: ignore[arg-type]
    values = (config.games, config.alpha, config.minutes, config.tuples)
    assert values == (7, 0.5, 1.0, ("01",))
    assert [type(value) for value in values] == [int, float, float, tuple]


def test_the_table_of_keys_describes_every_key() -> None:
    table = describe_config(TrainingConfig)
    assert [row.key for row in table] == KEYS
    rows = {row.key: row for row in table}
    assert rows["alpha"][1:3] == ("number", "1.0")
    assert rows["tuples"][1:3] == ("list of strings", "[]")
    assert rows["update"][1:3] == ("string", '"backward"')
    assert rows["promote"][1:3] == ("boolean", "false")
    assert rows["games"][1:3] == ("integer", "0")
    for row in table:
        assert row.meaning[0].isupper() or row.meaning.startswith("λ"), row.key
        assert row.meaning.endswith("."), row.key
    assert "divided among the weights read, as TDL2048+ does" in rows["alpha"].meaning
    assert sum("divided among" in row.meaning for row in table) == 1


@pytest.mark.parametrize("kind", [TrainingConfig, DeepConfig])
def test_every_number_has_limits_and_both_ends_are_told(kind: type[Config]) -> None:
    """A value just outside is refused, however large, infinite or no number it is."""
    base = {"games": 10} if kind is TrainingConfig else {"total_steps": 10}
    for row in describe_config(kind):
        assert bool(row.allowed) == (row.type in ("integer", "number")), row.key
        name = "lambda_" if row.key == "lambda" else row.key
        for value in (2**63, 10**5000, -(10**12)) if row.type == "integer" else (1e300, math.inf, -math.inf, math.nan):
            if row.allowed:
                with pytest.raises(ConfigError, match=f"^{row.key} = .*: must be {re.escape(row.allowed)}$"):
                    kind(**{**base, name: value})


def test_the_largest_n_step_does_not_overflow() -> None:
    """2**63 - 1 moves once became a negative number of them."""
    with pytest.raises(ConfigError, match=r"n_step = 9223372036854775807: must be from 0 to 1,000,000"):
        tiny(n_step=2**63 - 1)
    trainer, whole = Trainer(tiny(n_step=1_000_000)), Trainer(tiny(n_step=0))
    for one in (trainer, whole):
        one.learn(0, 1)
    np.testing.assert_allclose(trainer.weights, whole.weights, rtol=1e-3, atol=1e-3)


def test_toml_with_comments_has_the_meaning_above_every_key() -> None:
    text = tiny().to_toml(comments=True)
    assert config_from_toml(TrainingConfig, text) == tiny()
    blocks = text.split("\n\n")
    assert len(blocks) == len(KEYS)
    for block, row in zip(blocks, describe_config(TrainingConfig), strict=True):
        *comment, line = block.splitlines()
        assert " ".join(part.removeprefix("# ") for part in comment) == row.comment
        assert line.startswith(f"{row.key} = ")
        assert all(len(part) <= 102 for part in comment)


def numbers(low: float, high: float, *, above: bool = False) -> st.SearchStrategy[float]:
    return st.floats(low, high, exclude_min=above, allow_nan=False)


CELLS = st.lists(st.sampled_from("0123456789abcdef"), min_size=1, max_size=5, unique=True).map("".join)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def configs(draw: st.DrawFn) -> TrainingConfig:
    chosen: dict[str, Any] = {
        "game": draw(st.sampled_from(["2048", "threes", "2048:four=0.25,start_tiles=3", " 2048:\n"])),
        "value_function": draw(st.sampled_from(["afterstate", "state", "action"])),
        "step_size": draw(st.sampled_from(["fixed", "tc"])),
        "alpha": draw(numbers(0, 2, above=True)),
        "decay": draw(numbers(0, 1, above=True)),
        "epsilon": draw(numbers(0, 1)),
        "optimistic_init": draw(numbers(-LARGEST_VALUE, LARGEST_VALUE)),
        "games": draw(st.integers(1, 10**12)),
        "model": draw(ANY_TEXT),
        "minutes": draw(numbers(0, MINUTES.largest)),
        "seed": draw(st.integers(0, MAX_SEED)),
        "curve_games": draw(st.integers(1, 1000)),
        "patience": draw(st.just(0) | st.integers(1000, 10**9)),
        "evaluate_games": draw(st.integers(1, 10**6)),
        "evaluate_minutes": draw(numbers(0, MINUTES.largest)),
        "checkpoint_minutes": draw(numbers(0, MINUTES.largest, above=True)),
    }
    if chosen["value_function"] == "state":
        chosen["optimistic_init"] = -abs(chosen["optimistic_init"])
    if draw(st.booleans()):
        chosen |= {"update": "backward", "lambda_": draw(numbers(0, 1)), "n_step": draw(st.integers(0, 100))}
    else:
        chosen |= {"update": "online", "n_step": draw(st.integers(0, 1))}
    if draw(st.booleans()):
        chosen |= {
            "tuples": tuple(draw(st.lists(CELLS, min_size=1, max_size=6))),
            "symmetric": draw(st.booleans()),
            "alphabet": draw(st.sampled_from([15, 16] if "threes" in str(chosen.get("game")) else range(8, 17))),
            "features": tuple(draw(st.lists(st.sampled_from(list(FEATURES)), unique=True))),
        }
    else:
        names = [name for name, shape in NETWORKS.items() if not shape.by_hint and not shape.hint_tuples]
        chosen["network"] = draw(st.sampled_from(["", *names]))
    return TrainingConfig(**chosen)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(configs())
def test_every_config_reads_back_from_its_toml(config: TrainingConfig) -> None:
    assert config_from_toml(TrainingConfig, config.to_toml()) == config


@settings(derandomize=True, max_examples=50, deadline=None)
@given(configs())
def test_the_chosen_keys_make_the_config_and_all_of_them_are_needed(config: TrainingConfig) -> None:
    chosen = config.chosen()
    lines = [line for line in config.to_toml().splitlines() if line.partition(" = ")[0] in chosen]
    assert config_from_toml(TrainingConfig, "\n".join(lines)) == config
    default = dict(zip(KEYS, dataclasses.astuple(TrainingConfig(games=1)), strict=True)) | {"games": 0}
    assert all(default[key] != value for key, value in chosen.items())


def test_the_toml_has_every_key_once() -> None:
    assert [line.partition(" = ")[0] for line in tiny().to_toml().splitlines()] == KEYS


def test_a_saved_config_reads_back_with_changes(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    tiny().save(path)
    assert read_config(str(path)) == tiny()
    for key in ("lambda", "lambda_"):
        assert read_config(path, seed=9, **{key: 0.25}) == tiny(seed=9, lambda_=0.25)


def test_what_is_left_out_has_the_default_and_whole_numbers_are_numbers() -> None:
    assert config_from_toml(TrainingConfig, "games = 5\nalpha = 1\nminutes = 2") == TrainingConfig(
        games=5, alpha=1.0, minutes=2.0
    )


@pytest.mark.parametrize(
    ("minutes", "games", "words"),
    [(1.2, 0, "1.2 minutes"), (0, 5000, "5,000 games"), (1.0, 5000, "1 minutes or 5,000 games")],
)
def test_its_length_in_words(minutes: float, games: int, words: str) -> None:
    assert TrainingConfig(minutes=minutes, games=games).length == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aplha = 1.0", "unknown key 'aplha' (did you mean 'alpha'?); known: game, network, tuples"),
        ("lambda_ = 0.5", "unknown key 'lambda_' (did you mean 'lambda'?)"),
        ("xyzzy = 1", f"unknown key 'xyzzy'; known: {', '.join(KEYS)}"),
        ("[training]\nalpha = 1.0", "unknown key 'training'"),
        ("game = 2048", "game = 2048: must be text"),
        ('game = "2084"', "game: there is no game '2084' (did you mean '2048'?)"),
        ('game = "2048:rows=9"', "game: "),
        ('network = "4x7"', "network = '4x7': no such network (did you mean '4x6'?); allowed: szubert-small"),
        ("network = 46", "network = 46: must be text"),
        ('tuples = "0123"', "tuples = '0123': must be a list of texts"),
        ("tuples = [123]", "tuples = [123]: must be a list of texts"),
        ('tuples = ["0123", "00"]', "tuples: tuple '00': a cell is named twice"),
        ('tuples = ["01g"]', "tuples: tuple '01g': must be 1 to 8 cells"),
        ('tuples = [""]', "tuples: tuple '': must be 1 to 8 cells"),
        ('tuples = ["01234567"]', "tuples: a network of 4,294,967,296 weights is too large; indices of 32 bits allow"),
        (
            'tuples = ["0123456", "1234567", "2345678", "3456789"]\nvalue_function = "action"',
            "value_function: 4 networks of 1,073,741,824 weights for action values are too large; "
            "indices of 32 bits allow 1,073,741,823 weights each",
        ),
        ('game = "2048:rows=3,columns=3"', "tuples: tuple '012345': cell 3 is not on a 3x3 board"),
        ('tuples = ["01"]\nalphabet = 7', "alphabet = 7: must be from 8 to 16"),
        ('tuples = ["01"]\nalphabet = 17', "alphabet = 17: must be from 8 to 16"),
        (
            'game = "threes"\ntuples = ["01"]\nalphabet = 12',
            "tuples: alphabet=12: boards of threes cannot be downgraded; its tiles need 16",
        ),
        ('tuples = ["01"]\nsymmetric = 1', "symmetric = 1: must be true or false"),
        ('tuples = ["01"]\nfeatures = ["larg"]', "tuples: there is no feature 'larg' (did you mean 'large_tiles'?)"),
        ('features = ["large_tiles"]', "features needs tuples; network = '4x6' has its own"),
        ("symmetric = false", "symmetric needs tuples"),
        ("alphabet = 15", "alphabet needs tuples"),
        (
            'value_function = "afterstates"',
            "value_function = 'afterstates' (did you mean 'afterstate'?); allowed: afterstate, state, act",
        ),
        ('update = "forward"', "update = 'forward' (did you mean 'backward'?); allowed: online, backward"),
        ('step_size = "adam"', "step_size = 'adam'; allowed: fixed, tc"),
        ("lambda = 1.5", "lambda = 1.5: must be from 0 to 1"),
        ("lambda = -0.1", "lambda = -0.1: must be from 0 to 1"),
        ("lambda = nan", "lambda = nan: must be from 0 to 1"),
        ('update = "online"\nlambda = 0.5', 'update = "online" learns from one move at a time; lambda and n_step need'),
        ('update = "online"\nn_step = 2', 'update = "online" learns from one move at a time; lambda and n_step need'),
        ("n_step = -1", "n_step = -1: must be from 0"),
        ("n_step = 1.5", "n_step = 1.5: must be a whole number"),
        ("alpha = 0.0", "alpha = 0.0: must be above 0 and at most 2"),
        ("alpha = 2.1", "alpha = 2.1: must be above 0 and at most 2"),
        ('alpha = "all"', "alpha = 'all': must be a number"),
        ("alpha = true", "alpha = True: must be a number"),
        ("decay = 0", "decay = 0.0: must be above 0 and at most 1"),
        ("decay = 1.01", "decay = 1.01: must be above 0 and at most 1"),
        ("epsilon = -1", "epsilon = -1.0: must be from 0 to 1"),
        ("optimistic_init = nan", "optimistic_init = nan: must be from -1,000,000,000 to 1,000,000,000"),
        ("optimistic_init = -inf", "optimistic_init = -inf: must be from -1,000,000,000 to 1,000,000,000"),
        ("optimistic_init = 1e30", "optimistic_init = 1e+30: must be from"),
        (
            'value_function = "state"\noptimistic_init = 1',
            'value_function = "state" does not allow optimistic_init > 0',
        ),
        ("patience = 999", "patience = 999: must be 0 or at least curve_games = 1000"),
        ("patience = true", "patience = True: must be a whole number"),
        ("games = 0", "games or minutes must say how long to train"),
        ("games = -1", "games = -1: must be from 0"),
        ("games = 1e6", "games = 1000000.0: must be a whole number"),
        ("minutes = -0.5", "minutes = -0.5: must be from 0"),
        ("minutes = nan", "minutes = nan: must be from 0"),
        ("minutes = 1" + 400 * "0", "minutes: the number is too large"),
        ("minutes = 07:32:00", "minutes = datetime.time(7, 32): must be a number"),
        ("seed = -1", "seed = -1: must be from 0"),
        ("seed = 0.5", "seed = 0.5: must be a whole number"),
        ("curve_games = 0", "curve_games = 0: must be from 1 to"),
        ("evaluate_games = 0", "evaluate_games = 0: must be from 1 to"),
        ("evaluate_minutes = -1", "evaluate_minutes = -1.0: must be from 0"),
        ("checkpoint_minutes = 0", "checkpoint_minutes = 0.0: must be above 0"),
        ("alpha = ", "not valid TOML: "),
        ("alpha = 1\nalpha = 1", "not valid TOML: "),
        ("seed = " + "[" * 20_000, "not valid TOML: "),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_wrong_is_one_line_that_names_the_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text if "games =" in text else f"games = 10\n{text}")
    with pytest.raises(ConfigError) as error:
        read_config(str(path))
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_changed_key_is_checked_like_the_file() -> None:
    with pytest.raises(ConfigError, match=r"minute: unknown key 'sede' \(did you mean 'seed'"):
        read_config("minute", sede=1)
    with pytest.raises(ConfigError, match=r"minute: alpha = -1.0: must be above 0 and at most 2"):
        read_config("minute", alpha=-1)


def test_a_preset_that_is_none_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigError) as error:
        read_config("minuet")
    assert str(error.value) == (
        f"there is no preset or file 'minuet' (did you mean 'minute'?); presets: {', '.join(list_presets())}"
    )


def test_what_cannot_be_read_is_a_file_error_with_the_reason(tmp_path: Path) -> None:
    picture = tmp_path / "picture.toml"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    for path, reason in [
        (tmp_path / "missing.toml", "No such file"),
        (tmp_path, "Is a directory"),
        (picture, "not text"),
    ]:
        with pytest.raises(FileError, match=f"{path}: cannot be read: {reason}"):
            read_config(str(path))


def test_files_are_read_as_utf_8_whatever_the_system_prefers(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes("# Jaśkowski, α\ngames = 5\n".encode())
    code = f"from tilewright.training.config import *; print(*(read_config(s).games for s in ({str(path)!r}, 'yeh')))"
    found = run_python(code, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C")
    assert (found.stdout, found.stderr) == ("5 5000000\n", "")
