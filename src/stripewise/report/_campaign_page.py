# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The report of a campaign as one self-contained HTML page; its tables need no script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from math import isfinite
from typing import Any, Protocol

from stripewise.bench import Campaign, CaseFigures, Flag, Limits
from stripewise.report import _chart as chart
from stripewise.report._against import against
from stripewise.report._campaign_charts import chart_sections, picture_note
from stripewise.report._campaign_path import path_picture
from stripewise.report._campaign_tables import (
    cell_axes,
    cell_rows,
    circumstances,
    constants,
    failed_rows,
    hint_rows,
    striping_rows,
)
from stripewise.report._campaign_text import limit_text
from stripewise.report._campaign_words import (
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
from stripewise.report._chart import Chart
from stripewise.report._page import page_template
from stripewise.report._text import format_percent, plural

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
        "error": format_percent(limits.error) if isfinite(limits.error) else "",
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
    "percent": format_percent,
    "hidden": picture_note,
}
