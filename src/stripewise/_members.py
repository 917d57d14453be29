# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Members of structured arrays, written as C declares them."""

from __future__ import annotations

from typing import Any


def members(*declared: str | tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return what `numpy.dtype` takes for a struct.

    Args:
        *declared: A type and the names that have it, as "u8 start_ns end_ns" (little-endian);
            or a member as numpy has it: name, type, shape.
    """
    found: list[tuple[Any, ...]] = []
    for entry in declared:
        if isinstance(entry, str):
            kind, *names = entry.split()
            found += [(name, f"<{kind}") for name in names]
        else:
            found.append(entry)
    return found
