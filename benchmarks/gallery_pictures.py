# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the gallery: small SVG files, with several campaigns side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.bench.campaign import Campaign, figures_of
from stripewise.bench.limits import find_limits
from stripewise.bench.report import draw_campaign, draw_limits

MOST_BYTES = 60_000
"""Maximum size of a picture in bytes."""

_NEEDLESS = re.compile(
    r' (?:aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"| opacity="1"'
    r'| class="(?:mark|role|concat|layer)[^"]*"'
)
_EMPTY = re.compile(r'<path class="(?:background|foreground)"[^>]*d="(?:M0,0h0v0h0Z)?"[^>]*/>')
_DIGITS = re.compile(r"(\d\.\d)\d{2,}")


def together(parts: Sequence[tuple[str, Campaign]]) -> Campaign:
    """Return several campaigns of the same suite as one, with a separate series for each.

    Args:
        parts: Name of the series with its campaign; all on one storage or its variants.  If the
            campaign has several series, their names are appended.
    """
    cases, runs = [], []
    for name, campaign in parts:
        several = len({case.series for case in campaign.suite.cases}) > 1
        for case, made in campaign.of_cases():
            one = replace(case, series=f"{name}, {case.series}" if several else name)
            cases.append(one)
            runs += [replace(run, key=one.key) for run in made]
    first = parts[0][1]
    suite = replace(first.suite, cases=tuple(dict.fromkeys(cases)))
    return replace(first, suite=suite, runs=tuple(runs))


def draw(campaign: Campaign, path: Path, chart: str, operation: str = "") -> str:
    """Draw a chart of a campaign as a small SVG file, and return its description.

    Raises:
        StripewiseError: The campaign has no such chart.
    """
    if chart == "limits":
        words = draw_limits(campaign, find_limits([campaign]), path)
    else:
        words = draw_campaign(
            campaign, figures_of(campaign), path, kind=chart, operation=operation
        )
    path.write_text(smaller(path.read_text("utf-8")), encoding="utf-8")
    return words


def smaller(svg: str) -> str:
    """Return a drawing without invisible details: hundredths of a point, texts of single marks."""
    head, tag, body = svg.partition(">")

    def shorten(found: re.Match[str]) -> str:
        return _DIGITS.sub(r"\1", _NEEDLESS.sub("", found[0]))

    fonts = re.findall(r' font-family="[^"]*"', body)
    head += fonts[0] if fonts and "font-family" not in head else ""
    body = re.sub(r"<[^>]*>", shorten, body)
    body = _EMPTY.sub("", body)
    while "<g></g>" in body:
        body = body.replace("<g></g>", "")
    return head + tag + body
