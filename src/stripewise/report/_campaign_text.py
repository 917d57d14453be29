# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from stripewise.bench import Campaign, CaseFigures, Flag, Limit, Limits
from stripewise.machines import SPEC_OF, Dimension
from stripewise.report._campaign_tables import cell_axes, cell_rows, failed_rows
from stripewise.report._campaign_words import (
    doubts_of,
    law_words,
    storage_words,
    summary,
    untold_words,
)
from stripewise.report._columns import TextTable, labelled, line
from stripewise.report._text import (
    format_bandwidth,
    format_seconds,
    plural,
    significant,
)
from stripewise.text import printable

MOST_CELLS = 60
_OPERATIONS = tuple(f"metadata.{name}" for name in ("open", "create", "stat", "remove"))
_MOST_SENTENCES = 5


def campaign_lines(
    campaign: Campaign,
    figures: Sequence[CaseFigures],
    limits: Limits | None = None,
    *,
    flags: Sequence[Flag] = (),
    most_cells: int = MOST_CELLS,
) -> list[str]:
    """Say what a campaign found: its summary, a table of cells, doubts, failures and limits.

    Args:
        campaign: That was made or imported.
        figures: Of its cells.
        limits: That it tells; None: nothing is said of them.
        flags: Reasons to doubt the campaign as a whole.
        most_cells: Rows of the table; 0: all.
    """
    lines = [
        *summary_of_campaign(campaign, figures, flags),
        "",
        *_table(campaign, figures, most_cells),
    ]
    lines += _doubts(campaign, figures)
    failed = [f"{cell}, run {runs}: {status}: {why}"
              for cell, runs, status, why in failed_rows(campaign)]  # fmt: skip
    lines += labelled("failed", _some(failed))
    return lines + (limit_lines(limits) if limits is not None else [])


def summary_of_campaign(
    campaign: Campaign, figures: Sequence[CaseFigures], flags: Sequence[Flag] = ()
) -> list[str]:
    """Say what was measured on what, the peaks, what is doubtful and what failed."""
    suite = campaign.suite
    return [
        line("campaign", f"{printable(campaign.name)}   {printable(suite.title or suite.name)}"),
        line("storage", storage_words(campaign)),
        *labelled("found", summary(campaign, figures, flags)),
    ]


def _table(campaign: Campaign, figures: Sequence[CaseFigures], most: int) -> list[str]:
    axes = cell_axes(campaign)
    every = list(cell_rows(campaign, figures))
    shown = every[:most] if most else every
    headings = ["series", *(axis.title for axis in axes), "", "median", "interval, 95 %", "best",
                "spread", "runs", "doubts"]  # fmt: skip
    rows = [
        [row.series, *row.values, row.operation, row.median or row.trouble, row.interval,
         row.best, row.spread, row.runs, row.doubts]
        for row in shown
    ]  # fmt: skip
    left = frozenset([*range(len(axes) + 2), len(headings) - 1])
    blocks = TextTable(headings, rows, keys=1, left=left).blocks()
    lines = [f" {text}" for block in blocks for text in block]
    if len(every) > len(shown):
        rest = plural(len(every) - len(shown), "row")
        lines.append(f" {rest} more: write them with `stripewise bench report --csv FILE`")
    return lines


def _doubts(campaign: Campaign, figures: Sequence[CaseFigures]) -> list[str]:
    texts = [
        f"{printable(doubt.name)}: {cell}: {printable(text)}"
        for doubt in doubts_of(campaign, figures)
        for cell, text in islice(doubt.cells, _MOST_SENTENCES)
    ]
    return labelled("doubtful", _some(texts))


def _some(texts: Sequence[str], most: int = 2 * _MOST_SENTENCES) -> list[str]:
    rest = len(texts) - most
    return [*texts[:most], f"and {rest} more"] if rest > 0 else list(texts)


def limit_lines(limits: Limits) -> list[str]:
    """Say the limits, the laws that hold and those that do not, and what is not told."""
    lines = labelled("limits", [_limit(one) for one in limits.limits])
    lines += labelled("laws", map(law_words, limits.laws))
    untold = [f"{figures}: {why}" for figures, why in untold_words(limits.untold)]
    return lines + labelled("not told", untold)


def _limit(one: Limit) -> str:
    shown, low, high = (limit_text(one.figure, value) for value in (one.value, one.low, one.high))
    return f"{one.figure:<24} {shown} [{low} – {high}]   {printable(one.sentence)}"


def limit_text(figure: str, value: float) -> str:
    """Format the value of a limit: metadata operations a second, or the figure in its unit."""
    if figure in _OPERATIONS:
        return f"{significant(value)} operations/s"
    dimension = SPEC_OF[figure].dimension if figure in SPEC_OF else Dimension.BANDWIDTH
    if dimension is Dimension.BANDWIDTH:
        return format_bandwidth(value)
    return format_seconds(value) if dimension is Dimension.TIME else significant(value)
