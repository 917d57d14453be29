# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Evidence of a run (containers) -> Profile."""

from stripewise.readers._effective import cannot_act
from stripewise.readers._handshake import Handshake, HandshakeState, handshake
from stripewise.readers._join import join_containers, read_containers
from stripewise.readers._launchers import is_launcher
from stripewise.readers._openmpi import mpiio_components
from stripewise.readers._parse import parse_container
from stripewise.readers._profile import OpenedFiles, Profile, Settings

__all__ = [
    "Handshake",
    "HandshakeState",
    "OpenedFiles",
    "Profile",
    "Settings",
    "cannot_act",
    "handshake",
    "is_launcher",
    "join_containers",
    "mpiio_components",
    "parse_container",
    "read_containers",
]
