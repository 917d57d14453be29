# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Points of a space: identity, validity, and how to count them."""

from __future__ import annotations

from collections.abc import Mapping

from stripewise.model import ProgramFacts, Value
from stripewise.tunables._base import Space
from stripewise.tunables._scopes import said_of_files
from stripewise.tunables._space import point_problem

PointKey = frozenset[tuple[str, str]]


def key_of(settings: Mapping[str, Value]) -> PointKey:
    """Return the identity of a point; 1, 1.0 and True are different values."""
    return frozenset((name, repr(value)) for name, value in settings.items())


def is_valid(settings: Mapping[str, Value], facts: ProgramFacts) -> bool:
    """Whether the settings can be combined on such a program."""
    return not point_problem(settings, facts)


def point_at(space: Space, index: int) -> dict[str, Value]:
    """Return the point with a number in [0, space.size); 0 is the default everywhere."""
    settings: dict[str, Value] = {}
    for dimension in space.dimensions:
        index, digit = divmod(index, len(dimension.values) + 1)
        if digit:
            settings[dimension.tunable.name] = dimension.values[digit - 1]
    return settings


def settings_text(settings: Mapping[str, Value]) -> str:
    """Return the settings as people write them: `cb_nodes=4 alignment=0,1048576`.

    Those for some files come last: `io=romio321 for plt*.h5: cb_nodes=4`.
    """
    return said_of_files(settings, lambda n, v: f"{n.partition('.')[2] or n}={hint_text(v)}")


def hint_text(value: Value) -> str:
    """Return a value as MPI_Info, MCA and environment hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(str(element) for element in value)
    return str(value)
