# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of studies, profiles and traces: terminal lines, live progress, JSON, pages, pictures.

A member is imported when it is first asked for, so that a command that only formats a few
figures starts quickly, and so that only pages and pictures need the extra `report`.
"""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports
from stripewise.extras import require

if TYPE_CHECKING:
    from stripewise.report._html import render_html
    from stripewise.report._json import configuration_document, result_to_json
    from stripewise.report._observed import Observation, headline, observation, observed_lines
    from stripewise.report._outputs import write_outputs
    from stripewise.report._phrases import best_phrase, facts_phrase, trial_line
    from stripewise.report._profile_drishti import drishti_csv
    from stripewise.report._profile_html import render_profile_html, write_profile_html
    from stripewise.report._profile_json import files_to_csv, findings_to_json, profile_to_json
    from stripewise.report._profile_mpiio import mpiio_stats_text
    from stripewise.report._profile_text import print_profile
    from stripewise.report._progress import (
        LineObserver,
        PlainObserver,
        ProgressObserver,
        progress_observer,
    )
    from stripewise.report._summary import summary_lines
    from stripewise.report._surface import surface_lines, surface_to_json
    from stripewise.report._surface_picture import draw_surface
    from stripewise.report._text import (
        format_bandwidth,
        format_bytes,
        format_seconds,
        format_settings,
        plural,
    )
    from stripewise.report._time_charts import draw_profile
    from stripewise.report._trace_events import write_trace_events
    from stripewise.report._trace_info import info_lines, trace_info
    from stripewise.report._trace_parquet import write_parquet
    from stripewise.report._trace_rows import row_as_json, select_rows, table_lines
else:
    _find = lazy_exports(__name__)
    _PAGES_AND_PICTURES = (
        "draw_profile",
        "draw_surface",
        "render_html",
        "render_profile_html",
        "write_profile_html",
    )

    def __getattr__(name: str) -> object:
        if name in _PAGES_AND_PICTURES:
            require("report", "a page or a picture")
        return _find(name)


__all__ = [
    "LineObserver",
    "Observation",
    "PlainObserver",
    "ProgressObserver",
    "best_phrase",
    "configuration_document",
    "draw_profile",
    "draw_surface",
    "drishti_csv",
    "facts_phrase",
    "files_to_csv",
    "findings_to_json",
    "format_bandwidth",
    "format_bytes",
    "format_seconds",
    "format_settings",
    "headline",
    "info_lines",
    "mpiio_stats_text",
    "observation",
    "observed_lines",
    "plural",
    "print_profile",
    "profile_to_json",
    "progress_observer",
    "render_html",
    "render_profile_html",
    "result_to_json",
    "row_as_json",
    "select_rows",
    "summary_lines",
    "surface_lines",
    "surface_to_json",
    "table_lines",
    "trace_info",
    "trial_line",
    "write_outputs",
    "write_parquet",
    "write_profile_html",
    "write_trace_events",
]
