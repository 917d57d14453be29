# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a fact, and the data from which facts are told.

Facts need no costs of the storage: the same evidence gives the same facts on every machine.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stripewise.core import ReportedPart
from stripewise.evidence.diagnosis._base import WAYS, Numbers, PreparedRun
from stripewise.evidence.facts import system_rows
from stripewise.evidence.figures import (
    Calls,
    CounterRows,
    Fact,
    FileUse,
    Transfers,
    transfers_of,
)
from stripewise.evidence.trace import SIZE_EDGES, IoLayer, Op
from stripewise.present import files_of

LEAST_WEIGHT = 0.1
"""Share of the I/O time, or of the bytes, from which a fact matters for the run (assumed)."""

MOST_FILES = 16
_PARTS = {True: ReportedPart.WRITE_BYTES, False: ReportedPart.READ_BYTES}
MIB = 1 << 20
SMALL_BYTES = MIB
"""Requests below this are small for a parallel file system: the usual stripe size. Source:
Drishti's `THRESHOLD_SMALL_BYTES`, and Lustre's default stripe of 1 MiB."""


@dataclass(frozen=True)
class Traffic:
    """Data calls of one direction on one file: as the program made them, and below.

    Attributes:
        use: Use of the file.
        writing: Direction.
        asked: The program's own data calls.
        count / bytes: Requests that reached the operating system; without any record of these,
            those of the program (`is_reached` is False).
        sizes: Numbers of these requests by size (`SIZE_EDGES`).
        is_reached: Whether requests to the operating system were recorded.
    """

    use: FileUse
    writing: bool
    asked: Calls
    count: int
    bytes: int
    sizes: tuple[int, ...]
    is_reached: bool

    @property
    def mean_bytes(self) -> float:
        """Mean bytes of one request, 0 without requests."""
        return self.bytes / self.count if self.count else 0.0

    @property
    def small(self) -> int:
        """Number of requests below 1 MiB."""
        return sum(self.sizes[: SIZE_EDGES.index(SMALL_BYTES)])

    @property
    def way(self) -> str:
        """Direction as a word."""
        return "writes" if self.writing else "reads"


@dataclass(frozen=True)
class Concern:
    """Sum of some traffic: what a fact is about."""

    parts: tuple[Traffic, ...]

    def total(self, name: str) -> int:
        """Return the sum of `count`, `bytes` or `small`."""
        return sum(getattr(part, name) for part in self.parts)

    @property
    def mean_bytes(self) -> float:
        """Mean bytes of one request."""
        return self.total("bytes") / max(self.total("count"), 1)

    @property
    def cumulated(self) -> float:
        """Time in the program's calls concerned, all ranks."""
        return sum(part.asked.cumulated for part in self.parts)

    @property
    def elapsed(self) -> float:
        """Upper bound of the time in these calls of the slowest rank."""
        return sum(part.asked.elapsed for part in self.parts)

    @property
    def asked_bytes(self) -> int:
        """Bytes that the program requested."""
        return sum(part.asked.bytes for part in self.parts)

    @property
    def asked_calls(self) -> int:
        """Number of the program's calls."""
        return sum(part.asked.count for part in self.parts)

    @property
    def paths(self) -> list[str]:
        """Paths of the files, the one with most time first."""
        ordered = sorted(self.parts, key=lambda part: (-part.asked.cumulated, -part.bytes))
        return list(dict.fromkeys(part.use.path for part in ordered))

    @property
    def names(self) -> str:
        """Names of the files in words."""
        return files_of(self.paths[:MOST_FILES], len(self.paths))


class SeenRun:
    """One run, prepared for the facts."""

    def __init__(self, run: PreparedRun, whole: CounterRows) -> None:
        self.run, self.whole = run, whole
        self.profile, self.figures, self.files = run.profile, run.figures, run.files
        self.n_ranks = run.n_ranks

    @cached_property
    def io_cumulated(self) -> float:
        """I/O time of all ranks, with calls on names of files that were never opened."""
        own = self.whole.calls().cumulated
        if not len(self.profile.processes):
            return own
        return max(own, float(self.profile.program["outermost_ns"].sum()) * 1e-9)

    @cached_property
    def transfers(self) -> tuple[Transfers, ...]:
        """How HDF5 carried out the transfers of each file and direction, as far as is known."""
        return transfers_of(self.profile)

    @cached_property
    def moved_bytes(self) -> int:
        """Bytes that the program requested to move."""
        return self.profile.read_bytes + self.profile.write_bytes

    @property
    def is_timed(self) -> bool:
        """Whether the source has times of I/O."""
        return math.isfinite(self.figures.io_seconds) and self.io_cumulated > 0

    @cached_property
    def traffic(self) -> tuple[Traffic, ...]:
        """Data calls of all files by direction, without files of which nothing is known."""
        found = (
            self._traffic(use, writing)
            for use in self.files
            for writing, _ in WAYS
            if not use.why_missing(_PARTS[writing]) and not use.path.startswith("<STD")
        )
        return tuple(one for one in found if one.bytes or one.asked.bytes)

    @cached_property
    def _reached(self) -> dict[tuple[int, bool], tuple[int, int, tuple[int, ...]]]:
        """Return count, bytes and sizes of the requests to the operating system, by file."""
        rows = system_rows(self.profile, self.profile.counters)
        files, place = np.unique(rows["file"], return_inverse=True)
        found = {}
        for writing, ops in WAYS:
            count = np.bincount(place, rows["count"][:, ops].sum(axis=1), len(files))
            moved = np.bincount(place, rows["bytes"][:, ops].sum(axis=1), len(files))
            sizes = np.zeros((len(files), len(SIZE_EDGES)), np.int64)
            np.add.at(sizes, place, rows["write_sizes" if writing else "read_sizes"])
            for file, *values in zip(
                files.tolist(), count.tolist(), moved.tolist(), sizes.tolist(), strict=True
            ):
                found[file, writing] = (int(values[0]), int(values[1]), tuple(values[2]))
        return found

    def _traffic(self, use: FileUse, writing: bool) -> Traffic:
        ops = dict(WAYS)[writing]
        asked = _with_seeks(use, use.calls(ops), writing)
        count, moved, sizes = self._reached.get((use.index, writing), (0, 0, ()))
        is_reached = count > 0
        if not is_reached:
            rows = use.of_layer(use.top)
            sizes = tuple(rows["write_sizes" if writing else "read_sizes"].sum(axis=0).tolist())
            count, moved = asked.count, asked.bytes
        return Traffic(use, writing, asked, count, moved, sizes, is_reached)

    def concern(self, parts: Iterable[Traffic]) -> Concern | None:
        """Return the sum of some traffic; None if there is none."""
        listed = tuple(parts)
        return Concern(listed) if listed else None

    def share(self, seconds: float) -> float:
        """Return some time of all ranks as a share of the I/O time of all ranks."""
        return min(seconds / self.io_cumulated, 1.0) if self.is_timed else math.nan

    def fact(
        self,
        code: str,
        text: str,
        concern: Concern,
        figures: Numbers,
        *,
        part: float = 1.0,
        is_minor: bool = False,
    ) -> Fact:
        """Make a fact about some traffic.

        Args:
            code: Name of the fact.
            text: Sentence with its figures.
            concern: Calls that the fact is about.
            figures: Numbers behind the sentence.
            part: Part of the concern's weight that the fact explains.
            is_minor: Whether the fact is only to be listed, whatever its share.
        """
        share = self.share(concern.cumulated)
        by_bytes = concern.asked_bytes / self.moved_bytes if self.moved_bytes else 0.0
        weight = part * min(share if math.isfinite(share) else by_bytes, 1.0)
        paths = concern.paths
        return Fact(
            code=code,
            text=text,
            share_of_io=share,
            seconds=concern.elapsed if self.is_timed else math.nan,
            weight=weight,
            unusual=weight >= LEAST_WEIGHT and not is_minor,
            figures=figures,
            files=tuple(paths[:MOST_FILES]),
            n_files=len(paths),
        )

    def timed_fact(
        self, code: str, text: str, cumulated: float, elapsed: float, figures: Numbers,
        files: Sequence[str] = (),
    ) -> Fact:  # fmt: skip
        """Make a fact about calls that move no data; its weight is their share of the time."""
        share = self.share(cumulated)
        weight = share if math.isfinite(share) else 0.0
        return Fact(
            code, text, share, elapsed if self.is_timed else math.nan, weight,
            weight >= LEAST_WEIGHT, figures, tuple(files[:MOST_FILES]), len(files),
        )  # fmt: skip


def _with_seeks(use: FileUse, asked: Calls, writing: bool) -> Calls:
    """Return data calls with the seeks of streams, which write and read the stream's buffer."""
    seeks = use.calls([Op.META], layers=[IoLayer.STDIO])
    if not seeks.cumulated or writing is not (use.write_bytes >= use.read_bytes):
        return asked
    return replace(
        asked,
        cumulated=asked.cumulated + seeks.cumulated,
        elapsed=asked.elapsed + seeks.elapsed,
    )


class FactRule(abc.ABC):
    """One thing that an expert looks at.

    A member looks at a run without knowing what its storage costs, and tells a fact if the run is
    not as usual in this. To add one, write its class in a file `_facts_SUBJECT.py`, name it in
    `FACT_RULES` of `_tell.py`, and describe it in docs/reference/findings.md.

    Attributes:
        code: Name of the fact, as documented in docs/reference/findings.md.
        subject: What is looked at, in the plural: "sizes of requests".
    """

    code: str
    subject: str

    @abc.abstractmethod
    def look(self, run: SeenRun) -> Iterable[Fact]:
        """Return what is unusual; nothing if all is as usual."""

    def concerns(self, run: SeenRun) -> bool:
        """Return whether a run of this kind can have the fact at all."""
        return True

    def why_unknown(self, run: SeenRun) -> str:
        """Return why this source cannot tell; empty if it can."""
        return run.profile.why_missing(ReportedPart.BYTES)
