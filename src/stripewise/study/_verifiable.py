# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings whose outputs nothing here could compare with the baseline's are not tried."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.study._baseline import Baseline
from stripewise.study._context import Context
from stripewise.tunables import SafetyClass, Space


def verifiable_space(context: Context, baselines: Sequence[Baseline], space: Space) -> Space:
    """Leave out the tunables that may change the layout of an output that cannot be read."""
    for baseline in baselines:
        if why := _recorded_problem(baseline):
            return _without_layout(context, space, baseline.context.said(why))
    return space


def _recorded_problem(baseline: Baseline) -> str:
    """What is missing now is missing after a restart: the strategy must see the same tunables."""
    case, run_id = baseline.context, baseline.kept_runs[0]
    return str(case.remember("unreadable", lambda: case.tools.unreadable(run_id)))


def _without_layout(context: Context, space: Space, why: str) -> Space:
    safe = tuple(d for d in space.dimensions if d.tunable.safety is SafetyClass.SAFE)
    names = [d.tunable.name for d in space.dimensions if d not in safe]
    if names:
        context.warn(f"only settings that leave every byte as it is are tried: {why}")
    return Space(safe, {**space.left_out, **dict.fromkeys(names, why)})
