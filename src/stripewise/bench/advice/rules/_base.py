# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of a rule of advice, and the storage, campaigns and program it uses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from types import MappingProxyType

from stripewise.bench.campaign import CaseFigures
from stripewise.bench.limits import Limits
from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import StripewiseError
from stripewise.present import plural
from stripewise.storage.machines import SPEC_OF, Dimension, Figure, Storage
from stripewise.storage.simulation import (
    Simulated,
    simulate,
    workload_from_kernel,
    workload_from_notation,
)
from stripewise.storage.stacks import Workload

GAINS = 1.15
"""Gain below which users are not advised to change anything."""
MOST_CASES = 3
"""Maximum number of a campaign's cases that are named as evidence of one figure."""


@dataclass(frozen=True)
class How:
    """One way to follow advice.

    Attributes:
        kind: "command" (before the job), "variable" (in the job's environment), "hint" (of
            MPI-IO), "code" (in the program) or "directive" (in the job script).
        text: One line to copy.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Trial:
    """One way to do the I/O of a job, as input of the model.

    Attributes:
        words: Description for users: "4 stripes".
        workload: Workload of the job.
        stack: Name of the software stack; empty for the usual one of the storage.
        settings: Full tunable names and values.
        transport: Name of the variant of the network; empty for the default.
        capacity_bytes: Burst-buffer capacity that the job requests; 0 for the least.
    """

    words: str
    workload: Workload
    stack: str = ""
    settings: tuple[tuple[str, Value], ...] = ()
    transport: str = ""
    capacity_bytes: int = 0


@dataclass(frozen=True)
class Claim:
    """Statement of advice about the model, which can be tested.

    Attributes:
        advised: Trial that users are advised to use.
        others: Alternatives, none of which is much better.
        loses: Trials that users should avoid because they are slower.
    """

    advised: Trial
    others: tuple[Trial, ...] = ()
    loses: tuple[Trial, ...] = ()


@dataclass(frozen=True)
class Advice:
    """One piece of advice for users.

    Attributes:
        rule: Name of the rule.
        topic: Heading under which users find it.
        sentence: Advice in users' words, with its figures.
        value: Figure of the advice in base units.
        low / high: Range of the figure, as far as limits are known; equal to `value` if unknown.
        unit: "bytes per second", "operations per second", "nodes" or "seconds".
        evidence: Evidence of the figure, in words or as keys of cases.
        how: Ways to follow it; empty for what not to do.
        is_warning: Whether it says what not to do.
        defaults: Environment variable to the value with which a site can make it the default for
            everybody; only what a user can undo and what does not change results.
        claim: Testable claim; None if the figure was measured.
    """

    rule: str
    topic: str
    sentence: str
    value: float
    low: float
    high: float
    unit: str
    evidence: tuple[str, ...] = ()
    how: tuple[How, ...] = ()
    is_warning: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    claim: Claim | None = None


@dataclass(frozen=True)
class Need:
    """Prerequisite of a rule's advice.

    Attributes:
        words: What is missing, in words for users.
        met: Returns whether a basis has it.
    """

    words: str
    met: Callable[[Basis], bool]

    @classmethod
    def all_of(cls, words: str, *figures: str) -> Need:
        """Return the need for all of some figures of the storage."""
        return cls(words, lambda basis: basis.knows(*figures))

    @classmethod
    def any_of(cls, words: str, *figures: str) -> Need:
        """Return the need for at least one of some figures of the storage."""
        return cls(words, lambda basis: any(basis.knows(one) for one in figures))


class Rule(ABC):
    """Advises on one topic, from the limits of a storage and never from its name.

    Attributes:
        name: Name of the rule: "striping".
        topic: Heading for users: "Striping".
        needs: Prerequisites of its advice.
    """

    name: str
    topic: str
    needs: tuple[Need, ...] = ()

    @abstractmethod
    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield advice; nothing if no choice makes a difference.

        It is called only if nothing is missing.
        """

    def concerns(self, program: Program) -> bool:
        """Return whether a program makes the choice on which the rule advises."""
        del program
        return True

    def missing(self, basis: Basis) -> str:
        """Return the first need that a basis does not meet; empty if it meets all."""
        return next((need.words for need in self.needs if not need.met(basis)), "")

    def predicted(
        self, basis: Basis, sentence: str, rate: Rate, how: Iterable[How] = (), *,
        claim: Claim | None = None, warns: bool = False,
        defaults: Mapping[str, str] = MappingProxyType({}),
    ) -> Advice:  # fmt: skip
        """Return advice based on a bandwidth that the model predicts."""
        return Advice(
            self.name, self.topic, sentence, rate.value, rate.low, rate.high, "bytes per second",
            basis.evidence(rate), tuple(how), warns, defaults, claim,
        )  # fmt: skip


# Inputs of rules: a storage, the limits and cases of campaigns, a program.

NODES = (1, 4, 16, 64)
"""Job sizes in nodes for general advice, limited to the nodes of the machine."""
GOOD = 0.95
"""Share of the best rate that is good enough: the simplest setting that reaches it is advised."""
FACTOR, UNIT = "mpiio.striping_factor", "mpiio.striping_unit"
_SHARED = "array3d --local 128,128,128"
"""Kernel arguments for 16 MiB per rank of a 3-D array, as written by EPCC's benchio."""
_OWN = "array3d --local 256,256,256"


@dataclass(frozen=True)
class Rate:
    """Bandwidth in bytes per second, with the range that follows from the limits' intervals.

    Attributes:
        value / low / high: Bytes per second.
        limit: What limits it, in words.
        resource: The same as in `stripewise.storage.simulation.Limit`.
    """

    value: float
    low: float
    high: float
    limit: str = ""
    resource: str = ""


@dataclass(frozen=True)
class JobSize:
    """Size of jobs."""

    nodes: int
    ranks_per_node: int

    @property
    def words(self) -> str:
        """Size in words: "16 nodes"."""
        return plural(self.nodes, "node")


@dataclass(frozen=True)
class Program:
    """Program to which advice is narrowed.

    Attributes:
        name: Name of the program, for users.
        facts: Facts of its run.
        workload: Workload from its trace; None if no pattern was recognised.
    """

    name: str
    facts: ProgramFacts
    workload: Workload | None = None

    @property
    def is_shared(self) -> bool:
        """Whether several ranks write or read one file."""
        return self.facts.shared_files > 0 or self.facts.collective_bytes > 0

    @property
    def is_collective(self) -> bool:
        """Whether most of its MPI-IO is collective."""
        return self.facts.collective_bytes > self.facts.independent_bytes

    @property
    def library(self) -> str:
        """Library above MPI-IO: "HDF5", "NetCDF", "PnetCDF", "ADIOS2" or empty."""
        facts = self.facts
        known = (("ADIOS2", facts.uses_adios2), ("NetCDF", facts.uses_netcdf4),
                 ("PnetCDF", facts.uses_pnetcdf), ("HDF5", facts.uses_hdf5))  # fmt: skip
        return next((name for name, used in known if used), "")


@dataclass(frozen=True)
class Basis:
    """Data on which advice is based.

    Attributes:
        storage: Description of the storage, fitted to campaigns or written by hand.
        limits: Limits from campaigns; None if there are none.
        figures: Figures of the campaigns' cases.
        program: Program to which advice is narrowed; None for general advice.
    """

    storage: Storage
    limits: Limits | None = None
    figures: tuple[CaseFigures, ...] = ()
    program: Program | None = None
    _rates: dict[Trial, Rate | None] = field(default_factory=dict, repr=False, compare=False)

    def knows(self, *figures: str) -> bool:
        """Return whether the storage has all of these figures."""
        return all(one in self.storage.figures for one in figures)

    @cached_property
    def unproven_above(self) -> float:
        """Highest measured write rate, bytes per second, if the limit of the whole is unknown."""
        known = self.limits is None or "servers.whole_write" in self.storage.figures
        return inf if known or self.limits is None else self.limits.unproven_above("write")

    @property
    def by_capacity(self) -> bool:
        """Whether a job gets the share of the storage that it requests, as on a burst buffer."""
        return self.storage.value("layout.granularity") > 0

    @property
    def targets(self) -> int:
        """Number of targets of the storage."""
        return int(self.storage.value("servers.targets"))

    @cached_property
    def jobs(self) -> tuple[JobSize, ...]:
        """Job sizes, growing; for a program only its own."""
        if self.program and self.program.workload:
            work = self.program.workload
            return (JobSize(work.nodes, work.ranks_per_node),)
        most = int(self.storage.value("machine.nodes"))
        each = int(self.storage.value("machine.ranks_per_node"))
        return tuple(JobSize(n, each) for n in NODES if n <= most) or (JobSize(1, each),)

    @property
    def largest(self) -> JobSize:
        """Largest job."""
        return self.jobs[-1]

    def shared(self, job: JobSize, *, collective: bool = True) -> Workload:
        """Return the workload of a job that writes into one file."""
        work = self.program.workload if self.program and self.program.is_shared else None
        if work is None or not work.patterns:
            return workload_from_kernel(
                _SHARED, job.nodes, job.ranks_per_node, collective=collective
            )
        share = float(collective)
        return replace(work, patterns=tuple(replace(p, collective=share) for p in work.patterns))

    def own(self, job: JobSize, size_bytes: int = 0) -> Workload:
        """Return the workload of a job whose processes write their own files.

        Args:
            job: Size of the job.
            size_bytes: Size of each file; 0 for that of the program's files, or 128 MiB.
        """
        if not size_bytes and self.program and not self.program.is_shared:
            facts = self.program.facts
            size_bytes = facts.write_bytes // max(facts.n_ranks, 1)
        if not size_bytes:
            return workload_from_kernel(_OWN, job.nodes, job.ranks_per_node)
        return workload_from_notation(
            f"<1D,(BLOCK),({size_bytes})>", job.nodes, job.ranks_per_node,
            element_bytes=1, collective=False,
        )  # fmt: skip

    @cached_property
    def stripe_counts(self) -> tuple[int, ...]:
        """Numbers of stripes to consider: powers of two, and all targets."""
        powers = [1 << n for n in range(14) if 1 << n < self.targets]
        return (*powers, self.targets)

    # ---- model queries -----------------------------------------------------------------------

    def simulated(self, trial: Trial, storage: Storage | None = None) -> Simulated | None:
        """Return the simulation of a trial; None if it is impossible."""
        try:
            return simulate(
                storage or self.storage, trial.workload, trial.stack, dict(trial.settings),
                trial.transport, capacity_bytes=trial.capacity_bytes,
            )  # fmt: skip
        except StripewiseError:
            return None

    def rate(self, trial: Trial) -> float:
        """Return the bandwidth of a trial, bytes per second; 0 if it is impossible or hangs."""
        found = self.simulated(trial)
        return found.bandwidth_bytes_per_second if found else 0.0

    def range(self, trial: Trial) -> Rate:
        """Return the bandwidth of a trial with its range, and what limits it."""
        known = self._rates.get(trial)
        if known is None:
            found = self.simulated(trial)
            value = found.bandwidth_bytes_per_second if found else 0.0
            ends = [
                again.bandwidth_bytes_per_second if again else value
                for end in self._ends
                for again in [self.simulated(trial, end)]
            ]
            first = found.limits[0] if found and found.limits else None
            words, resource = (first.words, first.resource) if first else ("", "")
            low = min(value, *ends)
            if value > self.unproven_above:
                low = min(low, self.unproven_above)
            known = Rate(value, low, max(value, *ends), words, resource)
            self._rates[trial] = known
        return known

    @cached_property
    def _ends(self) -> tuple[Storage, Storage]:
        """Storages with all limits at the worse, and at the better end of their intervals."""
        return _at_end(self.storage, better=False), _at_end(self.storage, better=True)

    def evidence(self, rate: Rate) -> tuple[str, ...]:
        """Return the evidence of a simulated figure, with the cases that show its limit."""
        origin = "limits found by the campaign" if self.limits else "the storage's description"
        limit = f", where the limit is {rate.limit}" if rate.limit else ""
        names = (f"client.{rate.resource}_write", f"servers.{rate.resource}_write")
        cases = self.cases_of(*names)[:MOST_CASES]
        return (f"predicted from {origin}{limit}", *cases)

    def cases_of(self, *figures: str) -> tuple[str, ...]:
        """Return the keys of the cases that show the first of some figures that is a limit."""
        limits = self.limits.limits if self.limits else ()
        return next((one.evidence for one in limits if one.figure in figures), ())

    def simplest(self, trials: Sequence[Trial]) -> Trial:
        """Return the first trial that is nearly as good as the best of them."""
        rates = [self.rate(one) for one in trials]
        most = max(rates)
        return next(one for one, rate in zip(trials, rates, strict=True) if rate >= GOOD * most)

    # ---- trials ------------------------------------------------------------------------------

    def into_one(self, job: JobSize, settings: Mapping[str, Value], words: str = "") -> Trial:
        """Return a trial of collective MPI-IO calls into one file."""
        return Trial(words, self.shared(job), self.storage.stack, as_settings(settings))

    def into_own(self, job: JobSize, stripes: int, size_bytes: int = 0) -> Trial:
        """Return a trial with a file for each process."""
        settings = {FACTOR: stripes}
        words = f"a file for each process, of {plural(stripes, 'stripe')}"
        return Trial(words, self.own(job, size_bytes), "posix-process", as_settings(settings))

    def best_stripes(self, job: JobSize) -> int:
        """Return the least number of stripes with which a job writes one file well."""
        trials = [self.into_one(job, {FACTOR: count}) for count in self.stripe_counts]
        return self.stripe_counts[trials.index(self.simplest(trials))]


# Functions that several rules need.

FIXED_SIZE = Need(
    "it depends on the capacity that a job asks for: see burst-buffer",
    lambda basis: not basis.by_capacity,
)
MPIIO = Need(
    "the description does not say which MPI-IO its users have",
    lambda basis: bool(basis.storage.stack),
)
PROCESS = Need.all_of(
    "what one process writes is not known: add cases with one process", "client.process_write"
)


def as_settings(settings: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """Return settings as a trial stores them."""
    return tuple(sorted(settings.items()))


def keys_of(figures: Iterable[CaseFigures]) -> tuple[str, ...]:
    """Return the distinct keys of the figures' cases."""
    return tuple(dict.fromkeys(one.case.key for one in figures))


def _at_end(storage: Storage, *, better: bool) -> Storage:
    def moved(name: str, figure: Figure) -> Figure:
        if figure.low is None or figure.high is None:
            return figure
        faster = SPEC_OF[name].dimension is Dimension.BANDWIDTH
        return replace(figure, value=figure.high if better is faster else figure.low)

    return replace(storage, figures={n: moved(n, one) for n, one in storage.figures.items()})
