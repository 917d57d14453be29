# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recorded surfaces: every configuration of a space, measured, and what it looks like."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.study.surfaces._landscape import NEAR as NEAR
    from stripewise.study.surfaces._landscape import Landscape as Landscape
    from stripewise.study.surfaces._recording import RecordingObserver as RecordingObserver
    from stripewise.study.surfaces._recording import plan_recording as plan_recording
    from stripewise.study.surfaces._recording import record_surface as record_surface
    from stripewise.study.surfaces._recording_plan import RecordingOptions as RecordingOptions
    from stripewise.study.surfaces._recording_plan import possible_points as possible_points
    from stripewise.study.surfaces._recording_plan import recorded_tunables as recorded_tunables
    from stripewise.study.surfaces._recording_plan import spread_points as spread_points
    from stripewise.study.surfaces._report import draw_surface as draw_surface
    from stripewise.study.surfaces._report import recording_ahead_json as recording_ahead_json
    from stripewise.study.surfaces._report import recording_ahead_lines as recording_ahead_lines
    from stripewise.study.surfaces._report import surface_lines as surface_lines
    from stripewise.study.surfaces._report import surface_to_json as surface_to_json
    from stripewise.study.surfaces._surface import RecordedTunable as RecordedTunable
    from stripewise.study.surfaces._surface import Surface as Surface
    from stripewise.study.surfaces._surface import SurfaceRole as SurfaceRole
    from stripewise.study.surfaces._surface import SurfaceRun as SurfaceRun
    from stripewise.study.surfaces._surface import SurfaceWriter as SurfaceWriter
else:
    __getattr__, __all__ = lazy_exports(__name__)
