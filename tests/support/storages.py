# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Described storage for tests: what is not said limits nothing."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from stripewise.storage.machines import Figure, FigureOrigin, Storage, Transport

MIB, GIB = 1 << 20, 1 << 30

_ALWAYS = {
    "machine.nodes": 1024.0,
    "machine.ranks_per_node": 128.0,
    "servers.targets": 12.0,
    "servers.target_write": inf,
    "servers.target_read": inf,
}


def described(
    figures: Mapping[str, float] | None = None,
    *,
    kind: str = "lustre",
    stack: str = "posix",
    transports: tuple[Transport, ...] = (),
) -> Storage:
    """Describe a storage of which only these figures are known."""
    known = {name: figure(value) for name, value in {**_ALWAYS, **(figures or {})}.items()}
    return Storage("test", "A storage for tests", kind, stack, known, transports)


def figure(value: float) -> Figure:
    """Return a figure of a test."""
    return Figure(value, FigureOrigin.ASSUMED, "a test")
