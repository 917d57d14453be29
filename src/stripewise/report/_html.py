# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The report of a study as one self-contained HTML page; its tables need no script."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from stripewise.model import JobStudy, StudyResult, TrialState
from stripewise.readers import class_phrase
from stripewise.report import _text
from stripewise.report._apply import recipes
from stripewise.report._digest import (
    baseline_figures,
    baseline_runs,
    best_figures,
    case_results,
    describe_verification,
    digest,
    is_verified,
)
from stripewise.report._evidence import evidence_chart, timeline_chart
from stripewise.report._files import files_section
from stripewise.report._job_page import job_section
from stripewise.report._page import page_template
from stripewise.report._phrases import facts_phrase, part_ratios
from stripewise.report._summary import classes_with_settings, price_phrase
from stripewise.report._text import amount_words, bandwidth_words
from stripewise.report._tunables import effects_chart, tunable_effects
from stripewise.report._verdict import (
    conclusion,
    faster,
    headline,
    outcome_word,
    rejection,
    traffic,
    wide,
)
from stripewise.text import printable
from stripewise.tunables import setting_name

MOST_ROWS = 500
_Part = TypeVar("_Part")
_STATES = {state: state.value for state in TrialState} | {
    TrialState.COMPLETE: "measured",
    TrialState.HOPELESS: "stopped early",
}


def render_html(result: StudyResult, job: JobStudy | None = None) -> str:
    """Render the report of a study as one page, with the rungs of a job script's study.

    The same result gives the same page.  Names of files and whatever a program wrote into
    its messages are data: they are escaped, and control characters made visible.
    """
    effects = tunable_effects(result)
    return page_template("report.html.j2", _FILTERS).render(
        result=result,
        headline=headline(result),
        conclusion=conclusion(result),
        program=_program(result),
        before=baseline_figures(result),
        after=best_figures(result),
        cases=case_results(result) if result.is_ensemble else (),
        speedup=faster(result.speedup) if result.speedup else "",
        price=price_phrase(result.price),
        traffic=traffic(result),
        wide=wide(result.speedup) if result.improved and result.speedup else "",
        verified=is_verified(result),
        verification=describe_verification(result.verification),
        rejections=[rejection(result, n, found) for n, found in result.rejected.items()],
        recipes=recipes(result),
        evidence=_by_case(result, evidence_chart),
        timeline=timeline_chart(result),
        effects_chart=effects_chart(effects),
        effects=effects,
        sections=_by_case(result, files_section),
        facts=facts_phrase(result.facts),
        classes=[class_phrase(one) for one in result.facts.file_classes],
        own_classes=classes_with_settings(result),
        all_facts=_facts(result),
        states=_STATES,
        most_rows=MOST_ROWS,
        job=job_section(job) if job is not None else "",
    )


def _by_case(
    result: StudyResult, make: Callable[[StudyResult], _Part | None]
) -> list[tuple[str, _Part]]:
    """Make a part of the page for each case, under its name; "" in a study of one command."""
    made = [(view.cases, make(view)) for view in case_results(result)]
    return [(cases[0].name if cases else "", part) for cases, part in made if part is not None]


def _program(result: StudyResult) -> str:
    name = result.directory.rstrip("/").rpartition("/")[2]
    return printable(name.removesuffix(".stripewise") or "program")


def _facts(result: StudyResult) -> dict[str, str]:
    """Facts that say something, in words and without the layout of version texts."""
    known = {
        k: v
        for k, v in asdict(result.facts).items()
        if k not in ("patterns", "file_classes") and v not in ("", (), 0, False)
    }
    return {name.replace("_", " "): _fact(value) for name, value in known.items()}


def _fact(value: object) -> str:
    if value is True:
        return "yes"
    if isinstance(value, float):
        return _text.significant(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return " ".join(str(value).split())


def _speedup(ratio: float) -> str:
    """Format a time relative to the baseline's as everywhere: 3.8x."""
    return f"{_text.format_ratio(1 / ratio)}x" if 0 < ratio < math.inf else "–"


_FILTERS: dict[str, Callable[..., Any]] = {
    "name": lambda name: setting_name(name).partition(".")[2] or name,
    "setting_name": setting_name,
    "part_ratios": part_ratios,
    "ratio": lambda value: f"{value:.2f}" if math.isfinite(value) else "–",
    "speedup": _speedup,
    "digest": digest,
    "io_time": partial(amount_words, name="io_seconds"),
    "rate": bandwidth_words,
    "outcome": outcome_word,
    "baseline_runs": baseline_runs,
    "faster": lambda speedup: faster(speedup) if speedup else "",
    "compared": describe_verification,
}
