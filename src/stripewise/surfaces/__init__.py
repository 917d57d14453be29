# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every configuration of a space, recorded: what each gave, and replays of it."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.surfaces._landscape import NEAR, KnobEffect, Landscape, Spot
    from stripewise.surfaces._lines import RecordedTunable, SurfaceRole, SurfaceRun
    from stripewise.surfaces._recording import RecordingObserver, record_surface
    from stripewise.surfaces._recording_plan import RecordingOptions
    from stripewise.surfaces._replayed import ReplayedLauncher
    from stripewise.surfaces._surface import Surface
    from stripewise.surfaces._writer import SurfaceWriter
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "NEAR",
    "KnobEffect",
    "Landscape",
    "RecordedTunable",
    "RecordingObserver",
    "RecordingOptions",
    "ReplayedLauncher",
    "Spot",
    "Surface",
    "SurfaceRole",
    "SurfaceRun",
    "SurfaceWriter",
    "record_surface",
]
