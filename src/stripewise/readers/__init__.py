# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of a run (containers, traces, logs) -> its RunProfile, or all Evidence."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.readers._accesses import accesses
    from stripewise.readers._collect import collect_containers
    from stripewise.readers._container import MpiFamily
    from stripewise.readers._effective import cannot_act
    from stripewise.readers._expand import CALL_ROW, expand
    from stripewise.readers._facts import program_facts
    from stripewise.readers._files import OpenedFiles, observed_files, opened_files
    from stripewise.readers._handshake import Handshake, HandshakeState, handshake
    from stripewise.readers._heat import heat_of
    from stripewise.readers._join import join_containers, read_containers, read_run
    from stripewise.readers._launchers import is_launcher
    from stripewise.readers._openmpi import mpiio_components
    from stripewise.readers._parse import parse_container
    from stripewise.readers.sources import read_evidence
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "CALL_ROW",
    "Handshake",
    "HandshakeState",
    "MpiFamily",
    "OpenedFiles",
    "accesses",
    "cannot_act",
    "collect_containers",
    "expand",
    "handshake",
    "heat_of",
    "is_launcher",
    "join_containers",
    "mpiio_components",
    "observed_files",
    "opened_files",
    "parse_container",
    "program_facts",
    "read_containers",
    "read_evidence",
    "read_run",
]
