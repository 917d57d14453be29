# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The client of Slurm's commands: submissions, job states, partitions and burst buffers."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.slurm._burst_buffers import BurstBuffers as BurstBuffers
    from stripewise.run.slurm._burst_buffers import nodes_of_persistent as nodes_of_persistent
    from stripewise.run.slurm._burst_buffers import parse_burst as parse_burst
    from stripewise.run.slurm._client import Slurm as Slurm
    from stripewise.run.slurm._commands import RateLimiter as RateLimiter
    from stripewise.run.slurm._commands import SlurmAwayError as SlurmAwayError
    from stripewise.run.slurm._commands import SlurmError as SlurmError
    from stripewise.run.slurm._commands import SlurmMissingError as SlurmMissingError
    from stripewise.run.slurm._commands import SubmissionError as SubmissionError
    from stripewise.run.slurm._commands import is_limit_of_jobs as is_limit_of_jobs
    from stripewise.run.slurm._commands import one_line as one_line
    from stripewise.run.slurm._commands import options_of_variables as options_of_variables
    from stripewise.run.slurm._commands import remedy_of as remedy_of
    from stripewise.run.slurm._commands import starts_never as starts_never
    from stripewise.run.slurm._commands import variable_of_option as variable_of_option
    from stripewise.run.slurm._commands import why_it_waits as why_it_waits
    from stripewise.run.slurm._states import JobState as JobState
    from stripewise.run.slurm._states import JobStatus as JobStatus
    from stripewise.run.slurm._states import Partition as Partition
    from stripewise.run.slurm._states import parse_seconds as parse_seconds
else:
    __getattr__, __all__ = lazy_exports(__name__)
