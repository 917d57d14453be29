# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the similarity of two cases, and matches a study or a class of its files.

A distance is a sum of weighted differences, each between 0 and 1.  The weights and NEAR are
fitted by benchmarks/likeness.py to the loss of settings that are transferred from one simulated
case to another; docs/design/memory.md lists them, the errors, and which weights are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log2

from stripewise.core import PatternSummary
from stripewise.evidence.patterns import Pattern, distances, pattern_of
from stripewise.learning.knowledge._records import (
    LIBRARIES,
    WHOLE,
    Fingerprint,
    Lesson,
    LibraryVersions,
    Machine,
    StudiedCase,
    lesson_of_part,
    parts_of,
)

SAME = 0.05
"""Distance up to which behaviours count as the same: clocks, dates and retries vary."""
NEAR = 0.2
"""Distance beyond which cases are not similar."""
STACK_WEIGHT = 0.26
MACHINE_WEIGHT = 0.5
"""Distance added by a stack or a machine that has nothing in common."""
SCALE_WEIGHT = 0.26
"""Distance added by an entirely different scale."""
RANK_OCTAVES = 5.0
VOLUME_OCTAVES = 10.0
"""Factors of two in ranks or nodes, and in bytes, that make an entirely different scale."""
CALL_OCTAVES = 10.0
"""Factors of two in bytes per call, and in calls, that make an entirely different behaviour."""
OCTAVES = 1.67
"""Expected loss, in factors of two, of settings that are transferred over a distance of 1."""
COUNTED_WEIGHTS = {
    "shares": 0.15, "read": 0.13, "noncontiguous": 0.08, "call": 0.28, "calls": 0.21,
    "shared": 0.05, "libraries": 0.10,
}  # fmt: skip
"""Differences of behaviour that counters show, with their weights."""
PATTERN_WEIGHT = 0.46
"""Share of the behaviour that is the division of datasets, if it is known for both."""


@dataclass(frozen=True)
class Likeness:
    """Comparison of two cases.

    Attributes:
        behaviour / scale / stack / machine: Distances from 0 (the same) to 1.
        same_program: Whether executable, number of ranks and behaviour are the same.
    """

    behaviour: float
    scale: float
    stack: float
    machine: float
    same_program: bool = False

    @property
    def log_loss(self) -> float:
        """Log of the expected slow-down of settings transferred between them."""
        return self.distance * OCTAVES * log(2)

    @property
    def distance(self) -> float:
        """Total distance; behaviour that is the same adds nothing."""
        behaviour = 0.0 if self.same_program else self.behaviour
        return (
            behaviour
            + SCALE_WEIGHT * self.scale
            + STACK_WEIGHT * self.stack
            + MACHINE_WEIGHT * self.machine
        )

    @property
    def is_near(self) -> bool:
        """Whether one case may learn from the other."""
        return self.distance <= NEAR

    @property
    def closeness(self) -> float:
        """Closeness, from 1 for the same case to 0 at the limit."""
        return max(0.0, 1.0 - self.distance / NEAR)

    @property
    def words(self) -> str:
        """Description of the common features, for users."""
        program = "same program" if self.same_program else "like I/O"
        stack = "same stack" if not self.stack else "other version of the stack"
        if self.stack >= _OTHER_MPIIO:
            stack = "other MPI-IO"
        parts = [program, stack]
        if self.machine > SAME:
            parts.append("another machine")
        return ", ".join(parts)


def compare(first: StudiedCase, second: StudiedCase) -> Likeness:
    """Compare two cases."""
    behaviour = behaviour_distance(first.fingerprint, second.fingerprint)
    return Likeness(
        behaviour,
        scale_distance(first.fingerprint, second.fingerprint),
        stack_distance(first.stack, second.stack),
        machine_distance(first.machine, second.machine),
        behaviour <= SAME and _same_executable(first.fingerprint, second.fingerprint),
    )


def behaviour_distance(a: Fingerprint, b: Fingerprint) -> float:
    """Return the distance of two programs' I/O; patterns count if both are known."""
    counted = _counted_distance(a, b)
    if not a.patterns or not b.patterns:
        return counted
    divided = pattern_distance(a, b)
    return (1 - PATTERN_WEIGHT) * counted + PATTERN_WEIGHT * divided


def pattern_distance(a: Fingerprint, b: Fingerprint) -> float:
    """Return the mean distance of each dataset's division to the nearest, weighted by bytes."""
    there = distances(_patterns(a), _patterns(b))
    back = zip(*there, strict=True)
    return (_nearest(a.patterns, there) + _nearest(b.patterns, back)) / 2


def _nearest(patterns: Sequence[PatternSummary], distances: Iterable[Sequence[float]]) -> float:
    whole = sum(one.share for one in patterns)
    nearest = (one.share * min(row) for one, row in zip(patterns, distances, strict=True))
    total = sum(nearest)
    return total / whole if whole > 0 else 0.0


def _patterns(print_: Fingerprint) -> list[Pattern]:
    return [pattern_of(one, print_.n_ranks) for one in print_.patterns]


def scale_distance(a: Fingerprint, b: Fingerprint) -> float:
    """Return the distance of two programs' scales; a volume may be unknown."""
    volume = _scaled(a.volume_log2, b.volume_log2, VOLUME_OCTAVES)
    return (
        0.18 * _octaves(a.n_ranks, b.n_ranks, RANK_OCTAVES)
        + 0.25 * _octaves(a.n_hosts, b.n_hosts, RANK_OCTAVES)
        + 0.57 * (volume if a.volume_log2 and b.volume_log2 else 0.0)
    )


def _counted_distance(a: Fingerprint, b: Fingerprint) -> float:
    shares = (
        abs(a.collective_share - b.collective_share)
        + abs(a.independent_share - b.independent_share)
        + abs(a.posix_share - b.posix_share)
    ) / 2
    differences = {
        "shares": min(1.0, shares),
        "read": abs(a.read_share - b.read_share),
        "noncontiguous": a.noncontiguous != b.noncontiguous,
        "call": _scaled(a.bytes_per_call_log2, b.bytes_per_call_log2, CALL_OCTAVES),
        "calls": _scaled(a.calls_per_rank_log2, b.calls_per_rank_log2, CALL_OCTAVES),
        "shared": bool(a.shared_files) != bool(b.shared_files),
        "libraries": any(getattr(a, name) != getattr(b, name) for name in LIBRARIES),
    }
    return sum(weight * differences[name] for name, weight in COUNTED_WEIGHTS.items())


_OTHER_MPIIO = 1.0
_OTHER_DRIVER = 0.8


def stack_distance(a: LibraryVersions, b: LibraryVersions) -> float:
    """Return the distance of two stacks; what is unknown for one of them does not count."""
    if a.mpi_family != b.mpi_family:
        return 1.0
    distance = _OTHER_MPIIO if a.mpiio != b.mpiio else 0.0
    if a.mpiio_driver and b.mpiio_driver and a.mpiio_driver != b.mpiio_driver:
        distance += _OTHER_DRIVER
    distance += _versions(a.mpi_version, b.mpi_version)
    for name in ("hdf5", "netcdf", "pnetcdf", "adios2"):
        mine, other = getattr(a, name), getattr(b, name)
        distance += 0.1 if mine and other and mine != other else 0.0
    return min(1.0, distance)


def machine_distance(a: Machine, b: Machine) -> float:
    """Return the distance of two machines, which depends on the storage most.

    Results from an emulated storage do not apply to another one, nor to this host's own; its
    number of ranks per node is a matter of scale.
    """
    if _emulated(a) != _emulated(b):
        return 1.0
    return (
        0.30 * (a.filesystem != b.filesystem)
        + 0.17 * (a.device != b.device)
        + 0.29 * (bool(a.storage and b.storage) and a.storage != b.storage)
        + 0.04 * (a.architecture != b.architecture)
        + 0.08 * (a.cpu != b.cpu)
        + 0.04 * _octaves(a.processors, b.processors, 4)
        + 0.04 * _octaves(a.memory_bytes, b.memory_bytes, 4)
        + 0.04 * (a.kernel.split(".")[:2] != b.kernel.split(".")[:2])
    )


def _emulated(machine: Machine) -> tuple[str, ...]:
    """Return what distinguishes emulated storages; empty for a host's own storage."""
    words = (word for word in machine.emulated.split(", ") if not word.endswith("ranks a node"))
    return (*words, machine.storage) if machine.emulated else ()


def _same_executable(a: Fingerprint, b: Fingerprint) -> bool:
    known = bool(a.executable_sha256) and a.executable_sha256 == b.executable_sha256
    return known and (a.n_ranks, a.n_hosts) == (b.n_ranks, b.n_hosts)


def _versions(a: str, b: str) -> float:
    """Return the distance of two versions by their first different number."""
    if not a or not b or a == b:
        return 0.0
    mine, other = a.split("."), b.split(".")
    if mine[0] != other[0]:
        return 0.3
    return 0.1 if mine[1:2] != other[1:2] else 0.02


def _scaled(a: float, b: float, whole: float) -> float:
    return min(1.0, abs(a - b) / whole)


def _octaves(a: int, b: int, whole: float) -> float:
    """Return the number of factors of two between two numbers, as a share of a maximum."""
    return _scaled(log2(max(1, a)), log2(max(1, b)), whole)


# Studies whose program, or a class of its files, is similar to a case.


@dataclass(frozen=True)
class Match:
    """Study that is similar to a case.

    Attributes:
        study: Study as it is stored.
        match: Glob of the similar class of files; empty for the whole program.
        likeness: Likeness of the case and that part.
    """

    study: Lesson
    match: str
    likeness: Likeness

    @cached_property
    def lesson(self) -> Lesson:
        """Lesson of the study for the part that is similar.

        The same program has files of the same names, so settings for some of them are kept.
        """
        if self.likeness.same_program and self.match == WHOLE:
            return self.study
        return lesson_of_part(self.study, self.match)

    @property
    def order(self) -> tuple[float, bool, float]:
        """Sort key: nearest first; if equal, the whole before a part, then the newest."""
        newest = -self.study.recorded_unix_seconds
        return (self.likeness.distance, self.match != WHOLE, newest)


def match_of(case: StudiedCase, lesson: Lesson) -> Match | None:
    """Return how a study is similar to a case; None if it is not or has nothing to learn."""
    found = nearest_part(case, lesson.case)
    return Match(lesson, *found) if found else None


def nearest_part(case: StudiedCase, other: StudiedCase) -> tuple[str, Likeness] | None:
    """Return the glob and likeness of the part of another case that is nearest to a case.

    If parts are equally near, the whole program is preferred; None if no part is near.
    """
    if other.synced != case.synced:
        return None
    alike = [
        (match, compare(case, part))
        for match, part in parts_of(other).items()
        if _may_be_near(case, part)
    ]
    near = [one for one in alike if one[1].is_near]
    return min(near, key=lambda one: (one[1].distance, one[0] != WHOLE), default=None)


def _may_be_near(case: StudiedCase, other: StudiedCase) -> bool:
    """Return whether two cases can be near, leaving out patterns, which take the time."""
    counted = (1 - PATTERN_WEIGHT) * _counted_distance(case.fingerprint, other.fingerprint)
    least = Likeness(
        counted,
        scale_distance(case.fingerprint, other.fingerprint),
        stack_distance(case.stack, other.stack),
        machine_distance(case.machine, other.machine),
        same_program=counted <= SAME,
    )
    return least.is_near


def matches_of(case: StudiedCase, lessons: Iterable[Lesson]) -> list[Match]:
    """Return the studies that are similar to a case, the nearest first."""
    found = [match for lesson in lessons if (match := match_of(case, lesson)) is not None]
    return sorted(found, key=lambda match: match.order)
