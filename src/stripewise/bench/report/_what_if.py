# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents surveyed applications on candidate systems as terminal lines and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from stripewise.bench.comparison import Candidate, WhatIf, answer_json
from stripewise.present import finite, number_text, percent_text, plural, seconds_text
from stripewise.present.blocks import Block, Column, Content, Points, Table
from stripewise.present.renderers import as_lines

_BUSY = {"target": "targets", "whole": "storage", "metadata": "metadata server"}


def what_if_lines(found: WhatIf) -> Iterator[str]:
    """Yield a table for each application, then the ranking."""
    survey = found.survey
    lead = "The times are those of the model of each system; nothing was run."
    places = range(len(survey.applications))
    blocks = [block for place in places for block in _application(found, place)]
    return as_lines(Content(survey.title or survey.name, lead, [*blocks, *_ranking(found)]))


def _application(found: WhatIf, place: int) -> Iterator[Block]:
    """Yield the answers for an application, and when all its jobs keep the servers busy."""
    application = found.survey.applications[place]
    answers = [one.answers[place] for one in found.candidates]
    title = f"{application.name}: {application.title}"
    if application.io_seconds:
        title += f"; {seconds_text(application.io_seconds)} where it was profiled"
    columns = (
        Column("system", "System"),
        Column("nodes", "Nodes", "count"),
        Column("seconds", "I/O time", "seconds"),
        Column("interval", "Interval, s", "figure"),
        Column("limit", "Limited by"),
    )
    rows = [
        {
            "system": one.machine,
            "nodes": one.nodes,
            "seconds": None if one.why_not else one.seconds,
            "interval": "–" if one.why_not else _interval(one.low, one.high),
            "limit": one.why_not or one.bottleneck,
        }
        for one in answers
    ]
    yield Table(f"application-{place + 1}", title, columns, rows)
    loads = [
        f"{plural(application.jobs, 'job')} at once keep the {_BUSY[one.busiest]} of "
        f"{one.machine} busy for {percent_text(one.load)} of the time"
        f"{': more than there is, jobs would wait' if one.load > 1 else ''}"
        for one in answers
        if application.jobs > 1 and isfinite(one.load) and one.load >= 0.05
    ]
    if loads:
        yield Points.of(f"load-{place + 1}", "", loads)


def _interval(low: float, high: float) -> str:
    if not (isfinite(low) and isfinite(high)):
        return ""
    return f"[{number_text(low)}, {number_text(high)}]"


def _ranking(found: WhatIf) -> Iterator[Block]:
    columns = (
        Column("system", "System"),
        Column("seconds", "I/O time", "seconds"),
        Column("interval", "Interval, s", "figure"),
        Column("factor", f"Ratio to {found.candidates[0].storage.name}", "factor"),
        Column("factors", "Interval", "figure"),
        Column("best", "Probability of being fastest", "share"),
    )
    rows = [
        {
            "system": one.storage.name,
            "seconds": one.seconds,
            "interval": _interval(one.low, one.high),
            "factor": one.factor,
            "factors": _interval(one.factor_low, one.factor_high),
            "best": one.best,
        }
        for one in found.ranking
    ]
    title = "All jobs of the survey, the least time in I/O first"
    yield Table("ranking", title, columns, rows)
    notes = [
        f"{one.storage.name}: not all applications fit; its sum is of those that do"
        for one in found.candidates
        if any(answer.why_not for answer in one.answers)
    ]
    notes.append(
        "Intervals are of 95 %; they follow from the intervals of the descriptions and of "
        "operations at the server."
    )
    notes += [
        (
            f"{one.storage.name}: {plural(len(one.without_interval), 'assumed figure')} without "
            "an interval, so the true interval is wider"
        )
        for one in found.candidates
        if one.without_interval
    ]
    yield Points.of("notes", "", notes)


def what_if_to_json(found: WhatIf) -> dict[str, Any]:
    """Return all answers and the ranking."""
    document = {
        "survey": {
            "name": found.survey.name,
            "title": found.survey.title,
            "source": found.survey.source,
        },
        "simulated": True,
        "systems": [_candidate_json(one) for one in found.candidates],
        "ranking": [one.storage.name for one in found.ranking],
    }
    result: dict[str, Any] = finite(document)
    return result


def _candidate_json(one: Candidate) -> dict[str, Any]:
    return {
        "name": one.storage.name,
        "seconds": one.seconds,
        "low": one.low,
        "high": one.high,
        "factor": one.factor,
        "factor_low": one.factor_low,
        "factor_high": one.factor_high,
        "fastest": one.best,
        "without_interval": list(one.without_interval),
        "applications": [answer_json(answer) for answer in one.answers],
    }
