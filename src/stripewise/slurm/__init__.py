# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The client of Slurm's commands: submissions, states of jobs, what a cluster says of itself."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.slurm._burst import BurstBuffer as BurstBuffer
    from stripewise.slurm._burst import BurstBuffers as BurstBuffers
    from stripewise.slurm._burst import parse_burst as parse_burst
    from stripewise.slurm._client import Slurm as Slurm
    from stripewise.slurm._errors import SlurmAwayError as SlurmAwayError
    from stripewise.slurm._errors import SlurmError as SlurmError
    from stripewise.slurm._errors import SlurmMissingError as SlurmMissingError
    from stripewise.slurm._errors import SubmissionError as SubmissionError
    from stripewise.slurm._errors import is_limit_of_jobs as is_limit_of_jobs
    from stripewise.slurm._errors import one_line as one_line
    from stripewise.slurm._errors import remedy_of as remedy_of
    from stripewise.slurm._errors import starts_never as starts_never
    from stripewise.slurm._errors import why_it_waits as why_it_waits
    from stripewise.slurm._limiter import RateLimiter as RateLimiter
    from stripewise.slurm._limiter import Request as Request
    from stripewise.slurm._partitions import Partition as Partition
    from stripewise.slurm._partitions import parse_seconds as parse_seconds
    from stripewise.slurm._persistent import nodes_of_persistent as nodes_of_persistent
    from stripewise.slurm._states import JobState as JobState
    from stripewise.slurm._states import JobStatus as JobStatus
    from stripewise.slurm._variables import options_of_variables as options_of_variables
    from stripewise.slurm._variables import variable_of_option as variable_of_option
else:
    __getattr__, __all__ = lazy_exports(__name__)
