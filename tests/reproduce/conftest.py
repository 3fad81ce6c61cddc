"""A suite that was run once, for all tests that only read its results."""

import pytest

from tests.reproduce.tiny import QUICK, tiny_experiment
from tilewright.reproduce.experiments import Experiment
from tilewright.reproduce.store import Store
from tilewright.reproduce.suite import plan_trials, run_suite


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return tiny_experiment(tmp_path_factory.mktemp("configs"))


@pytest.fixture(scope="session")
def undisturbed(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("store"))
    assert run_suite(plan_trials(experiment, QUICK), store, workers=2) == []
    return store
