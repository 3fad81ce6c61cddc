"""Without Gymnasium the rest of the package works, and the environments say what to install."""

from tests.process import run_python


def test_a_missing_extra_names_its_pip_line() -> None:
    found = run_python(
        "import sys; sys.modules['gymnasium'] = None\n"
        "import tilewright\n"
        "try:\n    import tilewright.envs\n"
        "except ImportError as error:\n    print(error)"
    )
    assert found.stdout == "environments need Gymnasium: pip install 'tilewright[gym]'\n"
