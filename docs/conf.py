"""The site: `make docs` builds it with Sphinx from the pages in this folder."""

import json
import sys
import tempfile
from pathlib import Path

import matplotlib
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # Sphinx runs this file from elsewhere

from _examples import as_notebook, read_cells, run_cells, with_outputs
from _reference import expand

from tilewright import __version__
from tilewright._core.files import write_text

project = "tilewright"
author = "The tilewright maintainers"
copyright = "The tilewright maintainers"  # noqa: A001  (Sphinx's name)
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns = ["images"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # reports are written by a program, for any place

html_theme = "furo"
html_title = "tilewright"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "literal"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Class attributes", "params_style")]
napoleon_use_ivar = True


def _complete_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Fill in what is generated: parts of the reference, the list of reports, and what the code of tutorials prints."""
    source[0] = expand(source[0])
    if page == "results/README":  # a program writes this page; the site lists its reports below it
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*/*/report\n```\n"
    if not page.startswith("tutorials/") or page == "tutorials/index":
        return
    cells = read_cells(source[0])
    with tempfile.TemporaryDirectory() as folder:
        outputs = run_cells(cells, Path(folder))
    notebook = Path(app.outdir, f"{page}.ipynb")
    write_text(notebook, json.dumps(as_notebook(cells, outputs), ensure_ascii=False, indent=1))
    link = f'<p><a href="{notebook.name}" download>This page as a notebook</a></p>'
    source[0] = f"{with_outputs(cells, outputs)}\n{link}\n"


def setup(app: Sphinx) -> None:
    """Complete pages as they are read."""
    matplotlib.use("agg")
    app.connect("source-read", _complete_page)
