# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every configuration of a space, recorded: what each gave, and replays of it."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.surfaces._landscape import NEAR as NEAR
    from stripewise.surfaces._landscape import KnobEffect as KnobEffect
    from stripewise.surfaces._landscape import Landscape as Landscape
    from stripewise.surfaces._landscape import Spot as Spot
    from stripewise.surfaces._recording import RecordingAhead as RecordingAhead
    from stripewise.surfaces._recording import RecordingObserver as RecordingObserver
    from stripewise.surfaces._recording import plan_recording as plan_recording
    from stripewise.surfaces._recording import record_surface as record_surface
    from stripewise.surfaces._recording_plan import RecordingOptions as RecordingOptions
    from stripewise.surfaces._recording_plan import possible_points as possible_points
    from stripewise.surfaces._recording_plan import recorded_tunables as recorded_tunables
    from stripewise.surfaces._spread import spread_points as spread_points
    from stripewise.surfaces._surface import RecordedTunable as RecordedTunable
    from stripewise.surfaces._surface import Surface as Surface
    from stripewise.surfaces._surface import SurfaceRole as SurfaceRole
    from stripewise.surfaces._surface import SurfaceRun as SurfaceRun
    from stripewise.surfaces._surface import SurfaceWriter as SurfaceWriter
else:
    __getattr__, __all__ = lazy_exports(__name__)
