"""What the doctests of the package may use without saying so."""

import pytest


@pytest.fixture(autouse=True)
def _public_names(doctest_namespace: dict[str, object]) -> None:
    import tilewright

    doctest_namespace.update({name: getattr(tilewright, name) for name in tilewright.__all__})
