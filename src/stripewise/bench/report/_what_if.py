# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Surveyed applications on candidate systems: lines for a terminal, JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from stripewise.bench.comparison import Answer, Candidate, WhatIf, answer_json
from stripewise.present import (
    aligned,
    count_text,
    finite,
    number_text,
    percent_text,
    plural,
    ratio_text,
    seconds_text,
)


def what_if_lines(found: WhatIf) -> Iterator[str]:
    """Yield a table for each application, then the ranking."""
    survey = found.survey
    yield f"{survey.title or survey.name}, in the model of each system; nothing was run"
    for place, application in enumerate(survey.applications):
        yield ""
        profiled = (
            f"; {seconds_text(application.io_seconds)} where it was profiled"
            if application.io_seconds
            else ""
        )
        yield f"{application.name}: {application.title}{profiled}"
        rows = [["  system", "nodes", "I/O time", "interval", "limited by"]]
        rows += [_row(one.answers[place]) for one in found.candidates]
        yield from aligned(rows)
        yield from _loads(found, place)
    yield ""
    yield from _ranking(found)


def _row(one: Answer) -> list[str]:
    if one.why_not:
        return [f"  {one.machine}", f"{count_text(one.nodes)}", "–", "–", one.why_not]
    return [
        f"  {one.machine}", f"{count_text(one.nodes)}", seconds_text(one.seconds),
        _interval(one.low, one.high), one.bottleneck,
    ]  # fmt: skip


def _interval(low: float, high: float) -> str:
    if not (isfinite(low) and isfinite(high)):
        return ""
    return f"[{number_text(low)}, {number_text(high)}]"


def _loads(found: WhatIf, place: int) -> Iterator[str]:
    """Say where all jobs at once would keep the servers busy."""
    words = {"target": "targets", "whole": "storage", "metadata": "metadata server"}
    for one in found.candidates:
        answer = one.answers[place]
        jobs = answer.application.jobs
        if jobs > 1 and isfinite(answer.load) and answer.load >= 0.05:
            more = ": more than there is, jobs would wait" if answer.load > 1 else ""
            yield (
                f"  {plural(jobs, 'job')} at once keep the {words[answer.busiest]} of "
                f"{answer.machine} busy for {percent_text(answer.load)} of the time{more}"
            )


def _ranking(found: WhatIf) -> Iterator[str]:
    first = found.candidates[0].storage.name
    yield "all jobs of the survey, the least time in I/O first:"
    rows = [
        ["  system", "I/O time", "interval", f"factor to {first}", "interval", "is the fastest"]
    ]
    rows += [
        [
            f"  {one.storage.name}", seconds_text(one.seconds), _interval(one.low, one.high),
            f"{ratio_text(one.factor)}x", _interval(one.factor_low, one.factor_high),
            percent_text(one.best),
        ]
        for one in found.ranking
    ]  # fmt: skip
    yield from aligned(rows)
    for one in found.candidates:
        if any(answer.why_not for answer in one.answers):
            yield f"{one.storage.name}: not all applications fit; its sum is of those that do"
    yield "intervals: of 95 %, from those of the descriptions and of operations at the server"
    for one in found.candidates:
        if one.without_interval:
            number = plural(len(one.without_interval), "assumed figure")
            yield f"{one.storage.name}: {number} without an interval: the true one is wider"


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
