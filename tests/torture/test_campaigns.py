"""A slice of every campaign that runs in one process: nothing fails."""

import random
from pathlib import Path

import pytest

from torture.campaign import KINDS, judge, load_campaign
from torture.worker import input_of

# How many inputs take about a second.
SLICES = {
    "boards": 300,
    "specs": 500,
    "configs": 200,
    "commands": 40,
    "recordings": 150,
    "models": 60,
    "deep-models": 40,
    "checkpoints": 40,
    "deep-checkpoints": 15,
    "stores": 60,
    "run-folders": 60,
    "environments": 80,
    "kernels": 60,
    "kills": 3,
    "full-disk": 2,
    "two-processes": 2,
}


@pytest.mark.parametrize("kind", SLICES)
def test_a_slice_of_it_finds_nothing(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    campaign = load_campaign(kind)(tmp_path)
    try:
        for number in range(SLICES[kind]):
            case = input_of(campaign, kind, 2026, number)
            verdict = judge(campaign, case)
            assert verdict.outcome != "failed", f"{kind} {number}: {verdict.problem}\n{str(case)[:2000]}"
    finally:
        campaign.finish()


def test_every_kind_has_a_slice_or_a_test_of_its_own() -> None:
    assert set(KINDS) - set(SLICES) == {"requests", "deep-kills"}  # tests/web and tests/deep have slices of theirs


@pytest.mark.parametrize("kind", ["boards", "specs", "configs"])
def test_an_input_depends_on_its_number_alone(kind: str, tmp_path: Path) -> None:
    first, second = load_campaign(kind)(tmp_path), load_campaign(kind)(tmp_path)
    made = [input_of(first, kind, 1, number) for number in range(20)]
    random.seed(5)
    assert repr([input_of(second, kind, 1, number) for number in reversed(range(20))][::-1]) == repr(made)
    assert repr(input_of(first, kind, 2, 0)) != repr(made[0])
