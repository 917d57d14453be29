# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Calls Slurm's commands for submissions, job states, partitions and burst buffers."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.run.slurm._burst_buffers import BurstBuffers as BurstBuffers
    from stripewise.run.slurm._burst_buffers import nodes_of_persistent as nodes_of_persistent
    from stripewise.run.slurm._burst_buffers import parse_burst as parse_burst
    from stripewise.run.slurm._client import Sacct as Sacct
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
    from stripewise.run.slurm._rest import recognises_rest as recognises_rest
    from stripewise.run.slurm._rest import rest_exit as rest_exit
    from stripewise.run.slurm._rest import rest_items as rest_items
    from stripewise.run.slurm._rest import rest_member as rest_member
    from stripewise.run.slurm._rest import rest_number as rest_number
    from stripewise.run.slurm._rest import rest_resource as rest_resource
    from stripewise.run.slurm._rest import rest_state as rest_state
    from stripewise.run.slurm._rest import rest_text as rest_text
    from stripewise.run.slurm._text import JobId as JobId
    from stripewise.run.slurm._text import JobState as JobState
    from stripewise.run.slurm._text import JobStatus as JobStatus
    from stripewise.run.slurm._text import Partition as Partition
    from stripewise.run.slurm._text import SacctTable as SacctTable
    from stripewise.run.slurm._text import least_count as least_count
    from stripewise.run.slurm._text import parse_config as parse_config
    from stripewise.run.slurm._text import parse_count as parse_count
    from stripewise.run.slurm._text import parse_exit as parse_exit
    from stripewise.run.slurm._text import parse_job_id as parse_job_id
    from stripewise.run.slurm._text import parse_moment as parse_moment
    from stripewise.run.slurm._text import parse_records as parse_records
    from stripewise.run.slurm._text import parse_resource as parse_resource
    from stripewise.run.slurm._text import parse_seconds as parse_seconds
    from stripewise.run.slurm._text import separator_of as separator_of
    from stripewise.run.slurm._text import time_text as time_text
else:
    __getattr__, __all__ = lazy_exports(__name__)
