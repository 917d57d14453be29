# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what a run did to its files: profiles, access patterns and traces."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.report._profile_blocks import NO_PATTERNS as NO_PATTERNS
    from stripewise.evidence.report._profile_blocks import advices as advices
    from stripewise.evidence.report._profile_blocks import facts as facts
    from stripewise.evidence.report._profile_blocks import files_table as files_table
    from stripewise.evidence.report._profile_blocks import size_bars as size_bars
    from stripewise.evidence.report._profile_blocks import summed as summed
    from stripewise.evidence.report._profile_exports import drishti_csv as drishti_csv
    from stripewise.evidence.report._profile_exports import files_to_csv as files_to_csv
    from stripewise.evidence.report._profile_exports import mpiio_stats_text as mpiio_stats_text
    from stripewise.evidence.report._profile_patterns import pattern_heading as pattern_heading
    from stripewise.evidence.report._profile_report import profile_content as profile_content
    from stripewise.evidence.report._profile_report import profile_page as profile_page
    from stripewise.evidence.report._profile_time import draw_profile as draw_profile
    from stripewise.evidence.report._profile_time import phases as phases
    from stripewise.evidence.report._profile_time import rank_cells as rank_cells
    from stripewise.evidence.report._trace_exports import write_parquet as write_parquet
    from stripewise.evidence.report._trace_exports import write_trace_events as write_trace_events
    from stripewise.evidence.report._trace_text import info_content as info_content
    from stripewise.evidence.report._trace_text import row_as_json as row_as_json
    from stripewise.evidence.report._trace_text import select_rows as select_rows
    from stripewise.evidence.report._trace_text import table_lines as table_lines
    from stripewise.evidence.report._trace_text import trace_info as trace_info
else:
    __getattr__, __all__ = lazy_exports(__name__)
