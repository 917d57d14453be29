# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program that was seen once, on a described storage: what settings would make of its I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stripewise.errors import StripewiseError
from stripewise.machines import Storage
from stripewise.model import (
    Pattern,
    ProgramFacts,
    Value,
)
from stripewise.patterns import pattern_of
from stripewise.simulation._found import in_steps
from stripewise.simulation._layouts import LAYOUT_SETTINGS
from stripewise.simulation._simulate import simulate
from stripewise.simulation._stack_of import stack_of
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks import find_stack
from stripewise.tunables import Layer, all_tunables, with_implied

TRANSFER, MPIIO = "hdf5.transfer", "mca.io"
_ENVIRONMENT = f"{Layer.ENVIRONMENT.value}."
_MOST_DATASETS = 256


@dataclass(frozen=True)
class SimulatedProgram:
    """What a program does, as far as its first run showed it, and where.

    Attributes:
        facts: Of its first run.
        workload: The patterns that were recognised.
        storage: That it runs on.
        transport: Name of the storage's variant; "": the default.
        stack: Software stack; "": what the facts tell, and the choice of MCA `io`.
        environment: That the program runs in: it chooses the storage's variant, unless settings
            choose another.
        capacity_bytes: That the job asks a burst buffer for; 0: the default.
        private: Whether each node has a part of the burst buffer to itself.
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
        looked_at = {name for stack in stacks for name in find_stack(stack).tunables}
        known = {one.name for one in all_tunables()}
        layout = frozenset() if self.private else LAYOUT_SETTINGS
        return frozenset({*looked_at, *layout, TRANSFER, MPIIO, *(self._variables & known)})

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
        """Return the I/O time under settings; None where that cannot be simulated."""
        complete = with_implied(settings, self.facts)
        known = {n: v for n, v in complete.items() if n not in (TRANSFER, MPIIO)}
        stack = self.stack or stack_of(self.facts, settings.get(MPIIO))
        looked_at = find_stack(stack).tunables | LAYOUT_SETTINGS
        try:
            return simulate(
                self.storage,
                _transferred(self.workload, settings.get(TRANSFER)),
                stack,
                {name: value for name, value in known.items() if name in looked_at},
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
    """Return what can be simulated of a program; None where no pattern of it was recognised.

    Args:
        facts: Of its first run.
        storage: That it runs on.
        ranks_per_node: Of the storage's nodes; 0: as many as it had on each host.
        transport: Name of the storage's variant; "": the environment's, or the default.
        environment: That the program runs in.
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
    asked = {writing: facts.moved_bytes(writing=writing) for writing in (True, False)}
    moved = {
        (one.file, one.dataset, one.writing): Workload((replace(one, steps=1),), 1, 1).bytes
        * max(1, round(asked[one.writing] / max(once[one.writing], 1)))
        for one in found
    }
    return in_steps(found, moved)


def _transferred(workload: Workload, transfer: Value | None) -> Workload:
    """Return the workload with HDF5's transfers as they are set."""
    if transfer is None:
        return workload
    share = float(transfer == "collective")
    patterns = tuple(replace(pattern, collective=share) for pattern in workload.patterns)
    return replace(workload, patterns=patterns)


def _stacks(facts: ProgramFacts) -> set[str]:
    here = {None, *facts.mpiio_alternatives}
    return {stack_of(facts, chosen) for chosen in here}
