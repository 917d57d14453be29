# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rounds that wait for a database: packed, and bounded in number and in memory."""

from __future__ import annotations

import gzip
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Packed:
    """A round as lines, packed.

    Attributes:
        pieces: Members of gzip: one after the other, with those of other rounds too, they are
            one text again.
        lines_bytes: Size of each, unpacked.
    """

    pieces: tuple[bytes, ...]
    lines_bytes: tuple[int, ...]

    @property
    def packed_bytes(self) -> int:
        """What it takes in memory."""
        return sum(map(len, self.pieces))


def pack(lines: Iterable[str], piece_bytes: int) -> Packed:
    """Pack lines into pieces of at most a size, unpacked; a longer line is a piece by itself."""
    pieces: list[bytes] = []
    sizes: list[int] = []
    waiting: list[bytes] = []
    size = 0

    def close() -> None:
        pieces.append(gzip.compress(b"".join(waiting), compresslevel=1, mtime=0))
        sizes.append(size)
        waiting.clear()

    for line in lines:
        data = line.encode()
        if waiting and size + len(data) > piece_bytes:
            close()
            size = 0
        waiting.append(data)
        size += len(data)
    if waiting:
        close()
    return Packed(tuple(pieces), tuple(sizes))


class RoundQueue:
    """Rounds in order of time; the oldest are dropped when there are too many.

    One thread puts rounds in, another takes them out.
    """

    def __init__(self, most_rounds: int, most_bytes: int) -> None:
        """Begin empty.

        Args:
            most_rounds: Rounds that wait at most.
            most_bytes: What they take in memory at most.
        """
        self._most_rounds = most_rounds
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._waiting: deque[Packed] = deque()
        self._waiting_bytes = 0
        self._out = 0
        self._lost = 0

    def __len__(self) -> int:
        """Return how many rounds wait, with those that are being delivered."""
        with self._lock:
            return len(self._waiting) + self._out

    @property
    def lost(self) -> int:
        """How many rounds were dropped so far."""
        with self._lock:
            return self._lost

    def put(self, found: Packed) -> None:
        """Add a round."""
        with self._lock:
            self._waiting.append(found)
            self._waiting_bytes += found.packed_bytes
            self._drop()

    def take(self, lines_bytes: int) -> list[Packed]:
        """Take out the oldest rounds, at least one if there is any.

        Args:
            lines_bytes: Size of them together, unpacked, at most.
        """
        with self._lock:
            found: list[Packed] = []
            while self._waiting:
                lines_bytes -= sum(self._waiting[0].lines_bytes)
                if found and lines_bytes < 0:
                    break
                found.append(self._waiting.popleft())
                self._waiting_bytes -= found[-1].packed_bytes
            self._out = len(found)
            return found

    def settle(self, lost: int = 0) -> None:
        """Say that what was taken out is dealt with, all but some that are lost."""
        with self._lock:
            self._out = 0
            self._lost += lost

    def give_back(self, found: Sequence[Packed]) -> None:
        """Put what was taken out in again."""
        with self._lock:
            self._out = 0
            self._waiting.extendleft(reversed(found))
            self._waiting_bytes += sum(one.packed_bytes for one in found)
            self._drop()

    def _drop(self) -> None:
        while len(self._waiting) > self._most_rounds or (
            self._waiting_bytes > self._most_bytes and len(self._waiting) > 1
        ):
            self._waiting_bytes -= self._waiting.popleft().packed_bytes
            self._lost += 1
