"""The site: `make docs` builds it with Sphinx from the pages in this folder."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # Sphinx runs this file from elsewhere

from _reference import expand

from tilewright import __version__

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


def _expand_generated_parts(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = expand(source[0])


def setup(app: Sphinx) -> None:
    """Fill in the generated parts of pages as they are read."""
    app.connect("source-read", _expand_generated_parts)
