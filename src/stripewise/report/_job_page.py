# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The study of a job script as a section of the report's page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from stripewise.model import JobStudy
from stripewise.report._job_charts import job_charts
from stripewise.report._job_mpiio import figure_text
from stripewise.report._job_payback import payback
from stripewise.report._job_rungs import (
    place,
    size_or_dash,
    speedup_text,
    state_word,
    what_was_set,
)
from stripewise.report._job_words import against, conclusions, decisions, job_headline
from stripewise.report._page import page_template

MOST_ROWS = 500
_FILTERS: dict[str, Callable[..., Any]] = {
    "place": place,
    "settings_of": what_was_set,
    "state_word": state_word,
    "run_speedup": speedup_text,
    "size_or_dash": size_or_dash,
    "figure": figure_text,
}


def job_section(study: JobStudy) -> str:
    """Render the section, safe to stand in a page: names and messages are escaped."""
    return Markup(  # a template that escapes made it
        page_template("job.html.j2", _FILTERS).render(
            study=study,
            headline=job_headline(study),
            against=against(study),
            conclusions=conclusions(study),
            charts=list(job_charts(study).values()),
            paid=payback(study),
            decisions=decisions(study)[:MOST_ROWS],
            most_rows=MOST_ROWS,
        )
    )
