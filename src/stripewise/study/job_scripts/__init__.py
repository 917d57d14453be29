# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of a job script: its tier, its position in the queue, its runs and its tuned copy."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.job_scripts._jobs_ahead import JobsAhead as JobsAhead
    from stripewise.study.job_scripts._jobs_ahead import last_text as last_text
    from stripewise.study.job_scripts._jobs_ahead import plan_jobs as plan_jobs
    from stripewise.study.job_scripts._jobs_ahead import reach_text as reach_text
    from stripewise.study.job_scripts._jobs_ahead import rungs_ahead as rungs_ahead
    from stripewise.study.job_scripts._jobs_ahead import span_text as span_text
    from stripewise.study.job_scripts._prepared import PreparedJob as PreparedJob
    from stripewise.study.job_scripts._tier import ladder as ladder
    from stripewise.study.job_scripts._tools import JobPlaces as JobPlaces
    from stripewise.study.job_scripts._tools import described_job as described_job
    from stripewise.study.job_scripts._tools import job_launcher as job_launcher
    from stripewise.study.job_scripts._tools import leave_script as leave_script
    from stripewise.study.job_scripts._tools import places_of as places_of
    from stripewise.study.job_scripts._tools import with_job as with_job
else:
    __getattr__, __all__ = lazy_exports(__name__)
