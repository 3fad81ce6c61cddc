"""`python -m tilewright`."""

from tilewright.cli.main import run

run()
