# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads evidence of a run (containers, Darshan, Recorder, Cray MPICH), one reader for each."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.readers._base import begins_with as begins_with
    from stripewise.evidence.readers._job_evidence import find_job_logs as find_job_logs
    from stripewise.evidence.readers._job_evidence import logs_beside as logs_beside
    from stripewise.evidence.readers._job_evidence import logs_of_steps as logs_of_steps
    from stripewise.evidence.readers._job_evidence import prints_of_mpi as prints_of_mpi
    from stripewise.evidence.readers._job_evidence import read_job_output as read_job_output
    from stripewise.evidence.readers._job_evidence import with_printed as with_printed
    from stripewise.evidence.readers._mpiio_stats import parse_mpiio_timers as parse_mpiio_timers
    from stripewise.evidence.readers._native import collect_containers as collect_containers
    from stripewise.evidence.readers._registry import SOURCES as SOURCES
    from stripewise.evidence.readers._registry import read_evidence as read_evidence
    from stripewise.evidence.readers._registry import recognise as recognise
else:
    __getattr__, __all__ = lazy_exports(__name__)
