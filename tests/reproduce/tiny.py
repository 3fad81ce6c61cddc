"""An experiment that takes seconds: a 3x3 board, a network of some thousand weights, stages in turn, and playouts."""

from pathlib import Path

from tests.training.sessions import tiny
from tilewright.reproduce.experiments import Experiment, Row, Scale, Stated

__all__ = ["QUICK", "tiny_experiment"]

QUICK = Scale("quick", seeds=2, tests=30, slow_tests=25)
GAME = "2048:rows=3,columns=3,win_tile=64"


def tiny_experiment(folder: Path) -> Experiment:
    """Its recipes are written to `folder`."""
    plain, staged = folder / "plain.toml", folder / "staged.toml"
    tiny(lambda_=0.0, games=120).save(plain)
    tiny(lambda_=0.0, games=150, stages=("16", "16+8"), start_pool=10).save(staged)
    rows = (
        Row("plain", str(plain), paper={"score": Stated(900.0, 100.0), "win": Stated(0.5, 0.0)}),
        Row("plain, slow", str(plain), slow=True, paper={"score": Stated(50_000.0, 1.0)}),
        Row("staged", str(staged)),
        Row("random", agent="random", game=GAME, series="random", x=1.0, paper={"board-sum": Stated(60.0, 0.0)}),
    )
    return Experiment(
        "tiny-2026",
        "Tiny 2026",
        "table-1",
        "Table 1",
        "A text & a half.",
        columns=("win", "score", "max", "board-sum", "reach-32"),
        figures=("curve-score", "curve-win", "reach-list"),
        rows=rows,
        scales={"quick": QUICK, "standard": QUICK, "full": QUICK},
        paper_games=100,
    )
