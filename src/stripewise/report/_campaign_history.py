# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nights in a row: lines for a terminal, JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stripewise.bench import Finding, History, day_of
from stripewise.text import finite


def history_headline(history: History) -> str:
    """Return the verdict in one line."""
    if history.verdict == "slower":
        worst = history.open_findings[0]
        return f"Slower {worst.sentence.split(':')[0].split(',')[0]}"
    return "Nothing is slower" if history.verdict == "unchanged" else "Still learning"


def history_lines(history: History) -> Iterator[str]:
    """Yield the verdict for a terminal, and what changed before."""
    yield from history.sentences
    closed = [one for one in history.findings if not one.is_open]
    if closed:
        yield "earlier changes:"
        yield from (f"  {one.sentence}" for one in closed[:20])


def history_to_json(history: History) -> dict[str, Any]:
    """Return the verdict, all changes, and each night's figures."""
    document = {
        "name": history.name,
        "verdict": history.verdict,
        "sentences": list(history.sentences),
        "nights": [
            {
                "file": one.file,
                "started_unix_seconds": one.started_unix_seconds,
                "failed": one.failed,
                "versions": dict(one.versions),
            }
            for one in history.nights
        ],
        "changes": [_finding_json(one) for one in history.findings],
    }
    result: dict[str, Any] = finite(document)
    return result


def _finding_json(one: Finding) -> dict[str, Any]:
    return {
        "case": one.series.case,
        "operation": one.series.operation,
        "target": one.series.target if one.series.target >= 0 else None,
        "since": day_of(one.since_unix_seconds),
        "since_night": one.since,
        "earliest_night": one.earliest,
        "latest_night": one.latest,
        "found_night": one.found,
        "ratio": one.ratio,
        "low": one.low,
        "high": one.high,
        "versions": list(one.versions),
        "is_open": one.is_open,
        "sentence": one.sentence,
    }
