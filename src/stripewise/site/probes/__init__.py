# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Probes: one for each side of a site."""

from __future__ import annotations

from stripewise.site._base import Probe
from stripewise.site.probes._burst import BurstProbe
from stripewise.site.probes._darshan import DarshanProbe
from stripewise.site.probes._directories import DirectoriesProbe
from stripewise.site.probes._machine import MachineProbe
from stripewise.site.probes._mpi import MpiProbe
from stripewise.site.probes._own import OwnProbe
from stripewise.site.probes._preload import PreloadProbe
from stripewise.site.probes._queue import QueueProbe
from stripewise.site.probes._slurm import SlurmProbe
from stripewise.site.probes._tools import ToolsProbe


def all_probes() -> tuple[Probe, ...]:
    """Return every probe, in the order of a report's sections."""
    return (
        MachineProbe(),
        SlurmProbe(),
        QueueProbe(),
        BurstProbe(),
        MpiProbe(),
        ToolsProbe(),
        DirectoriesProbe(),
        DarshanProbe(),
        PreloadProbe(),
        OwnProbe(),
    )
