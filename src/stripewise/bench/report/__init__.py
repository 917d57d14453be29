# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents campaigns, comparisons, histories and what-if answers to people and programs."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.report._campaign import campaign_lines as campaign_lines
    from stripewise.bench.report._campaign import limit_lines as limit_lines
    from stripewise.bench.report._campaign import render_campaign as render_campaign
    from stripewise.bench.report._campaign import summary_of_campaign as summary_of_campaign
    from stripewise.bench.report._charts import draw_campaign as draw_campaign
    from stripewise.bench.report._compare import comparison_lines as comparison_lines
    from stripewise.bench.report._compare import comparison_to_json as comparison_to_json
    from stripewise.bench.report._compare import render_comparison as render_comparison
    from stripewise.bench.report._files import campaign_rows as campaign_rows
    from stripewise.bench.report._files import campaign_to_json as campaign_to_json
    from stripewise.bench.report._files import write_campaign_csv as write_campaign_csv
    from stripewise.bench.report._files import write_campaign_parquet as write_campaign_parquet
    from stripewise.bench.report._history import history_lines as history_lines
    from stripewise.bench.report._history import history_to_json as history_to_json
    from stripewise.bench.report._history import render_history as render_history
    from stripewise.bench.report._kinds import chart_kinds as chart_kinds
    from stripewise.bench.report._path import draw_limits as draw_limits
    from stripewise.bench.report._what_if import what_if_lines as what_if_lines
    from stripewise.bench.report._what_if import what_if_to_json as what_if_to_json
else:
    __getattr__, __all__ = lazy_exports(__name__)
