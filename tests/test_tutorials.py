"""The tutorials run, as the site runs them, and print what their text says."""

from pathlib import Path

import matplotlib as mpl
import pytest
from _examples import Output, as_notebook, read_cells, run_cells, with_outputs

TUTORIALS = Path(__file__).parent.parent / "docs" / "tutorials"
PAGES = sorted(page.stem for page in TUTORIALS.glob("*.md") if page.stem != "index")


def run_page(name: str, folder: Path) -> list[Output]:
    page = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
    return [output for output in run_cells(read_cells(page), folder) if output != Output()]


@pytest.fixture(autouse=True)
def plots_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mpl.rcParams, "backend", "agg")


def test_every_tutorial_is_tested() -> None:
    assert PAGES == ["bot", "experiment", "play", "td-learning", "your-own"]


def test_the_sixty_lines_learn_and_the_library_comes_close_to_perfect_play(tmp_path: Path) -> None:
    slid, learned, _, plain, better, curve = run_page("td-learning", tmp_path)
    assert slid.text == "((4, 4, 0, 2, 0, 0), 4)\n"
    before, *scores = [float(line.rpartition(" ")[2]) for line in learned.text.splitlines()]
    assert scores[-1] > 2 * before
    assert plain.text.splitlines()[0] == "perfect play: 480.26"
    assert float(better.text.split()[1]) > float(plain.text.splitlines()[1].split()[2]) > 50
    assert len(curve.images) == 1


def test_the_program_of_the_first_tutorial_has_sixty_lines() -> None:
    page = (TUTORIALS / "td-learning.md").read_text(encoding="utf-8").partition("## The same with the library")[0]
    code = "".join(cell.text for cell in read_cells(page) if cell.is_code)
    lines = [
        line for line in code.splitlines() if line.strip() and not line.startswith(("slide((2", "print(", "random."))
    ]
    assert len(lines) <= 60


def test_playing_finds_the_worst_move_of_a_game(tmp_path: Path) -> None:
    _, _, advice, score, review, _ = run_page("play", tmp_path)
    assert advice.text.startswith("up {'up': ")
    assert score.text.startswith("2,059.6 ± 131.6\n")
    assert "right instead of down lost 86,608 points" in review.text


def test_your_own_parts_are_checked_and_play(tmp_path: Path) -> None:
    agent, network, variant, game = run_page("your-own", tmp_path)
    assert agent.text.splitlines()[0].startswith("0 2,826.4")
    assert "2 tuples, 131,072 weights" in network.text
    assert len(variant.text.splitlines()) == 2
    assert "'3 3 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0'), 3)" in game.text


def test_the_experiment_has_five_runs_of_each_and_a_plot(tmp_path: Path) -> None:
    trials, curves, difference = run_page("experiment", tmp_path)
    assert [line.split(":")[0] for line in trials.text.splitlines()] == [
        f"λ = {lambda_}, seed {seed}" for lambda_ in (0.0, 0.5) for seed in range(5)
    ]
    assert len(curves.images) == 1
    assert "standard error" in difference.text


def test_the_bot_answers_over_http(tmp_path: Path) -> None:
    *_, answer = run_page("bot", tmp_path)
    assert answer.text.startswith("left {'up': 4.25, ")


def test_a_page_becomes_a_notebook_and_a_page_with_outputs(tmp_path: Path) -> None:
    shown = ("1 + 1", "# own.py\nx = 3", "import own\nprint(own.x)")
    blocks = "\n".join(f"```python\n{code}\n```\n" for code in shown)
    page = f"# Title\n\n{blocks}\n<!-- not run: it fails -->\n```python\n1 / 0\n```\n\nThe end.\n"
    cells = read_cells(page)
    outputs = run_cells(cells, tmp_path)
    assert [output.text for output in outputs if output.text] == ["2\n", "3\n"]
    assert ":class: output\n\n2\n:::" in with_outputs(cells, outputs)
    notebook = as_notebook(cells, outputs)
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    assert kinds == ["markdown", "code", "code", "code", "code", "markdown"]
    assert notebook["cells"][2]["source"] == "%%writefile own.py\n# own.py\nx = 3"
    assert notebook["cells"][3]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "3\n"}]


def test_an_error_names_the_block(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_cells(read_cells("```python\n1 / 0\n```\n"), tmp_path)
    assert caught.value.__notes__ == ["in the block\n1 / 0\n"]
