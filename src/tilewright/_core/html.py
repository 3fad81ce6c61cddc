"""Self-contained HTML pages: one file that includes its style and figures."""

import base64
import html
from typing import TYPE_CHECKING

from tilewright._core.outputs import FileKind
from tilewright._core.plots import png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["HTML", "embedded", "page"]

HTML = FileKind("HTML page", lambda head: head.lstrip().lower().startswith(b"<!doctype html"))


def embedded(figure: "Figure", description: str = "") -> str:
    """The HTML of a figure, with the image inside; `description` is its alternative text."""
    image = base64.b64encode(png(figure)).decode()
    return f'<img alt="{html.escape(description)}" src="data:image/png;base64,{image}">'


def page(title: str, body: str) -> str:
    """A whole page; `title` is plain text, `body` is HTML."""
    return _PAGE.format(title=html.escape(title), body=body)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #2b2b33; max-width: 56rem; margin: 2.5rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.7rem; }} h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
img {{ max-width: 100%; height: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .35rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e6e6ea; }}
th:first-child, td:first-child {{ text-align: left; }}
div.wide {{ overflow-x: auto; width: max-content; min-width: 100%; max-width: 94vw; }}
div.wide {{ margin-left: 50%; transform: translateX(-50%); }}
pre {{ background: #f6f6f8; padding: 1rem; border-radius: 6px; overflow-x: auto; }}
</style></head>
<body><h1>{title}</h1>
{body}
</body></html>
"""
