# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submit -> durable handle -> poll -> collect -> cancel."""

from stripewise.launch._base import Handle, Launcher, Outcome, RunRequest
from stripewise.launch._local import LocalLauncher, sweep
from stripewise.launch._replayed import ReplayedLauncher
from stripewise.launch._surface import RecordedTunable, Surface, SurfaceRun

__all__ = [
    "Handle",
    "Launcher",
    "LocalLauncher",
    "Outcome",
    "RecordedTunable",
    "ReplayedLauncher",
    "RunRequest",
    "Surface",
    "SurfaceRun",
    "sweep",
]
