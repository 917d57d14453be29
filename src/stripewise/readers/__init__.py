# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of a run (containers, traces, logs) -> its RunProfile, or all Evidence."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.readers._accesses import accesses as accesses
    from stripewise.readers._blocks import container_bytes as container_bytes
    from stripewise.readers._blocks import is_container as is_container
    from stripewise.readers._collect import collect_containers as collect_containers
    from stripewise.readers._effective import cannot_act as cannot_act
    from stripewise.readers._expand import CALL_ROW as CALL_ROW
    from stripewise.readers._expand import expand as expand
    from stripewise.readers._expand import unfolded as unfolded
    from stripewise.readers._facts import program_facts as program_facts
    from stripewise.readers._file_classes import class_phrase as class_phrase
    from stripewise.readers._file_classes import file_classes as file_classes
    from stripewise.readers._file_globs import file_family as file_family
    from stripewise.readers._files import FilesSeen as FilesSeen
    from stripewise.readers._files import WrittenFiles as WrittenFiles
    from stripewise.readers._files import observed_files as observed_files
    from stripewise.readers._files import written_files as written_files
    from stripewise.readers._handshake import Handshake as Handshake
    from stripewise.readers._handshake import HandshakeState as HandshakeState
    from stripewise.readers._handshake import handshake as handshake
    from stripewise.readers._job_logs import JobLog as JobLog
    from stripewise.readers._job_logs import find_job_logs as find_job_logs
    from stripewise.readers._job_logs import logs_of_steps as logs_of_steps
    from stripewise.readers._job_output import prints_of_mpi as prints_of_mpi
    from stripewise.readers._job_output import read_job_output as read_job_output
    from stripewise.readers._job_output import with_printed as with_printed
    from stripewise.readers._join import read_containers as read_containers
    from stripewise.readers._join import read_run as read_run
    from stripewise.readers._openmpi import mpiio_components as mpiio_components
    from stripewise.readers._parse import NOT_RECORDED as NOT_RECORDED
    from stripewise.readers._pattern_facts import with_patterns as with_patterns
    from stripewise.readers._programs import drops_preload as drops_preload
    from stripewise.readers._programs import executables_in as executables_in
    from stripewise.readers._programs import is_helper as is_helper
    from stripewise.readers._programs import is_launcher as is_launcher
    from stripewise.readers._relocate import relocated as relocated
    from stripewise.readers._relocate import relocated_profile as relocated_profile
    from stripewise.readers._trace_sums import heat_of as heat_of
    from stripewise.readers.sources import read_evidence as read_evidence
else:
    __getattr__, __all__ = lazy_exports(__name__)
