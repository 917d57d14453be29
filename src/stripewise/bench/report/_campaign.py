# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows a campaign in the terminal and as one self-contained page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from math import isfinite
from typing import Any, Protocol

from stripewise.bench.campaign import Campaign, CaseFigures, Flag
from stripewise.bench.limits import Limit, Limits
from stripewise.bench.report._charts import chart_sections, picture_note
from stripewise.bench.report._path import path_picture
from stripewise.bench.report._sentences import (
    MADE,
    doubts_of,
    headline,
    how_made,
    law_words,
    protections,
    storage_words,
    summary,
    untold_words,
)
from stripewise.bench.report._tables import (
    cell_axes,
    cell_rows,
    circumstances,
    constants,
    failed_rows,
    hint_rows,
    striping_rows,
)
from stripewise.present import (
    Chart,
    TextTable,
    against,
    chart,
    labelled,
    line,
    number_text,
    operations_text,
    page_template,
    percent_text,
    plural,
    printable,
    rate_text,
    seconds_text,
)
from stripewise.storage.machines import SPEC_OF, Dimension

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
        return operations_text(value)
    dimension = SPEC_OF[figure].dimension if figure in SPEC_OF else Dimension.BANDWIDTH
    if dimension is Dimension.BANDWIDTH:
        return rate_text(value)
    return seconds_text(value) if dimension is Dimension.TIME else number_text(value)


# The report of a campaign as one self-contained HTML page; its tables need no script.

MOST_ROWS = 5000
"""Of the table of cells; CSV and Parquet have all."""

MOST_SENTENCES = 50
"""Of one flag."""

_MOST_FAILED = 500


class Advice(Protocol):
    """What the page needs of a piece of advice."""

    @property
    def topic(self) -> str:
        """Heading under which users find it."""

    @property
    def sentence(self) -> str:
        """The advice in their words, with its figure."""

    @property
    def is_warning(self) -> bool:
        """Whether it says what not to do."""


def render_campaign(
    campaign: Campaign,
    figures: Sequence[CaseFigures],
    limits: Limits | None = None,
    advice: Sequence[Advice] = (),
    *,
    flags: Sequence[Flag] = (),
    why_no_limits: str = "",
) -> str:
    """Render the page of a campaign; the same campaign gives the same page.

    Args:
        campaign: That was made or imported; its texts are data and are escaped.
        figures: Of its cells.
        limits: That it tells; None: the page has none.
        advice: To users of the storage, each with its figure.
        flags: Reasons to doubt the campaign as a whole.
        why_no_limits: Why the campaign does not tell limits, for people; "": nothing is said.
    """
    axes = cell_axes(campaign)
    rows = list(islice(cell_rows(campaign, figures), MOST_ROWS + 1))
    failed = failed_rows(campaign)
    return page_template("campaign.html.j2", _FILTERS).render(
        campaign=campaign,
        headline=headline(figures),
        storage=storage_words(campaign),
        badges=_badges(campaign, figures),
        how=how_made(campaign),
        constants=constants(campaign),
        summary=summary(campaign, figures, flags),
        advice=list(advice),
        sections=chart_sections(campaign, figures),
        limits=_limits(campaign, limits),
        why_no_limits=why_no_limits,
        doubts=doubts_of(campaign, figures),
        most_sentences=MOST_SENTENCES,
        axes=axes,
        rows=rows[:MOST_ROWS],
        has_more=len(rows) > MOST_ROWS,
        failed=failed[:_MOST_FAILED],
        n_failed=len(failed),
        striping=striping_rows(campaign),
        hints=hint_rows(campaign)[:_MOST_FAILED],
        protections=protections(campaign),
        circumstances=circumstances(campaign),
    )


def _badges(campaign: Campaign, figures: Sequence[CaseFigures]) -> list[tuple[str, str]]:
    made = how_made(campaign)
    found = [("ok", "measured")] if made == MADE else [("warn", made)]
    if not campaign.ended_because:
        found.append(("warn", "has not ended"))
    if doubtful := sum(bool(one.flags) for one in figures):
        found.append(("warn", f"{plural(doubtful, 'figure')} with doubts"))
    if failed := sum(run.status != "ok" for run in campaign.runs):
        found.append(("bad", f"{plural(failed, 'failed run')}"))
    return found


def _limits(campaign: Campaign, limits: Limits | None) -> dict[str, Any] | None:
    if limits is None:
        return None
    rows = [
        {
            "figure": one.figure, "value": limit_text(one.figure, one.value), "order": one.value,
            "low": limit_text(one.figure, one.low), "high": limit_text(one.figure, one.high),
            "sentence": one.sentence, "cells": len(one.evidence),
        }
        for one in limits.limits
    ]  # fmt: skip
    return {
        "path": path_picture(campaign, limits), "rows": rows,
        "laws": [(one, law_words(one)) for one in limits.laws],
        "untold": untold_words(limits.untold), "predicted": predicted_chart(limits),
        "error": percent_text(limits.error) if isfinite(limits.error) else "",
    }  # fmt: skip


def predicted_chart(limits: Limits) -> Chart | None:
    """Draw the measured cells against what the fitted description predicts."""
    gib = float(1 << 30)
    rows = [
        {"measured": one.measured / gib, "predicted": one.predicted / gib, "set": one.operation,
         "cell": one.key, "fitted": "left out of the fit" if one.left_out else "in the fit"}
        for one in limits.predicted
        if isfinite(one.measured + one.predicted) and min(one.measured, one.predicted) > 0
    ]  # fmt: skip
    if not rows:
        return None
    spec = against(rows[:MOST_ROWS], "GiB/s", "Cells as the fitted description predicts them",
                   shapes=("in the fit", "left out of the fit"))  # fmt: skip
    spec["height"] = 320
    words = f"{plural(len(rows), 'cell')}: predicted against measured bandwidth."
    return Chart(chart.column(spec), words)


_FILTERS: dict[str, Callable[..., Any]] = {
    "percent": percent_text,
    "hidden": picture_note,
}
