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
:root {{ color-scheme: light dark; --ink: #2b2b33; --soft: #6a6a74; --paper: #ffffff; --line: #dcdce2; --box: #f4f4f7;
  --link: #1f5f8f; --good: #1c6b3c; --part: #7a5200; --bad: #9c2b2b; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e4e4ea; --soft: #a2a2ae; --paper: #17171b; --line: #3a3a44; --box: #222229; --link: #86bde6;
    --good: #7fd19b; --part: #e5b95c; --bad: #f08c8c; }}
  img {{ background: #ffffff; border-radius: 6px; }}
}}
body {{ font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 52rem;
  margin: 2.5rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.7rem; line-height: 1.25; }} h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
a {{ color: var(--link); }}
img {{ max-width: 100%; height: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .35rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }}
thead tr:first-child th:first-child, tr:only-child th:first-child, td:first-child {{ text-align: left; }}
thead tr:first-child th[colspan] {{ text-align: center; border-bottom: 1px solid var(--soft); }}
div.wide {{ overflow-x: auto; width: max-content; min-width: 100%; max-width: 94vw; }}
div.wide {{ margin-left: 50%; transform: translateX(-50%); }}
div.wide {{ margin-bottom: 1.2rem; }}
div.wide table {{ font-size: .9rem; }}
td small {{ color: var(--soft); }}
div.wide td:first-child {{ white-space: normal; min-width: 9rem; max-width: 18rem; }}
div.words th, div.words td {{ white-space: normal; text-align: left; vertical-align: top; max-width: 13rem; }}
table.index {{ table-layout: fixed; width: 100%; }}
table.index th, table.index td {{ white-space: normal; text-align: left; vertical-align: top; font-size: .9rem; }}
table.index th:nth-child(1) {{ width: 17%; }} table.index th:nth-child(2) {{ width: 23%; }}
table.index th:nth-child(3) {{ width: 29%; }} table.index th:nth-child(4) {{ width: 9%; }}
body:has(table.index) {{ max-width: 80rem; }}
pre {{ background: var(--box); padding: 1rem; border-radius: 6px; overflow-x: auto; }}
p.verdict {{ background: var(--box); border-left: .3rem solid var(--soft); padding: .6rem .9rem; border-radius: 4px; }}
p.about {{ color: var(--soft); font-size: .9rem; }}
.verdict.reproduced b {{ color: var(--good); }} .verdict.contradicted b {{ color: var(--bad); }}
.verdict.direction-only b, .verdict.not-at-this-scale b {{ color: var(--part); }}
</style></head>
<body><h1>{title}</h1>
{body}
</body></html>
"""
