# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submit -> durable handle -> poll -> collect -> cancel."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.launch._agent_run import STAGE_VARIABLE as STAGE_VARIABLE
    from stripewise.launch._base import Handle as Handle
    from stripewise.launch._base import Launcher as Launcher
    from stripewise.launch._base import Outcome as Outcome
    from stripewise.launch._base import Resources as Resources
    from stripewise.launch._base import RunRequest as RunRequest
    from stripewise.launch._guarded import Guarded as Guarded
    from stripewise.launch._guarded import read_guarded as read_guarded
    from stripewise.launch._job_plan import MARGIN_SECONDS as MARGIN_SECONDS
    from stripewise.launch._job_plan import Allocation as Allocation
    from stripewise.launch._job_plan import JobPlan as JobPlan
    from stripewise.launch._job_plan import PlainJobs as PlainJobs
    from stripewise.launch._job_plan import Stage as Stage
    from stripewise.launch._job_plan import least_wall_seconds as least_wall_seconds
    from stripewise.launch._local import LocalLauncher as LocalLauncher
    from stripewise.launch._local import sweep as sweep
    from stripewise.launch._null import NullLauncher as NullLauncher
    from stripewise.launch._records import asked_to_print as asked_to_print
    from stripewise.launch._records import job_of as job_of
    from stripewise.launch._records import worked_in as worked_in
    from stripewise.launch._registry import DEFAULT_LAUNCHER as DEFAULT_LAUNCHER
    from stripewise.launch._registry import create_launcher as create_launcher
    from stripewise.launch._registry import register_launcher as register_launcher
    from stripewise.launch._script_jobs import HINTS_VARIABLE as HINTS_VARIABLE
    from stripewise.launch._script_jobs import ScriptJobs as ScriptJobs
    from stripewise.launch._script_jobs import is_below as is_below
    from stripewise.launch._script_jobs import links_replaced as links_replaced
    from stripewise.launch._simulated import SimulatedLauncher as SimulatedLauncher
    from stripewise.launch._slurm import SlurmLauncher as SlurmLauncher
    from stripewise.launch._slurm_environment import redirect_pair as redirect_pair
else:
    __getattr__, __all__ = lazy_exports(__name__)
