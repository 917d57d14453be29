# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the contract of a rule of advice, and the storage, campaigns and program it sees."""

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
"""Gain below which nobody is asked to change anything."""
MOST_CASES = 3
"""Of a campaign that are named behind one figure."""


@dataclass(frozen=True)
class How:
    """One way to follow advice.

    Attributes:
        kind: "command" (before the job), "variable" (of the job's environment), "hint" (of
            MPI-IO), "code" (in the program) or "directive" (of the job script).
        text: One line to copy.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Trial:
    """One way to do the I/O of a job, as the model is asked about it.

    Attributes:
        words: What it is, for people: "4 stripes".
        workload: Of the job.
        stack: Name of the software stack; "": that of the storage's users.
        settings: Full tunable name and value.
        transport: Name of the variant of the network; "": the default.
        capacity_bytes: That the job asks a burst buffer for; 0: the least.
    """

    words: str
    workload: Workload
    stack: str = ""
    settings: tuple[tuple[str, Value], ...] = ()
    transport: str = ""
    capacity_bytes: int = 0


@dataclass(frozen=True)
class Claim:
    """What advice says of the model, so that it can be tried.

    Attributes:
        advised: What users are to do.
        others: What else they could do: none of them is much better.
        loses: What they are told not to do: it is slower.
    """

    advised: Trial
    others: tuple[Trial, ...] = ()
    loses: tuple[Trial, ...] = ()


@dataclass(frozen=True)
class Advice:
    """One piece of advice to users.

    Attributes:
        rule: Name of the rule.
        topic: Heading under which users find it.
        sentence: In their words, with its figures.
        value: The figure behind it, in base units.
        low / high: Its range, as far as the limits are known; equal to `value`: not known.
        unit: "bytes per second", "operations per second", "nodes" or "seconds".
        evidence: What the figure follows from, in words or as keys of cases.
        how: Ways to follow it; empty for what not to do.
        is_warning: It says what not to do.
        defaults: Environment variable -> value with which a site can make it everybody's
            default; only what a user can undo and what changes no result.
        claim: What can be tried; None: the figure was measured.
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
    """Something without which a rule has no advice.

    Attributes:
        words: What is missing, for people.
        met: Whether a basis has it.
    """

    words: str
    met: Callable[[Basis], bool]

    @classmethod
    def all_of(cls, words: str, *figures: str) -> Need:
        """Need every one of some figures of the storage."""
        return cls(words, lambda basis: basis.knows(*figures))

    @classmethod
    def any_of(cls, words: str, *figures: str) -> Need:
        """Need at least one of some figures of the storage."""
        return cls(words, lambda basis: any(basis.knows(one) for one in figures))


class Rule(ABC):
    """Advises on one thing, from the limits of a storage and never from its name.

    Attributes:
        name: "striping".
        topic: Heading for users: "Striping".
        needs: What it has to know; without it there is no advice.
    """

    name: str
    topic: str
    needs: tuple[Need, ...] = ()

    @abstractmethod
    def advise(self, basis: Basis) -> Iterator[Advice]:
        """Yield advice; nothing where no choice makes a difference.

        Called only where nothing is missing.
        """

    def concerns(self, program: Program) -> bool:
        """Whether a program makes the choice that the rule advises on."""
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
        """Return advice that rests on a bandwidth which the model predicts."""
        return Advice(
            self.name, self.topic, sentence, rate.value, rate.low, rate.high, "bytes per second",
            basis.evidence(rate), tuple(how), warns, defaults, claim,
        )  # fmt: skip


# What rules may look at: a storage, the limits and cases of campaigns, a program.

NODES = (1, 4, 16, 64)
"""Sizes of jobs that advice to everybody looks at, as far as the machine has so many nodes."""
GOOD = 0.95
"""Share of the best rate that is as good: the simplest setting that reaches it is advised."""
FACTOR, UNIT = "mpiio.striping_factor", "mpiio.striping_unit"
_SHARED = "array3d --local 128,128,128"
"""16 MiB a rank of a 3-D array, as EPCC's benchio writes it."""
_OWN = "array3d --local 256,256,256"


@dataclass(frozen=True)
class Rate:
    """A bandwidth in bytes a second, with the range that the limits' intervals leave.

    Attributes:
        value / low / high: Bytes a second.
        limit: What limits it, in words.
        resource: The same, as `stripewise.storage.simulation.Limit` has it.
    """

    value: float
    low: float
    high: float
    limit: str = ""
    resource: str = ""


@dataclass(frozen=True)
class Job:
    """A size of jobs."""

    nodes: int
    ranks_per_node: int

    @property
    def words(self) -> str:
        """For people: "16 nodes"."""
        return plural(self.nodes, "node")


@dataclass(frozen=True)
class Program:
    """A program for which advice is narrowed.

    Attributes:
        name: For people.
        facts: Of its run.
        workload: What its trace shows; None: no pattern of it was recognised.
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
        """Which library above MPI-IO it uses: "HDF5", "NetCDF", "PnetCDF", "ADIOS2" or ""."""
        facts = self.facts
        known = (("ADIOS2", facts.uses_adios2), ("NetCDF", facts.uses_netcdf4),
                 ("PnetCDF", facts.uses_pnetcdf), ("HDF5", facts.uses_hdf5))  # fmt: skip
        return next((name for name, used in known if used), "")


@dataclass(frozen=True)
class Basis:
    """What advice follows from.

    Attributes:
        storage: Its description, fitted to campaigns or written by somebody.
        limits: Of campaigns; None: there are none.
        figures: Of campaigns' cases.
        program: For which advice is narrowed; None: for everybody.
    """

    storage: Storage
    limits: Limits | None = None
    figures: tuple[CaseFigures, ...] = ()
    program: Program | None = None
    _rates: dict[Trial, Rate | None] = field(default_factory=dict, repr=False, compare=False)

    def knows(self, *figures: str) -> bool:
        """Whether the storage has all of these figures."""
        return all(one in self.storage.figures for one in figures)

    @cached_property
    def unproven_above(self) -> float:
        """Bytes a second of the most that campaigns wrote, where they do not tell the whole."""
        known = self.limits is None or "servers.whole_write" in self.storage.figures
        return inf if known or self.limits is None else self.limits.unproven_above("write")

    @property
    def by_capacity(self) -> bool:
        """Whether a job gets as much of the storage as it asks for: a burst buffer."""
        return self.storage.value("layout.granularity") > 0

    @property
    def targets(self) -> int:
        """Of the storage."""
        return int(self.storage.value("servers.targets"))

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Sizes of jobs, growing; of a program its own."""
        if self.program and self.program.workload:
            work = self.program.workload
            return (Job(work.nodes, work.ranks_per_node),)
        most = int(self.storage.value("machine.nodes"))
        each = int(self.storage.value("machine.ranks_per_node"))
        return tuple(Job(n, each) for n in NODES if n <= most) or (Job(1, each),)

    @property
    def largest(self) -> Job:
        """The largest job."""
        return self.jobs[-1]

    def shared(self, job: Job, *, collective: bool = True) -> Workload:
        """Return what a job writes into one file."""
        work = self.program.workload if self.program and self.program.is_shared else None
        if work is None or not work.patterns:
            return workload_from_kernel(
                _SHARED, job.nodes, job.ranks_per_node, collective=collective
            )
        share = float(collective)
        return replace(work, patterns=tuple(replace(p, collective=share) for p in work.patterns))

    def own(self, job: Job, size_bytes: int = 0) -> Workload:
        """Return what a job writes into files of its processes' own.

        Args:
            job: Its size.
            size_bytes: Of each file; 0: as large as those of the program, or 128 MiB.
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
        """Numbers of stripes that are worth a look: powers of two, and all targets."""
        powers = [1 << n for n in range(14) if 1 << n < self.targets]
        return (*powers, self.targets)

    # ---- asking the model --------------------------------------------------------------------

    def simulated(self, trial: Trial, storage: Storage | None = None) -> Simulated | None:
        """Return what the model says of a trial; None: it cannot be done."""
        try:
            return simulate(
                storage or self.storage, trial.workload, trial.stack, dict(trial.settings),
                trial.transport, capacity_bytes=trial.capacity_bytes,
            )  # fmt: skip
        except StripewiseError:
            return None

    def rate(self, trial: Trial) -> float:
        """Return the bandwidth of a trial, bytes a second; 0: it cannot be done or hangs."""
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
        """The storage with all limits at the worse, and at the better end of their intervals."""
        return _at_end(self.storage, better=False), _at_end(self.storage, better=True)

    def evidence(self, rate: Rate) -> tuple[str, ...]:
        """Return what a simulated figure follows from, with the cases that tell its limit."""
        origin = "limits found by the campaign" if self.limits else "the storage's description"
        limit = f", where the limit is {rate.limit}" if rate.limit else ""
        names = (f"client.{rate.resource}_write", f"servers.{rate.resource}_write")
        cases = self.cases_of(*names)[:MOST_CASES]
        return (f"predicted from {origin}{limit}", *cases)

    def cases_of(self, *figures: str) -> tuple[str, ...]:
        """Return the keys of the cases that tell the first of some figures that is a limit."""
        limits = self.limits.limits if self.limits else ()
        return next((one.evidence for one in limits if one.figure in figures), ())

    def simplest(self, trials: Sequence[Trial]) -> Trial:
        """Return the first of some trials that is nearly as good as the best of them."""
        rates = [self.rate(one) for one in trials]
        most = max(rates)
        return next(one for one, rate in zip(trials, rates, strict=True) if rate >= GOOD * most)

    # ---- trials ------------------------------------------------------------------------------

    def into_one(self, job: Job, settings: Mapping[str, Value], words: str = "") -> Trial:
        """Return collective calls of MPI-IO into one file."""
        return Trial(words, self.shared(job), self.storage.stack, as_settings(settings))

    def into_own(self, job: Job, stripes: int, size_bytes: int = 0) -> Trial:
        """Return a file for each process."""
        settings = {FACTOR: stripes}
        words = f"a file for each process, of {plural(stripes, 'stripe')}"
        return Trial(words, self.own(job, size_bytes), "posix-process", as_settings(settings))

    def best_stripes(self, job: Job) -> int:
        """Return the least number of stripes with which one file is written well by a job."""
        trials = [self.into_one(job, {FACTOR: count}) for count in self.stripe_counts]
        return self.stripe_counts[trials.index(self.simplest(trials))]


# What several rules need.

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
    """Return settings as a trial holds them."""
    return tuple(sorted(settings.items()))


def keys_of(figures: Iterable[CaseFigures]) -> tuple[str, ...]:
    """Return the keys of cases, each once."""
    return tuple(dict.fromkeys(one.case.key for one in figures))


def _at_end(storage: Storage, *, better: bool) -> Storage:
    def moved(name: str, figure: Figure) -> Figure:
        if figure.low is None or figure.high is None:
            return figure
        faster = SPEC_OF[name].dimension is Dimension.BANDWIDTH
        return replace(figure, value=figure.high if better is faster else figure.low)

    return replace(storage, figures={n: moved(n, one) for n, one in storage.figures.items()})
