# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures as inline SVG: colours from the page's style sheet, text as text, fixed ids.

Matplotlib draws with stand-in colours; each becomes a CSS variable, so that one figure
serves light and dark pages.  The same study gives the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, GRID = "#010203", "#010204", "#010205"
BASELINE, BEST, TRIAL = "#010206", "#010207", "#010208"
WARM_UP, TROUBLE, PAPER = "#010209", "#01020a", "#01020b"
_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--line",
    BASELINE: "--baseline",
    BEST: "--best",
    TRIAL: "--trial",
    WARM_UP: "--warm-up",
    TROUBLE: "--trouble",
    PAPER: "--paper",
}
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 11.0,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 11.0,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid.axis": "x",
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.color": GRID,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 11.0,
    "axes.unicode_minus": True,
}


def draw(
    name: str,
    size_inches: tuple[float, float],
    description: str,
    paint: Callable[[Figure], None],
) -> Markup:
    """Draw one figure.

    Args:
        name: Unique on the page; prefix of all ids.
        size_inches: Width and height; the figure is scaled to the page.
        description: What a reader who cannot see it should know.
        paint: Adds axes and data to the empty figure.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "svg.hashsalt": f"stripewise-{name}"}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size_inches, layout="constrained", facecolor="none")
        FigureCanvasSVG(figure)
        paint(figure)
        for axes in figure.axes:
            axes.set_facecolor("none")
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    return Markup(_embed(buffer.getvalue(), name, description))  # our own SVG, escaped


def _embed(svg: str, name: str, description: str) -> str:
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.S)
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.S)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"(font: [^;\"]*?[\d.]+px) [^;\"]+", r"\1 var(--font)", body)
    body = re.sub(r"font-family: [^;\"]+", "font-family: var(--font)", body)
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    head_end = body.index(">")
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", body[:head_end])
    title = f'<title id="{name}-title">{escape(description)}</title>'
    return f'{head} role="img" aria-labelledby="{name}-title">{title}{body[head_end + 1 :]}'
