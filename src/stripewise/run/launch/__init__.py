# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launches runs: submits them, returns durable handles, polls, collects and cancels."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.launch._base import Handle as Handle
    from stripewise.run.launch._base import Launcher as Launcher
    from stripewise.run.launch._base import Outcome as Outcome
    from stripewise.run.launch._base import Resources as Resources
    from stripewise.run.launch._base import RunRequest as RunRequest
    from stripewise.run.launch._job_plan import MARGIN_SECONDS as MARGIN_SECONDS
    from stripewise.run.launch._job_plan import Allocation as Allocation
    from stripewise.run.launch._job_plan import JobPlan as JobPlan
    from stripewise.run.launch._job_plan import PlainJobs as PlainJobs
    from stripewise.run.launch._job_plan import Stage as Stage
    from stripewise.run.launch._job_plan import least_wall_seconds as least_wall_seconds
    from stripewise.run.launch._job_plan import redirect_pair as redirect_pair
    from stripewise.run.launch._local import LocalLauncher as LocalLauncher
    from stripewise.run.launch._local import sweep as sweep
    from stripewise.run.launch._records import Guarded as Guarded
    from stripewise.run.launch._records import asked_to_print as asked_to_print
    from stripewise.run.launch._records import job_of as job_of
    from stripewise.run.launch._records import read_guarded as read_guarded
    from stripewise.run.launch._records import worked_in as worked_in
    from stripewise.run.launch._registry import DEFAULT_LAUNCHER as DEFAULT_LAUNCHER
    from stripewise.run.launch._registry import NullLauncher as NullLauncher
    from stripewise.run.launch._registry import create_launcher as create_launcher
    from stripewise.run.launch._registry import register_launcher as register_launcher
    from stripewise.run.launch._script_jobs import HINTS_VARIABLE as HINTS_VARIABLE
    from stripewise.run.launch._script_jobs import ScriptJobs as ScriptJobs
    from stripewise.run.launch._script_jobs import cray_variables as cray_variables
    from stripewise.run.launch._script_jobs import links_replaced_in_run as links_replaced_in_run
    from stripewise.run.launch._slurm import SlurmLauncher as SlurmLauncher
else:
    __getattr__, __all__ = lazy_exports(__name__)
