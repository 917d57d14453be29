# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of a run (containers, traces, logs) -> Profile, Evidence."""

from stripewise.readers._accesses import accesses
from stripewise.readers._collect import collect_containers
from stripewise.readers._effective import cannot_act
from stripewise.readers._expand import CALL_ROW, expand
from stripewise.readers._handshake import Handshake, HandshakeState, handshake
from stripewise.readers._heat import heat_of
from stripewise.readers._join import join_containers, read_containers
from stripewise.readers._launchers import is_launcher
from stripewise.readers._openmpi import mpiio_components
from stripewise.readers._parse import parse_container
from stripewise.readers._profile import OpenedFiles, Profile, Settings
from stripewise.readers.sources import read_evidence
from stripewise.readers.sources._native import read_run

__all__ = [
    "CALL_ROW",
    "Handshake",
    "HandshakeState",
    "OpenedFiles",
    "Profile",
    "Settings",
    "accesses",
    "cannot_act",
    "collect_containers",
    "expand",
    "handshake",
    "heat_of",
    "is_launcher",
    "join_containers",
    "mpiio_components",
    "parse_container",
    "read_containers",
    "read_evidence",
    "read_run",
]
