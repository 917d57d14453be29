# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents a campaign in the terminal and as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from stripewise.bench.campaign import Campaign, CaseFigures, Flag
from stripewise.bench.limits import Limit, Limits
from stripewise.bench.report._charts import chart_sections
from stripewise.bench.report._path import path_chart
from stripewise.bench.report._sentences import (
    MADE,
    doubts_of,
    headline,
    how_made,
    law_words,
    protections,
    storage_words,
    summary,
    undetermined_words,
)
from stripewise.bench.report._tables import (
    cell_table,
    circumstances,
    constants,
    failed_rows,
    failed_table,
    striping_section,
)
from stripewise.present import (
    Chart,
    against,
    chart,
    labelled,
    line,
    number_text,
    operations_text,
    percent_text,
    plural,
    printable,
    rate_text,
    seconds_text,
)
from stripewise.present.blocks import (
    Block,
    Column,
    Content,
    Drawings,
    Fact,
    Facts,
    Lines,
    Notice,
    Point,
    Points,
    Section,
    Table,
    moment,
)
from stripewise.present.renderers import as_page, block_lines, slug
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
    """Return what a campaign found: summary, table of cells, doubts, failures and limits.

    Args:
        campaign: Campaign that was made or imported.
        figures: Figures of its cells.
        limits: Limits that it shows; None to leave them out.
        flags: Reasons to doubt the campaign as a whole.
        most_cells: Maximum number of rows of the table; 0 for all.
    """
    lines = [
        *summary_of_campaign(campaign, figures, flags),
        "",
        *(f" {text}" for text in block_lines(cell_table(campaign, figures, most_cells))),
    ]
    lines += _doubts(campaign, figures)
    failed = ["{cell}, run {runs}: {status}: {why}".format(**row)
              for row in failed_rows(campaign)]  # fmt: skip
    lines += labelled("failed", _first_texts(failed))
    return lines + (limit_lines(limits) if limits is not None else [])


def summary_of_campaign(
    campaign: Campaign, figures: Sequence[CaseFigures], flags: Sequence[Flag] = ()
) -> list[str]:
    """Return what was measured on what, the peaks, what is doubtful and what failed."""
    suite = campaign.suite
    return [
        line("campaign", f"{printable(campaign.name)}   {printable(suite.title or suite.name)}"),
        line("storage", storage_words(campaign)),
        *labelled("found", summary(campaign, figures, flags)),
    ]


def _doubts(campaign: Campaign, figures: Sequence[CaseFigures]) -> list[str]:
    texts = [
        f"{printable(name)}: {cell}: {printable(text)}"
        for name, cells in doubts_of(campaign, figures).items()
        for cell, text in cells[:_MOST_SENTENCES]
    ]
    return labelled("doubtful", _first_texts(texts))


def _first_texts(texts: Sequence[str], most: int = 2 * _MOST_SENTENCES) -> list[str]:
    rest = len(texts) - most
    return [*texts[:most], f"and {rest} more"] if rest > 0 else list(texts)


def limit_lines(limits: Limits) -> list[str]:
    """Return the limits, the laws that are valid or not, and what is unknown."""
    lines = labelled("limits", [_limit(one) for one in limits.limits])
    lines += labelled("laws", map(law_words, limits.laws))
    undetermined = [
        f"{figures}: {why}" for figures, why in undetermined_words(limits.undetermined)
    ]
    return lines + labelled("unknown", undetermined)


def _limit(one: Limit) -> str:
    shown, low, high = (limit_text(one.figure, value) for value in (one.value, one.low, one.high))
    return f"{one.figure:<24} {shown} [{low} – {high}]   {printable(one.sentence)}"


def limit_text(figure: str, value: float) -> str:
    """Return a limit's value in words: metadata operations per second, or the figure's unit."""
    if figure in _OPERATIONS:
        return operations_text(value)
    dimension = SPEC_OF[figure].dimension if figure in SPEC_OF else Dimension.BANDWIDTH
    if dimension is Dimension.BANDWIDTH:
        return rate_text(value)
    return seconds_text(value) if dimension is Dimension.TIME else number_text(value)


# The report of a campaign as one self-contained HTML page; its tables need no script.

MOST_ROWS = 5000
"""Maximum number of rows in the table of cells; CSV and Parquet contain all."""

MOST_SENTENCES = 50
"""Maximum number of sentences of one flag."""

_MOST_OPEN = 8
"""Maximum number of sentences of one doubt that are shown unfolded."""


def render_campaign(
    campaign: Campaign,
    figures: Sequence[CaseFigures],
    limits: Limits | None = None,
    *,
    flags: Sequence[Flag] = (),
    why_no_limits: str = "",
) -> str:
    """Return the HTML page of a campaign; the same campaign gives the same page.

    Args:
        campaign: Campaign that was made or imported; its texts are data and are escaped.
        figures: Figures of its cells.
        limits: Limits that it shows; None to leave them out.
        flags: Reasons to doubt the campaign as a whole.
        why_no_limits: Why the campaign shows no limits, for users; empty to say nothing.
    """
    suite = campaign.suite
    title = suite.title or suite.name
    subject = [f"Campaign · {campaign.name}"]
    subject += [f"suite {suite.name}"] if suite.name != campaign.name else []
    subject += [f"{when} UTC"] if (when := moment(campaign.started_unix_seconds)) else []
    blocks = [
        _summary(campaign, figures, flags),
        *_limits(campaign, limits, why_no_limits),
        *chart_sections(campaign, figures),
        *_doubtful(campaign, figures),
        *failed_table(campaign),
        cell_table(campaign, figures, MOST_ROWS),
        *striping_section(campaign),
        _circumstances(campaign),
    ]
    return as_page(
        Content(
            headline(figures),
            f"{title}, on {storage_words(campaign)}.",
            blocks,
            subject=" · ".join(subject),
            badges=_badges(campaign, figures),
        )
    )


def _summary(campaign: Campaign, figures: Sequence[CaseFigures], flags: Sequence[Flag]) -> Section:
    about = " ".join(campaign.suite.about.split())
    points = [Point(text) for text in summary(campaign, figures, flags)]
    blocks: list[Block] = [Points("found", "", points, about)]
    blocks += _pairs("constants", "The same in all cells", constants(campaign))
    return Section("summary", "Summary", blocks)


def _pairs(name: str, title: str, values: Mapping[str, str]) -> Iterator[Block]:
    if values:
        yield Facts(name, title, [Fact(slug(what), what, value) for what, value in values.items()])


def _limits(campaign: Campaign, limits: Limits | None, why_not: str) -> Iterator[Block]:
    blocks: list[Block] = []
    if why_not:
        blocks.append(
            Notice(
                "none", "", [f"The campaign does not show the limits of the storage: {why_not}"]
            )
        )
    if limits is not None:
        blocks += _limit_blocks(campaign, limits)
    if blocks:
        yield Section("limits", "Limits", blocks)


def _limit_blocks(campaign: Campaign, limits: Limits) -> Iterator[Block]:
    if path := path_chart(campaign, limits):
        yield Drawings("path", "", [path], _PATH_NOTE)
    if limits.limits:
        yield _limit_table(limits)
    if limits.laws:
        laws = [
            Point(
                (words := law_words(one))[:1].upper() + words[1:],
                "good" if one.holds else "bad",
                note=f"{plural(len(one.evidence), 'cell')} show it.",
            )
            for one in limits.laws
        ]
        yield Points("laws", "Laws", laws)
    if limits.undetermined:
        texts = [f"{figures}: {why}" for figures, why in undetermined_words(limits.undetermined)]
        yield Points.of("untold", "What the campaign does not show", texts)
    if predicted := predicted_chart(limits):
        error = (
            (
                "Cells that were left out of the fit are predicted with a median error of "
                f"{percent_text(limits.error)}."
            )
            if isfinite(limits.error)
            else ""
        )
        yield Drawings(
            "predicted", "Predictions with these limits", [predicted], error, is_grid=True
        )


_PATH_NOTE = (
    "The data path of the largest job, with the total bandwidth of each part, on a "
    "logarithmic axis. The narrowest part limits a job that writes a file per process."
)


def _limit_table(limits: Limits) -> Table:
    columns = (
        Column("figure", "Figure", "code"),
        Column("value", "Value", "figure", order="order"),
        Column("low", "From", "figure"),
        Column("high", "To", "figure"),
        Column("sentence", "What it is and where it was seen"),
        Column("cells", "Cells", "count", order="cells"),
    )
    rows = [
        {
            "figure": one.figure, "value": limit_text(one.figure, one.value), "order": one.value,
            "low": limit_text(one.figure, one.low), "high": limit_text(one.figure, one.high),
            "sentence": one.sentence, "cells": len(one.evidence),
        }
        for one in limits.limits
    ]  # fmt: skip
    total = f"{plural(len(rows), 'limit')} with intervals of 95 %"
    return Table("figures", "", columns, rows, total=total, is_sortable=True)


def _doubtful(campaign: Campaign, figures: Sequence[CaseFigures]) -> Iterator[Block]:
    blocks: list[Block] = []
    for name, cells in doubts_of(campaign, figures).items():
        texts = [f"{cell}. {text}" for cell, text in cells[:MOST_SENTENCES]]
        if (more := len(cells) - MOST_SENTENCES) > 0:
            texts.append(f"and {more} more: see the table of cells.")
        key = f"doubt-{slug(name)}"
        title = f"{name}: {plural(len(cells), 'figure')}"
        points = Points.of(f"{key}-cells", "", texts)
        blocks.append(Section(key, title, [points], len(cells) > _MOST_OPEN))
    if blocks:
        note = Notice("doubts-note", "", [
            (
                "Charts and tables show these figures as measured; the sentences below say why "
                "they are not reliable."
            )
        ])  # fmt: skip
        yield Section("doubts", "Doubts", [note, *blocks])


def _circumstances(campaign: Campaign) -> Section:
    honest = Points.of("honest", "How errors were avoided", protections(campaign))
    blocks: list[Block] = [honest]
    blocks += _pairs("of-runs", "Conditions of all runs together", circumstances(campaign))
    if campaign.suite.text:
        suite = Lines("suite-text", "", campaign.suite.text.splitlines())
        blocks.append(Section("suite", "The suite", [suite], is_folded=True))
    return Section("circumstances", "How it was measured", blocks)


def _badges(campaign: Campaign, figures: Sequence[CaseFigures]) -> list[tuple[str, str]]:
    made = how_made(campaign)
    found = [("ok", "measured")] if made == MADE else [("warn", made)]
    if not campaign.ended_because:
        found.append(("warn", "has not ended"))
    if doubtful := sum(bool(one.flags) for one in figures):
        found.append(("warn", f"{plural(doubtful, 'doubtful figure')}"))
    if failed := sum(run.status != "ok" for run in campaign.runs):
        found.append(("bad", f"{plural(failed, 'failed run')}"))
    return found


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
