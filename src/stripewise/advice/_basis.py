# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What rules may look at: a storage, the limits and cases of campaigns, a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from stripewise.advice._base import Trial
from stripewise.bench import CaseFigures, Limits
from stripewise.errors import StripewiseError
from stripewise.machines import SPEC_OF, Dimension, Figure, Storage
from stripewise.model import ProgramFacts, Value
from stripewise.simulation import (
    Simulated,
    Workload,
    simulate,
    workload_from_kernel,
    workload_from_notation,
)
from stripewise.text import plural

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
        resource: The same, as `stripewise.simulation.Limit` has it.
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
