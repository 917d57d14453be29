# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of studies, profiles and traces: terminal lines, live progress, JSON, pages, pictures.

A member is imported when it is first asked for, so that a command that only formats a few
figures starts quickly, and so that only pages and pictures need the extra `report`.
"""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.report._advice_markdown import advice_markdown as advice_markdown
    from stripewise.report._advice_page import advice_page as advice_page
    from stripewise.report._advice_site import module_text as module_text
    from stripewise.report._advice_site import profile_text as profile_text
    from stripewise.report._advice_text import advice_json as advice_json
    from stripewise.report._advice_text import advice_lines as advice_lines
    from stripewise.report._campaign_charts import draw_campaign as draw_campaign
    from stripewise.report._campaign_compare import comparison_lines as comparison_lines
    from stripewise.report._campaign_compare import comparison_to_json as comparison_to_json
    from stripewise.report._campaign_compare_page import render_comparison as render_comparison
    from stripewise.report._campaign_files import campaign_rows as campaign_rows
    from stripewise.report._campaign_files import campaign_to_json as campaign_to_json
    from stripewise.report._campaign_files import write_campaign_csv as write_campaign_csv
    from stripewise.report._campaign_files import write_campaign_parquet as write_campaign_parquet
    from stripewise.report._campaign_history import history_lines as history_lines
    from stripewise.report._campaign_history import history_to_json as history_to_json
    from stripewise.report._campaign_history_page import render_history as render_history
    from stripewise.report._campaign_kinds import ChartKind as ChartKind
    from stripewise.report._campaign_kinds import chart_kinds as chart_kinds
    from stripewise.report._campaign_page import render_campaign as render_campaign
    from stripewise.report._campaign_path import draw_limits as draw_limits
    from stripewise.report._campaign_text import campaign_lines as campaign_lines
    from stripewise.report._campaign_text import limit_lines as limit_lines
    from stripewise.report._campaign_text import summary_of_campaign as summary_of_campaign
    from stripewise.report._campaign_what_if import what_if_lines as what_if_lines
    from stripewise.report._campaign_what_if import what_if_to_json as what_if_to_json
    from stripewise.report._columns import aligned as aligned
    from stripewise.report._emulated import emulation_lines as emulation_lines
    from stripewise.report._html import render_html as render_html
    from stripewise.report._job_outputs import job_lines as job_lines
    from stripewise.report._job_outputs import script_lines as script_lines
    from stripewise.report._job_outputs import write_job_outputs as write_job_outputs
    from stripewise.report._job_page import job_section as job_section
    from stripewise.report._job_payback import Payback as Payback
    from stripewise.report._job_payback import payback as payback
    from stripewise.report._job_study import JobFacts as JobFacts
    from stripewise.report._job_study import job_study as job_study
    from stripewise.report._job_study import study_of_job as study_of_job
    from stripewise.report._jobs_ahead import job_plan_lines as job_plan_lines
    from stripewise.report._jobs_ahead import job_plan_to_json as job_plan_to_json
    from stripewise.report._json import configuration_document as configuration_document
    from stripewise.report._json import result_to_json as result_to_json
    from stripewise.report._model import draw_model as draw_model
    from stripewise.report._model import model_json as model_json
    from stripewise.report._model import model_lines as model_lines
    from stripewise.report._model import models_json as models_json
    from stripewise.report._model import models_lines as models_lines
    from stripewise.report._model import score_lines as score_lines
    from stripewise.report._model import validated_lines as validated_lines
    from stripewise.report._observed import Observation as Observation
    from stripewise.report._observed import headline as headline
    from stripewise.report._observed import observation as observation
    from stripewise.report._observed import observed_lines as observed_lines
    from stripewise.report._outputs import write_outputs as write_outputs
    from stripewise.report._profile_csv import files_to_csv as files_to_csv
    from stripewise.report._profile_drishti import drishti_csv as drishti_csv
    from stripewise.report._profile_html import render_profile_html as render_profile_html
    from stripewise.report._profile_mpiio import mpiio_stats_text as mpiio_stats_text
    from stripewise.report._profile_text import print_profile as print_profile
    from stripewise.report._profile_words import phase_words as phase_words
    from stripewise.report._progress import progress_observer as progress_observer
    from stripewise.report._prose import prose as prose
    from stripewise.report._simulation import Simulation as Simulation
    from stripewise.report._simulation import SimulationRow as SimulationRow
    from stripewise.report._simulation import simulation_json as simulation_json
    from stripewise.report._simulation import simulation_lines as simulation_lines
    from stripewise.report._simulation_page import (
        render_simulation_html as render_simulation_html,
    )
    from stripewise.report._simulation_tuned import SimulatedStudy as SimulatedStudy
    from stripewise.report._simulation_tuned import simulated_study_json as simulated_study_json
    from stripewise.report._simulation_tuned import simulated_study_lines as simulated_study_lines
    from stripewise.report._summary import summary_lines as summary_lines
    from stripewise.report._surface import recording_ahead_json as recording_ahead_json
    from stripewise.report._surface import recording_ahead_lines as recording_ahead_lines
    from stripewise.report._surface import surface_lines as surface_lines
    from stripewise.report._surface import surface_to_json as surface_to_json
    from stripewise.report._surface_picture import draw_surface as draw_surface
    from stripewise.report._text import evidence_figure as evidence_figure
    from stripewise.report._text import format_bandwidth as format_bandwidth
    from stripewise.report._text import format_bytes as format_bytes
    from stripewise.report._text import format_count as format_count
    from stripewise.report._text import format_percent as format_percent
    from stripewise.report._text import format_seconds as format_seconds
    from stripewise.report._text import plural as plural
    from stripewise.report._time_charts import draw_profile as draw_profile
    from stripewise.report._trace_events import write_trace_events as write_trace_events
    from stripewise.report._trace_info import info_lines as info_lines
    from stripewise.report._trace_info import trace_info as trace_info
    from stripewise.report._trace_parquet import write_parquet as write_parquet
    from stripewise.report._trace_rows import row_as_json as row_as_json
    from stripewise.report._trace_rows import select_rows as select_rows
    from stripewise.report._trace_rows import table_lines as table_lines
    from stripewise.report._training import cost_text as cost_text
    from stripewise.report._training import fits_json as fits_json
    from stripewise.report._training import fits_lines as fits_lines
    from stripewise.report._training import training_json as training_json
    from stripewise.report._training import training_lines as training_lines
else:
    __getattr__, __all__ = lazy_exports(__name__)
