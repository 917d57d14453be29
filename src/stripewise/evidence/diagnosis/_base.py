# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a rule, and the data that every rule may use."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from stripewise.core import Exchange, Interval, StorageCosts, around, interpolated
from stripewise.evidence.facts import Mpiio, mpiio_of, stack_of
from stripewise.evidence.figures import READS, WRITES, Calls, Figures, FileUse
from stripewise.evidence.patterns import Pattern
from stripewise.evidence.trace import Op, RunProfile, Trace
from stripewise.present import files_of

LEAST_SECONDS = 0.1
LEAST_SHARE = 0.05

ADDED = ("system_calls", "system_bytes", "writes", "read_bytes", "wanted_bytes", "file_bytes")

WAYS = ((True, WRITES), (False, READS))
"""Directions: whether the calls write, and the independent and collective operations."""

_EACH_PIECE = Interval(1e-7, 1e-6, 5e-6)
"""Seconds for each piece of an exchange without a measurement."""

Numbers = Mapping[str, float | int | str]


def opening_of(use: FileUse) -> Calls:
    """Return the opens and closes of a file; Darshan has one time of these and other metadata."""
    found = use.calls((Op.OPEN, Op.CLOSE))
    return found if found.cumulated else use.calls((Op.OPEN, Op.CLOSE, Op.META))


@dataclass(frozen=True)
class PreparedRun:
    """One run, prepared for the rules.

    Attributes:
        profile / trace / figures / files / patterns: Same as in the diagnosis.
        storage: Cost of requests on the storage of the run's files.
    """

    profile: RunProfile
    trace: Trace | None
    figures: Figures
    files: Sequence[FileUse]
    patterns: Sequence[Pattern]
    storage: StorageCosts

    @cached_property
    def mpiio(self) -> Mpiio:
        """MPI-IO implementation that the run used."""
        return mpiio_of(self.profile)

    @property
    def stack(self) -> str:
        """Name of the run's stack among the measured ones."""
        return stack_of(self.profile, self.mpiio)

    @property
    def n_ranks(self) -> int:
        """Number of ranks of the run, 0 without MPI."""
        return self.profile.n_ranks

    @property
    def least_gain(self) -> float:
        """Minimum gain that is worth a change: 5 % of the run and 0.1 s."""
        return max(LEAST_SECONDS, LEAST_SHARE * self.profile.elapsed_seconds)

    def now(self, seconds: float) -> Interval:
        """Return a measured time as an interval, with the noise of this storage."""
        return around(seconds, self.storage.spread)

    @property
    def ranks_a_node(self) -> int:
        """Maximum number of ranks on one node, if they are spread evenly."""
        return -(-self.n_ranks // max(len(self.profile.hosts), 1))

    def measured(self, stack: str = "", *, collective: bool = True) -> Exchange | None:
        """Return the measurement of a stack (by default the run's) with this number of ranks."""
        return self.storage.exchanged(
            stack or self.stack, self.ranks_a_node, collective=collective
        )

    def exchange(
        self,
        moved: float,
        piece: float,
        *,
        writing: bool,
        stack: str = "",
        collective: bool = True,
    ) -> Interval | None:
        """Return the time of a transfer of interleaved pieces by all ranks; None if unknown.

        The time was measured on this stack by the benchmark kernel. Without a measurement, unless
        ranks share processors, it is 1 to 4 times the time of the same bytes in large requests of
        one process, and 0.1 to 5 us for each piece, which is packed, sent and sorted (assumed:
        1.8 s for 525,000 pieces of 22 bytes with ROMIO under Open MPI). In independent transfers
        each rank also moves the data between its pieces, and the ranks wait for each other's
        locks: these take longer in proportion to the number of ranks.
        """
        known = self.measured(stack, collective=collective)
        if known is not None:
            table = known.write if writing else known.read
            times = 1.0 if collective else max(self.n_ranks / known.ranks, 1.0)
            return interpolated(table, max(piece, 1.0), per_byte=True).scaled(times * moved)
        crowded = self.ranks_a_node > self.storage.processors
        if self.storage.is_measured and (crowded or not collective):
            return None
        bulk = self.storage.bulk(moved, writing=writing)
        times = 1.0 if collective else 2.0 * self.n_ranks
        whole = Interval(bulk.low, 2 * bulk.middle, 4 * bulk.high).scaled(times)
        return whole.plus(_EACH_PIECE.scaled(moved / max(piece, 1.0)))


def capped(gain: Interval | None, most: float) -> Interval | None:
    """Return a gain that is at most `most` seconds: the time of the layer that is changed."""
    return None if gain is None else Interval(*(min(end, most) for end in gain))


@dataclass(frozen=True)
class Hit:
    """One file (or the whole run) to which a rule applies.

    Attributes:
        use: Use of the file; None for the whole run.
        gain: Seconds of elapsed time that the remedy saves; None if unknown.
        stake: Seconds spent in the calls concerned.
        calls / bytes: Number and bytes of the calls concerned; they add up over files.
        evidence: Further numbers; the report shows those of the costliest file.
        writing: Direction of the calls; None for both or neither.
        rank: Rank that spent the time, if only one rank used the file; otherwise -1.
    """

    use: FileUse | None
    gain: Interval | None
    stake: float
    calls: int = 0
    bytes: int = 0
    evidence: Numbers = field(default_factory=dict)
    writing: bool | None = None
    rank: int = -1

    @classmethod
    def of_calls(
        cls,
        use: FileUse,
        calls: Calls,
        gain: Interval | None,
        writing: bool | None,
        evidence: Numbers | None = None,
    ) -> Hit:
        """Make a hit of some calls to a file in one direction; the stake is the time in them."""
        numbers = evidence or {}
        rank = use.only_rank
        return cls(use, gain, calls.elapsed, calls.count, calls.bytes, numbers, writing, rank)

    @property
    def expected(self) -> float:
        """Expected gain in seconds, 0 for a fact."""
        return self.gain.middle if self.gain is not None else 0.0


@dataclass(frozen=True)
class Merged:
    """Merged hits of one rule and direction, from which the texts of a finding are made.

    Attributes:
        writing: Whether the calls concerned write.
        gain / stake: Totals of the hits; for files of single ranks, the rank with the largest
            loss.
        calls / bytes: Sums over the hits.
        files: Paths, costliest first, at most 16; `n_files` is their full number.
        evidence: Numbers of the costliest file; those in `ADDED` are sums over all files.
    """

    writing: bool
    gain: Interval | None
    stake: float
    calls: int
    bytes: int
    files: tuple[str, ...]
    n_files: int
    evidence: Numbers

    @property
    def way(self) -> str:
        """Direction as a word: "writes" or "reads"."""
        return "writes" if self.writing else "reads"

    @property
    def way_files(self) -> str:
        """Direction and files: "writes to out.h5", "reads from 4 files (a and others)"."""
        return f"{self.way} {'to' if self.writing else 'from'} {self.names}"

    @property
    def names(self) -> str:
        """Names of the files: "out.h5", "4 files (a and others)"."""
        return files_of(self.files, self.n_files)

    @property
    def mean_bytes(self) -> float:
        """Mean bytes of one call, 0 without calls."""
        return self.bytes / self.calls if self.calls else 0.0


class Rule(abc.ABC):
    """Rule that recognizes something that costs time, and knows a remedy and its gain.

    A rule describes itself in class attributes, finds hits with the gain of its remedy, and words
    them as texts. Merging, the threshold for reporting, severity and order are common to all rules
    (`_judge.py`). Within a `group`, a file and direction is reported once, by the first applicable
    rule in the registry.

    Attributes:
        code: Name of the rule, as documented in docs/reference/findings.md.
        group: "requests", "metadata", "names", "sync", "balance" or "hints".
        basis: One line on how the time after the remedy is estimated.
        title: Finding in general words without file names, for readers who may not see names.
        general_remedy: Remedy in general words without file names.
        tunes: Whether `stripewise tune` may help.
        claims: Whether the rule estimates gains; the others report facts, whatever their cost.
    """

    code: str
    group: str
    basis: str
    title: str
    general_remedy: str
    tunes: bool = False
    claims: bool = True

    @abc.abstractmethod
    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Find where the rule applies, whether or not the gain is likely."""

    @abc.abstractmethod
    def phrase(self, merged: Merged) -> str:
        """Return the finding as a phrase: "4 KiB independent writes to out.h5"."""

    @abc.abstractmethod
    def text(self, merged: Merged) -> str:
        """Describe what was observed, with numbers, in one or two sentences."""

    @abc.abstractmethod
    def remedy(self, merged: Merged) -> str:
        """Describe the remedy; its short first sentence also appears in the headline."""

    def tune_options(self, merged: Merged) -> str | None:
        """Return options of `stripewise tune`; None if tuning does not help."""
        return "" if self.tunes else None

    def lines(self, merged: Merged, run: PreparedRun) -> tuple[str, ...]:
        """Return shell lines that apply the remedy; none if the source must change."""
        return ()
