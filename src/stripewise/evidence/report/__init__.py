# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what a run did to its files: profiles, access patterns and traces."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.report._profile_exports import drishti_csv as drishti_csv
    from stripewise.evidence.report._profile_exports import files_to_csv as files_to_csv
    from stripewise.evidence.report._profile_exports import mpiio_stats_text as mpiio_stats_text
    from stripewise.evidence.report._profile_page import render_profile_html as render_profile_html
    from stripewise.evidence.report._profile_text import print_profile as print_profile
    from stripewise.evidence.report._profile_time import draw_profile as draw_profile
    from stripewise.evidence.report._profile_time import phase_words as phase_words
    from stripewise.evidence.report._trace_exports import write_parquet as write_parquet
    from stripewise.evidence.report._trace_exports import write_trace_events as write_trace_events
    from stripewise.evidence.report._trace_text import info_lines as info_lines
    from stripewise.evidence.report._trace_text import row_as_json as row_as_json
    from stripewise.evidence.report._trace_text import select_rows as select_rows
    from stripewise.evidence.report._trace_text import table_lines as table_lines
    from stripewise.evidence.report._trace_text import trace_info as trace_info
else:
    __getattr__, __all__ = lazy_exports(__name__)
