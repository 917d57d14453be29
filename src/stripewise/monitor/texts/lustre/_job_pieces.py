# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A text of job_stats cut into its entries, whatever pieces it comes in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_MARK = b"\n- job_id:"
_STEP_BYTES = 48 << 10
"""Cut at a time: large enough that the joins do not count, small beside a text of 449 MB."""


def cut_entries(pieces: Iterable[bytes], most_bytes: int) -> Iterator[tuple[bytes, bool]]:
    """Yield what stands before the first entry, then each entry without its "- job_id:".

    With each comes whether it is known to be whole: the last one is if the text ends with a line's
    end. Of what is longer than `most_bytes`, that many and one byte are given.
    """
    head, rest = b"", b"\n"
    for step in _steps(pieces):
        parts = (rest + step).split(_MARK)
        rest = parts.pop()
        for part in parts:
            if head or len(part) > most_bytes:
                part, head = (head + part)[: most_bytes + 1], b""
            yield part, True
        if len(rest) > most_bytes:  # the end stays: it may be the beginning of a mark
            head, rest = (head + rest)[: most_bytes + 1], rest[-len(_MARK) :]
    whole = rest.endswith(b"\n")
    yield (head + rest.rstrip(b"\n"))[: most_bytes + 1], whole


def _steps(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of a good size: small ones are gathered, large ones cut."""
    gathered: list[bytes] = []
    size = 0
    for piece in pieces:
        if len(piece) >= _STEP_BYTES and not gathered:
            for start in range(0, len(piece), _STEP_BYTES):
                yield piece[start : start + _STEP_BYTES]
            continue
        gathered.append(piece)
        size += len(piece)
        if size >= _STEP_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)
