# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submit -> durable handle -> poll -> collect -> cancel."""

from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.launch._landscape import NEAR, KnobEffect, Landscape, Spot
from stripewise.launch._local import LocalLauncher, sweep
from stripewise.launch._replayed import ReplayedLauncher
from stripewise.launch._surface import Surface
from stripewise.launch._surface_lines import RecordedTunable, SurfaceRole, SurfaceRun
from stripewise.launch._surface_writer import SurfaceWriter

__all__ = [
    "NEAR",
    "Handle",
    "KnobEffect",
    "Landscape",
    "Launcher",
    "LocalLauncher",
    "Outcome",
    "RecordedTunable",
    "ReplayedLauncher",
    "RunRequest",
    "Spot",
    "Surface",
    "SurfaceRole",
    "SurfaceRun",
    "SurfaceWriter",
    "sweep",
]
