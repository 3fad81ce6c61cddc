"""What the tests of campaigns share."""

import pytest


@pytest.fixture(autouse=True)
def _not_within_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Campaigns write to pytest's temporary folder, whatever the variables of a run say."""
    for name in ("TORTURE_ROOT", "TORTURE_DISK"):
        monkeypatch.delenv(name, raising=False)
