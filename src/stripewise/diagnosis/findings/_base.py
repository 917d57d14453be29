# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of a rule, and what every rule may look at."""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stripewise.diagnosis._records import Figures, RequestRow
from stripewise.diagnosis._sums import Calls
from stripewise.diagnosis._usage import DATA, READS, WRITES, FileUse
from stripewise.diagnosis.findings._mpi import mpiio_of
from stripewise.model import Evidence, Op, Pattern, RunProfile, Trace
from stripewise.patterns import dominant

ASSUMED_RATE = float(1 << 30)
"""Bytes per second that large requests of this run would reach, where none were seen. Assumed."""

BULK_BYTES = 1 << 20
"""Requests from here on count as large: Lustre's default stripe; Drishti's small_bytes."""

_BULK_LEAST = 16 << 20


class Run:
    """One run, prepared for the rules.

    Attributes:
        profile / trace / figures / files / requests / patterns: As in the diagnosis.
        threshold: Least loss that is worth a finding, seconds.
        mpiio: Whose MPI-IO it used.
        told_of: Files whose whole time, or time in metadata, a finding has explained already.
    """

    def __init__(
        self,
        evidence: Evidence,
        figures: Figures,
        files: Sequence[FileUse],
        requests: Sequence[RequestRow],
        patterns: Sequence[Pattern],
        threshold: float,
    ) -> None:
        """Take what was already found out."""
        self.profile: RunProfile = evidence.profile
        self.trace: Trace | None = evidence.trace
        self.figures = figures
        self.files = files
        self.requests = {(row.path, row.writing): row for row in requests}
        self.patterns = patterns
        self.threshold = threshold
        self.mpiio = mpiio_of(evidence.profile)
        self.told_of: set[str] = set()

    @property
    def n_ranks(self) -> int:
        """Ranks of the run, 0 without MPI."""
        return self.profile.n_ranks

    @property
    def n_hosts(self) -> int:
        """Hosts, 1 if they are not known."""
        return max(1, len(self.profile.hosts))

    @property
    def open_files(self) -> list[FileUse]:
        """Files whose metadata are not explained yet."""
        return [use for use in self.files if use.path not in self.told_of]

    def pattern_of(self, use: FileUse, writing: bool) -> Pattern | None:
        """Pattern of the dataset of a file that most bytes go to or come from, if known."""
        return dominant(
            one for one in self.patterns if one.file == use.path and one.writing == writing
        )

    @functools.cached_property
    def _rates(self) -> dict[bool, list[tuple[float, str]]]:
        """By direction: what each file reached in large requests, the best first."""
        return {True: self._large(WRITES), False: self._large(READS)}

    def _large(self, ops: Sequence[Op]) -> list[tuple[float, str]]:
        found = []
        for use in self.files:
            calls = use.calls(ops)
            large = calls.mean_bytes >= BULK_BYTES and calls.bytes >= _BULK_LEAST
            if large and calls.elapsed > 0:
                found.append((calls.bytes / calls.elapsed, use.path))
        return sorted(found, reverse=True)

    def bulk_seconds(self, moved: int, *, writing: bool, besides: FileUse | None = None) -> float:
        """Time that the same bytes would take in large requests.

        At the best rate that another file of this run reached in requests of 1 MiB or more,
        otherwise at 1 GiB/s (assumed).

        Args:
            moved: Bytes.
            writing: Direction.
            besides: The file in question, which is no measure of itself.
        """
        own = "" if besides is None else besides.path
        others = (rate for rate, path in self._rates[writing] if path != own)
        return moved / next(others, ASSUMED_RATE)

    def loss(self, use: FileUse, calls: Calls, *, writing: bool) -> float:
        """Time of some calls to a file beyond what the same bytes take in large requests."""
        bulk = self.bulk_seconds(calls.bytes, writing=writing, besides=use)
        return max(0.0, calls.elapsed - bulk)


@dataclass(frozen=True)
class Hit:
    """One file (or the whole run) to which a rule applies.

    Attributes:
        use: The file; None: the run.
        cost / stake: Seconds of elapsed time that are lost, that are spent in the calls.
        calls / bytes: Concerned; they add up over files.
        evidence: Further numbers; those of the costliest file are shown.
        writing: Direction; None: both or neither.
        rank: Whose time it is, where only that rank used the file; otherwise -1.
    """

    use: FileUse | None
    cost: float | None
    stake: float
    calls: int = 0
    bytes: int = 0
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    writing: bool | None = None
    rank: int = -1

    @classmethod
    def of_calls(
        cls,
        use: FileUse,
        calls: Calls,
        cost: float,
        writing: bool,
        evidence: Mapping[str, float | int | str] | None = None,
    ) -> Hit:
        """Some data calls to a file in one direction; at stake is the time in them."""
        numbers = evidence or {}
        rank = use.only_rank
        return cls(use, cost, calls.elapsed, calls.count, calls.bytes, numbers, writing, rank)


@dataclass(frozen=True)
class Told:
    """Hits of one rule together: what its words are made of.

    Attributes:
        hits: Costliest first.
        cost / stake: Together; over files of single ranks the rank that lost most.
        calls / bytes: Sums.
        files: Paths, costliest first, at most 16; `n_files`: all.
    """

    hits: tuple[Hit, ...]
    cost: float | None
    stake: float
    calls: int
    bytes: int
    files: tuple[str, ...]
    n_files: int

    @property
    def first(self) -> Hit:
        """The costliest."""
        return self.hits[0]

    @property
    def mean_bytes(self) -> float:
        """Of one call."""
        return self.bytes / self.calls if self.calls else math.nan


class Rule(abc.ABC):
    """Something that costs time, how to see it, what to do.

    A rule names itself in class attributes, finds hits, and puts them into words; merging,
    threshold, severity and order are common (`_judge.py`).  Within a `group` a file and
    direction is told of once, by the first rule in the registry that applies.

    Attributes:
        code: Name, as documented in docs/reference/findings.md.
        group: "requests", "metadata", "balance", "layout", "sync" or "hints".
        basis: How the loss is estimated, one line.
        tunes: Whether `stripewise tune` may help.
        costless: The loss cannot be estimated; the time at stake must reach the threshold.
        explains_all: It explains all time that the file took; no other rule tells of it.
        stakeless: It is told whatever the time, as `info` below the threshold.
        also: Further groups that have nothing to add to a file that it tells of.
    """

    code: str
    group: str
    basis: str
    tunes: bool = False
    costless: bool = False
    stakeless: bool = False
    also: tuple[str, ...] = ()
    explains_all: bool = False

    @abc.abstractmethod
    def hits(self, run: Run) -> Iterable[Hit]:
        """Find where the rule applies; thresholds of cost are not its business."""

    @abc.abstractmethod
    def phrase(self, told: Told) -> str:
        """What it is, as a phrase: "4 KiB independent writes to out.h5"."""

    @abc.abstractmethod
    def text(self, told: Told) -> str:
        """What was seen, with numbers, in one or two sentences."""

    @abc.abstractmethod
    def remedy(self, told: Told) -> str:
        """What to do, in words; the first sentence, a short one, stands alone in the headline."""

    def tune_options(self, told: Told) -> str | None:
        """Options of `stripewise tune`; None where tuning does not help."""
        return "" if self.tunes else None

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Shell lines that do it without Stripewise; none if it takes a change of source."""
        return ()


def directions(use: FileUse) -> list[tuple[bool, Op, Calls]]:
    """Independent own calls of a file by direction: (writing, op, calls), those that exist."""
    found = []
    for writing, op in ((True, Op.WRITE), (False, Op.READ)):
        calls = use.calls([op])
        if calls.count:
            found.append((writing, op, calls))
    return found


def mostly_independent(use: FileUse, writing: bool) -> bool:
    """Whether more than half of the bytes that the program moves are in independent calls."""
    every = use.calls(WRITES if writing else READS)
    alone = use.calls([Op.WRITE if writing else Op.READ])
    return alone.count > 0 and 2 * alone.bytes >= every.bytes


def has_data(use: FileUse) -> bool:
    """Whether the program moved data of the file."""
    return use.calls(DATA).count > 0


def word(writing: bool) -> str:
    """Name a direction: "writes" or "reads"."""
    return "writes" if writing else "reads"


def toward(writing: bool) -> str:
    """Name the side: "to" or "from"."""
    return "to" if writing else "from"
