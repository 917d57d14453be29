# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Mappings of emulated storages with counters that no program made."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from stripewise.storage.emulation import _mapping
from stripewise.storage.emulation import _servers as _tallies

_MOST = (1 << 64) - 1
_BEGINNING_NS = 10**9
_SECOND_NS = 10**9


class Served:
    """Writes into the counters of a mapping as its processes do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes()[: _mapping.HEADER.size]
        fields = _mapping.HEADER.unpack(data)
        self.targets, self.room = fields[4], fields[-2]
        self.places = _mapping.places(fields[4], fields[5], fields[8], fields[9], fields[-2])
        self.jobs: dict[bytes, int] = {}

    def block(self, job: bytes) -> int:
        """Block of a job; b"": of those that are none's."""
        if not job:
            return 0
        number = self.jobs.setdefault(job, len(self.jobs))
        entry = struct.pack("<Q32s24x", number + 1, job)
        self._put(self.places.jobs + number * len(entry), entry)
        return number + 1

    def transfers(
        self, job: bytes, target: int, *, writes: bool, requests: Sequence[tuple[int, int]]
    ) -> None:
        """Count requests, (bytes, nanoseconds) each; what was there is replaced."""
        sizes, times = [0] * _tallies.SIZES, [0] * _tallies.TIMES
        for size, ns in requests:
            sizes[(size - 1).bit_length()] += 1
            times[max(ns // 10**6 - 1, 0).bit_length()] += 1
        words = [
            *_words([size for size, _ in requests]),
            *_words([ns // 1000 for _, ns in requests]),
        ]
        offset = 16 + (len(words) + len(sizes) + len(times)) * 8 * writes
        self._target(job, target, offset, [*words, *sizes, *times])

    def at_target(self, job: bytes, target: int, counts: Mapping[str, int]) -> None:
        """Count operations of a target that take no time."""
        words = [
            w for name in _tallies.TARGET_OPERATIONS for w in _tally([0] * counts.get(name, 0))
        ]
        self._target(job, target, 16 + 2 * 8 * (8 + _tallies.SIZES + _tallies.TIMES), words)

    def metadata(self, job: bytes, times: Mapping[str, Sequence[int]]) -> None:
        """Count metadata operations that take so many nanoseconds each."""
        words = [w for name in _tallies.METADATA_OPERATIONS for w in _tally(times.get(name, ()))]
        self._at(job, self.targets * _mapping.TARGET_BYTES, 16, words)

    def _target(self, job: bytes, target: int, offset: int, words: Sequence[int]) -> None:
        self._at(job, target * _mapping.TARGET_BYTES, offset, words)

    def _at(self, job: bytes, begin: int, offset: int, words: Sequence[int]) -> None:
        block = self.block(job)
        at = self.places.tallies + self.places.tally_bytes * block + begin
        first_ns = _BEGINNING_NS * (1 + block)
        self._put(at, struct.pack("<2Q", first_ns, first_ns + _SECOND_NS))
        self._put(at + offset, struct.pack(f"<{len(words)}Q", *words))

    def _put(self, offset: int, data: bytes) -> None:
        descriptor = os.open(self.path, os.O_WRONLY)
        try:
            os.pwrite(descriptor, data, offset)
        finally:
            os.close(descriptor)


def _words(values: Sequence[int]) -> list[int]:
    squares = sum(value**2 for value in values) & _MOST
    return [sum(values), squares, _MOST - min(values) if values else 0, max(values, default=0)]


def _tally(times: Sequence[int]) -> list[int]:
    return [len(times), *_words([ns // 1000 for ns in times])]
