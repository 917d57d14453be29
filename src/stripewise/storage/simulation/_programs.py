# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulates a program from the patterns that were found in its first run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

from stripewise.core import ProgramFacts, Value
from stripewise.core.errors import StripewiseError
from stripewise.evidence.patterns import Distribution, Pattern, members_of, pattern_of
from stripewise.settings.tunables import Layer, all_tunables, with_implied
from stripewise.storage.machines import Storage
from stripewise.storage.simulation._simulate import LAYOUT_SETTINGS, simulate
from stripewise.storage.stacks import Workload, find_stack

TRANSFER, MPIIO = "hdf5.transfer", "mca.io"
_ENVIRONMENT = f"{Layer.ENVIRONMENT.value}."
_MOST_DATASETS = 256


@dataclass(frozen=True)
class SimulatedProgram:
    """Behaviour of a program according to its first run, and the storage it runs on.

    Attributes:
        facts: Facts of its first run.
        workload: Patterns that were recognised.
        storage: Storage that it runs on.
        transport: Name of the storage's variant; empty for the default.
        stack: Software stack; if empty, it follows from the facts and the choice of MCA `io`.
        environment: Environment of the program: it chooses the storage's variant, unless settings
            choose another.
        capacity_bytes: Capacity that the job requests of a burst buffer; 0 for the default.
        private: Whether each node has its own part of the burst buffer.
    """

    facts: ProgramFacts
    workload: Workload
    storage: Storage
    transport: str = ""
    stack: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    capacity_bytes: int = 0
    private: bool = False

    @property
    def tunables(self) -> frozenset[str]:
        """Names of the settings whose effect is simulated."""
        stacks = {self.stack} if self.stack else _stacks(self.facts)
        read_settings = {name for stack in stacks for name in find_stack(stack).tunables}
        known = {one.name for one in all_tunables()}
        layout = frozenset() if self.private else LAYOUT_SETTINGS
        return frozenset({*read_settings, *layout, TRANSFER, MPIIO, *(self._variables & known)})

    @property
    def _variables(self) -> frozenset[str]:
        """Names of the settings that choose a variant of the storage, unless one is set."""
        variants = () if self.transport else self.storage.transports
        return frozenset(f"{_ENVIRONMENT}{name}" for one in variants for name in one.when)

    def _transport(self, settings: Mapping[str, Value]) -> str | Mapping[str, str]:
        """Return the variant of the storage, or the variables under settings that choose it."""
        names = self._variables & settings.keys()
        chosen = {name.removeprefix(_ENVIRONMENT): str(settings[name]) for name in names}
        return self.transport or {**self.environment, **chosen}

    def seconds(self, settings: Mapping[str, Value]) -> float | None:
        """Return the I/O time under settings; None if that cannot be simulated."""
        complete = with_implied(settings, self.facts)
        known = {n: v for n, v in complete.items() if n not in (TRANSFER, MPIIO)}
        stack = self.stack or stack_of(self.facts, settings.get(MPIIO))
        read_settings = find_stack(stack).tunables | LAYOUT_SETTINGS
        try:
            return simulate(
                self.storage,
                _transferred(self.workload, settings.get(TRANSFER)),
                stack,
                {name: value for name, value in known.items() if name in read_settings},
                self._transport(settings),
                capacity_bytes=self.capacity_bytes,
                private=self.private,
                hosts=self.facts.aggregator_hosts,
            ).seconds
        except StripewiseError:
            return None


def simulated_program(
    facts: ProgramFacts,
    storage: Storage,
    ranks_per_node: int = 0,
    transport: str = "",
    environment: Mapping[str, str] | None = None,
) -> SimulatedProgram | None:
    """Return the simulation of a program; None if no pattern of it was recognised.

    Args:
        facts: Facts of its first run.
        storage: Storage that it runs on.
        ranks_per_node: Ranks per node of the storage; 0 for as many as on each host of the run.
        transport: Name of the storage's variant; if empty, the environment's, or the default.
        environment: Environment of the program.
    """
    per_node = ranks_per_node or -(-facts.n_ranks // max(facts.n_hosts, 1))
    named = any(one.distributions for one in facts.patterns)
    if not named or facts.n_ranks % per_node:
        return None
    workload = Workload(tuple(_patterns(facts)), facts.n_ranks // per_node, per_node)
    given = environment or {}
    names = {name for one in storage.transports for name in one.when}
    relevant = {name: given[name] for name in sorted(names & given.keys())}
    return SimulatedProgram(facts, workload, storage, transport, environment=relevant)


def _patterns(facts: ProgramFacts) -> list[Pattern]:
    """Return each pattern of the first run, as often as it has datasets."""
    found = [
        pattern_of(one, facts.n_ranks, f"{number}.{dataset}")
        for number, one in enumerate(facts.patterns)
        if one.distributions
        for dataset in range(min(one.datasets, _MOST_DATASETS))
    ]
    once = {True: 0, False: 0}
    for pattern in found:
        once[pattern.writing] += Workload((replace(pattern, steps=1),), 1, 1).bytes
    totals = {writing: facts.moved_bytes(writing=writing) for writing in (True, False)}
    moved = {
        (one.file, one.dataset, one.writing): Workload((replace(one, steps=1),), 1, 1).bytes
        * max(1, round(totals[one.writing] / max(once[one.writing], 1)))
        for one in found
    }
    return in_steps(found, moved)


def _transferred(workload: Workload, transfer: Value | None) -> Workload:
    """Return the workload with HDF5's transfers as set."""
    if transfer is None:
        return workload
    share = float(transfer == "collective")
    patterns = tuple(replace(pattern, collective=share) for pattern in workload.patterns)
    return replace(workload, patterns=patterns)


def _stacks(facts: ProgramFacts) -> set[str]:
    here = {None, *facts.mpiio_alternatives}
    return {stack_of(facts, chosen) for chosen in here}


# Conversion of patterns found in a run to those of a workload.

PatternKey = tuple[str, str, bool]
"""File, dataset, and whether it was written."""


def in_steps(
    patterns: Sequence[Pattern],
    moved: Mapping[PatternKey, int],
    calls: Mapping[tuple[str, bool], int] | None = None,
) -> list[Pattern]:
    """Replace the number of calls, which found patterns have, by how often all data is moved.

    Calls may make one array together, or each move all of it, elsewhere or again. Calls that
    interleave are patterns of their own.

    Args:
        patterns: Patterns as they were found.
        moved: Moved bytes by file, dataset and direction.
        calls: Calls of each rank by file and direction, if known. If there are more than in the
            patterns, each step was moved in several calls.
    """
    patterns = [member for one in patterns for member in members_of(one)]
    steps_of: Counter[tuple[str, bool]] = Counter()
    for one in patterns:
        steps_of[one.file, one.writing] += one.steps
    sizes: Counter[PatternKey] = Counter()
    for one in patterns:
        sizes[_key(one)] += Workload((replace(one, steps=1),), 1, 1).bytes
    placed: list[Pattern] = []
    for one in patterns:
        all_of_it, key = sizes[_key(one)], _key(one)
        times = max(1, round(moved[key] / all_of_it)) if all_of_it else 1
        made = (calls or {}).get((one.file, one.writing), 0)
        several, rest = divmod(made, steps_of[one.file, one.writing])
        if times == 1 and several > 1 and not rest:
            placed.append(cut(replace(one, steps=1), several * one.steps))
        else:
            placed += _split(replace(one, steps=times), one.steps)
    return placed


def _key(pattern: Pattern) -> PatternKey:
    return pattern.file, pattern.dataset, pattern.writing


def _split(pattern: Pattern, calls: int) -> list[Pattern]:
    """Return slabs of the first dimension as steps, if each call moved a part of it.

    The amount of each call is not known any more, so they are made as equal as possible.
    """
    length = pattern.extents[0]
    whole = pattern.distributions[0].kind == "*" and pattern.block[0] == length
    complete = not pattern.span or pattern.span[0] == (0, length)
    several = len(pattern.extents) > 1 and pattern.steps == 1 and 1 < calls <= length
    if not (whole and complete and several):
        return [pattern]
    low, more = divmod(length, calls)
    slabs = ((low + 1, more), (low, calls - more))
    return [_slab(pattern, slab, steps) for slab, steps in slabs if steps]


def _slab(pattern: Pattern, slab: int, steps: int) -> Pattern:
    return replace(
        pattern,
        extents=(slab, *pattern.extents[1:]),
        block=(slab, *pattern.block[1:]),
        span=((0, slab), *pattern.span[1:]) if pattern.span else (),
        steps=steps,
    )


# Arrays that programs move in several calls, each rank's part from beginning to end.


def cut(pattern: Pattern, calls: int) -> Pattern:
    """Return the data of one call, with as many steps; unchanged if it cannot be determined.

    The outermost dimension is cut first, as by a program that moves its part in the order of the
    file. Steps follow each other in the file, so that places differ from those of the program;
    distances between ranks do not.
    """
    found, left = pattern, calls
    dimension = 0
    while left > 1 and dimension < len(found.extents):
        length = found.block[dimension]
        pieces = length if left % length == 0 else gcd(left, length)
        if pieces > 1:
            cut_one = _cut_one(found, dimension, pieces)
            if cut_one is None:
                return pattern
            dimension += len(cut_one.extents) - len(found.extents)
            found, left = cut_one, left // pieces
        if pieces < length:
            break
        dimension += 1
    return replace(found, steps=calls) if left == 1 and calls > 1 else pattern


def _cut_one(pattern: Pattern, dimension: int, pieces: int) -> Pattern | None:
    """Return the first of this number of equal pieces of each rank's part of a dimension."""
    how, extent = pattern.distributions[dimension], pattern.extents[dimension]
    block, grid = pattern.block[dimension], pattern.grid[dimension]
    spans = pattern.span or tuple((0, one) for one in pattern.extents)
    if how.lattice or how.ghost != (0, 0) or spans[dimension] != (0, extent):
        return None
    inside = _Dimension(Distribution("*"), 1, block, block // pieces, 0)
    if how.kind == "*" and block == extent:
        return _put(pattern, dimension, (inside,))
    if how.kind != "BLOCK" or block * grid != extent:
        return None
    stride = pattern.rank_strides[dimension] if pattern.rank_strides else 0
    return _put(pattern, dimension, (_Dimension(how, grid, grid, 1, stride), inside))


class _Dimension:
    """Dimension of a pattern: distribution, grid, extent, block of a rank, and stride of ranks."""

    def __init__(self, how: Distribution, grid: int, extent: int, block: int, stride: int) -> None:
        self.how, self.grid, self.extent, self.block = how, grid, extent, block
        self.stride = stride
        self.span = (0, block if how.kind == "*" else extent)


def _put(pattern: Pattern, at: int, dimensions: tuple[_Dimension, ...]) -> Pattern:
    """Return the pattern with one dimension replaced by others."""

    def joined(values: tuple, new: tuple) -> tuple:  # type: ignore[type-arg]
        return (*values[:at], *new, *values[at + 1 :])

    spans = pattern.span or tuple((0, one) for one in pattern.extents)
    return replace(
        pattern,
        distributions=joined(pattern.distributions, tuple(one.how for one in dimensions)),
        grid=joined(pattern.grid, tuple(one.grid for one in dimensions)),
        extents=joined(pattern.extents, tuple(one.extent for one in dimensions)),
        block=joined(pattern.block, tuple(one.block for one in dimensions)),
        span=joined(spans, tuple(one.span for one in dimensions)),
        rank_strides=joined(pattern.rank_strides, tuple(one.stride for one in dimensions))
        if pattern.rank_strides
        else (),
        halo=(),
    )


# Stack of a program's MPI-IO.


def stack_of(facts: ProgramFacts, mca_io: Value | None = None) -> str:
    """Return the stack of the program's MPI-IO, given the choice of MCA `io`."""
    if not facts.mpiio_implementation:
        return "posix-shared" if facts.shared_files else "posix-process"
    if "cray" in facts.mpi_version.lower():
        return "cray"
    name = str(mca_io or facts.mpiio_implementation)
    if not name.startswith("romio"):
        return name
    return "romio-lustre" if facts.mpiio_driver == "LUSTRE" else "romio"
