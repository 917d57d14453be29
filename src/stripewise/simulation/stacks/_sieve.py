# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Data sieving: windows that are moved as a whole in place of many small pieces.

Source: ROMIO, adio/common/ad_write_str.c, ad_read_str.c; adio/ad_lustre/ad_lustre_wrstr.c.
"""

from __future__ import annotations

from functools import lru_cache

from stripewise.simulation.stacks._regular import Regular

MOST_WINDOWS = 20_000
"""Windows of one rank that are counted one by one; further ones are taken to be alike."""


@lru_cache(maxsize=4096)
def windows(
    shape: Regular, buffer: int, writing: bool, aligned_to: int = 0, phase: int = 0
) -> tuple[float, int]:
    """Return how many windows a rank moves, and their bytes.

    A window begins at the first byte that is not in one yet, and ends after `buffer` bytes, or
    at the next multiple of `aligned_to`, or at the rank's last byte; a read that goes on within
    a piece may end later, as the bytes that are there of the piece are not taken off.

    Args:
        shape: What the rank has.
        buffer: Bytes of a window.
        writing: Otherwise reading.
        aligned_to: Stripe size, where windows end at stripes; 0: not.
        phase: Byte of the file, modulo `aligned_to`, where the shape's dataset begins.
    """
    at: int | None = shape.first
    count = moved = 0
    while at is not None and count < MOST_WINDOWS:
        if aligned_to:
            end = min(at + aligned_to - (at + phase) % aligned_to, shape.end)
        elif writing:
            end = min(at + buffer, shape.end)
        else:
            end = at + min(buffer, shape.end - shape.run_begin(at))
        count, moved = count + 1, moved + end - at
        at = shape.from_(end) if end < shape.end else None
    if at is None:
        return float(count), moved
    left = (shape.end - shape.first) / (at - shape.first)
    return count * left, round(moved * left)
