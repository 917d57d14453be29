# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a study: terminal lines, live progress, JSON and one HTML page."""

from stripewise.report._html import render_html
from stripewise.report._json import configuration_document, result_to_json
from stripewise.report._phrases import best_phrase, facts_phrase, trial_line
from stripewise.report._progress import (
    LineObserver,
    PlainObserver,
    ProgressObserver,
    progress_observer,
)
from stripewise.report._summary import summary_lines

__all__ = [
    "LineObserver",
    "PlainObserver",
    "ProgressObserver",
    "best_phrase",
    "configuration_document",
    "facts_phrase",
    "progress_observer",
    "render_html",
    "result_to_json",
    "summary_lines",
    "trial_line",
]
