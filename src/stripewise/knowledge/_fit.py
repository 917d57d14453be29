# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of another study, brought into the space of the one at hand."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from stripewise.model import ProgramFacts, Value
from stripewise.tunables import Dimension, Space, is_valid, split_scope


def fit(settings: Mapping[str, Value], space: Space, facts: ProgramFacts) -> dict[str, Value]:
    """Return what of the settings can be tried here; empty if nothing can.

    The space holds what the program, the stack, the policy, the class and the user allow.
    Tunables outside of it are left out, as are settings for files that this program has no class
    of; numbers go to the nearest rung of the ladder.
    """
    dimensions = {d.tunable.name: d for d in space.dimensions}
    globs = {"", *(one.match for one in facts.file_classes)}
    point: dict[str, Value] = {}
    for name, value in settings.items():
        tunable, match = split_scope(name)
        known = tunable in dimensions and match in globs
        rung = _rung(dimensions[tunable], value) if known else None
        if rung is not None:
            point[name] = rung
    for name in tuple(point):
        if not is_valid(point, facts) and not is_valid({name: point[name]}, facts):
            del point[name]
    return point if is_valid(point, facts) else {}


def _rung(dimension: Dimension, value: Value) -> Value | None:
    for rung in dimension.values:
        if rung == value and isinstance(rung, bool) == isinstance(value, bool):
            return rung
    kind = dimension.tunable.domain.kind
    if kind != "int" or isinstance(value, bool) or not isinstance(value, int):
        return None
    rungs = [r for r in dimension.values if isinstance(r, int) and r > 0]
    if value <= 0 or not rungs:
        return None
    return min(rungs, key=lambda rung: abs(log2(rung) - log2(value)))
