# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents the result of a study: terminal lines, progress, page, JSON and output files."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.report._content import render_html as render_html
    from stripewise.study.report._content import study_content as study_content
    from stripewise.study.report._job_cost import job_plan_lines as job_plan_lines
    from stripewise.study.report._job_cost import job_plan_to_json as job_plan_to_json
    from stripewise.study.report._job_cost import outside_lines as outside_lines
    from stripewise.study.report._job_cost import payback as payback
    from stripewise.study.report._job_page import job_section as job_section
    from stripewise.study.report._job_study import study_of_job as study_of_job
    from stripewise.study.report._json import result_to_json as result_to_json
    from stripewise.study.report._outputs import job_lines as job_lines
    from stripewise.study.report._outputs import script_lines as script_lines
    from stripewise.study.report._outputs import write_job_outputs as write_job_outputs
    from stripewise.study.report._outputs import write_outputs as write_outputs
    from stripewise.study.report._progress import ProgressObserver as ProgressObserver
    from stripewise.study.report._summary import SimulatedStudy as SimulatedStudy
    from stripewise.study.report._summary import simulated_study_json as simulated_study_json
    from stripewise.study.report._summary import simulated_study_lines as simulated_study_lines
    from stripewise.study.report._summary import summary_lines as summary_lines
    from stripewise.study.report._verdict import facts_phrase as facts_phrase
else:
    __getattr__, __all__ = lazy_exports(__name__)
