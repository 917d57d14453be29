# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a study and of a profile: terminal lines, live progress, JSON, HTML pages.

Observers stand on the study room, which loads SciPy, and profiles on the diagnosis; they are
imported when first asked for, so that a command that only formats a few figures starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from stripewise.report._html import render_html
from stripewise.report._json import configuration_document, result_to_json
from stripewise.report._phrases import best_phrase, facts_phrase, trial_line
from stripewise.report._summary import summary_lines
from stripewise.report._surface import surface_lines, surface_to_json
from stripewise.report._surface_picture import draw_surface

if TYPE_CHECKING:
    from stripewise.report._profile_figure import draw_profile
    from stripewise.report._profile_html import render_profile_html, write_profile_html
    from stripewise.report._progress import (
        LineObserver,
        PlainObserver,
        ProgressObserver,
        progress_observer,
    )

__all__ = [
    "LineObserver",
    "PlainObserver",
    "ProgressObserver",
    "best_phrase",
    "configuration_document",
    "draw_profile",
    "draw_surface",
    "facts_phrase",
    "progress_observer",
    "render_html",
    "render_profile_html",
    "result_to_json",
    "summary_lines",
    "surface_lines",
    "surface_to_json",
    "trial_line",
    "write_profile_html",
]
_HOMES = {
    "draw_profile": "_profile_figure",
    "render_profile_html": "_profile_html",
    "write_profile_html": "_profile_html",
}


def __getattr__(name: str) -> object:
    if name in __all__:
        home = _HOMES.get(name, "_progress")
        return getattr(import_module(f"stripewise.report.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
