# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulates a workload on a described storage, and summarizes layouts, requests and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from stripewise.core import Value
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.present import plural, size_text
from stripewise.settings.tunables import tunable_of
from stripewise.storage.machines import Storage, Transport, granted_targets
from stripewise.storage.simulation._law import PhaseTime, phase_times
from stripewise.storage.simulation._limits import Limit, limits_of
from stripewise.storage.simulation._rates import Rates
from stripewise.storage.stacks import (
    Flow,
    Layout,
    Phase,
    Setup,
    Stack,
    Workload,
    find_stack,
    traced_phases,
)

OWN_FILES = ("posix-process", "posix-node", "posix-serial")
"""Stacks with which nodes do not share files."""

OWN_CALLS = "posix"
"""Replaces a stack if all requests are those of the program itself, as in its trace."""


@dataclass(frozen=True)
class Simulated:
    """Result of a workload on a described storage.

    Attributes:
        seconds: Time from the first open to the end of the last request; infinite if the job
            hangs.
        bytes: Bytes that the program requests to move.
        phases: Times of the phases, in order.
        storage: Storage with the figures of the transport.
        workload: Workload that is moved.
        stack: Name of the software stack; `OWN_CALLS` if the program uses none.
        transport: Name of the variant of the network; empty if there are none.
        layout: Layout of new files.
        settings: Effective values by tunable name.
        hangs: Reason why the job does not end; empty if it does.
        notes: Further remarks, in whole sentences.
    """

    seconds: float
    bytes: int
    phases: tuple[PhaseTime, ...]
    storage: Storage
    workload: Workload
    stack: str
    transport: str
    layout: Layout
    settings: Mapping[str, Value] = field(default_factory=dict)
    hangs: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """Limits that account for the time, the most limiting first."""
        found = limits_of(self.phases, self.storage, self.layout)
        return (Limit("transport", inf, 1.0, self.hangs), *found) if self.hangs else found

    @cached_property
    def requests(self) -> RequestSummary:
        """Figures of the requests that reach the file system."""
        return summary_of(self.phases, self.workload)

    @property
    def bandwidth_bytes_per_second(self) -> float:
        """Bytes requested by the program per second; 0 if the job hangs or moves nothing."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


def simulate(
    storage: Storage,
    workload: Workload,
    stack: str | Stack = "",
    settings: Mapping[str, Value] | None = None,
    transport: str | Mapping[str, str] = "",
    *,
    capacity_bytes: int = 0,
    private: bool = False,
    hosts: int = 0,
) -> Simulated:
    """Simulate a workload at a cost that does not grow with the number of ranks.

    Args:
        storage: Storage as returned by `stripewise.storage.machines.find_storage`.
        workload: Workload of all ranks.
        stack: Software stack or its name; if empty, that of the storage's users.
        settings: Values by tunable name (the key is sufficient).
        transport: Name of the storage's variant, or the environment that chooses it.
        capacity_bytes: Capacity that the job requests of a burst buffer; 0 for the default.
        private: Whether each node has its own part of the burst buffer.
        hosts: Number of hosts that MPI sees; 0 for the nodes (OMPIO sees emulated nodes as one).

    Raises:
        UsageError: There is no such stack or tunable, or the stack does not support the workload.
        ConfigurationError: A value is impossible on this storage.
    """
    chosen = stack if isinstance(stack, Stack) else _stack(stack or storage.stack, storage)
    known: dict[str, Value] = {}
    for name, value in (settings or {}).items():
        tunable = tunable_of(name)
        known[tunable.name] = tunable.check(value)
    variant = chosen_transport(storage, transport)
    system = storage.over(variant, workload.nodes)
    through = bool(workload.patterns)
    layout_settings = {**(chosen.layout_defaults(known) if through else {}), **known}
    layout = layout_of(system, layout_settings, capacity_bytes, private=private)
    if private:
        _check_private(workload, chosen)
    phases = _phases(workload, chosen, Setup(layout, known, hosts or workload.nodes))
    times = phase_times(phases, Rates.of(system), layout)
    hangs = _hangs(variant, workload)
    notes = _notes(storage, workload, chosen, known, hangs)
    of_own = _own_notes(workload, chosen, bool(stack))
    return Simulated(
        inf if hangs else sum(one.seconds for one in times),
        workload.bytes, times, system, workload, chosen.name if through else OWN_CALLS,
        variant.name if variant else "", layout, known, hangs, (*notes, *of_own),
    )  # fmt: skip


def _check_private(workload: Workload, stack: Stack) -> None:
    if workload.patterns and stack.name not in OWN_FILES:
        raise ConfigurationError(
            f"nodes with private access share no files, as {stack.name} does: use one of "
            f"{', '.join(OWN_FILES)}"
        )
    calls = (call for one in workload.own for call in one.calls)
    if any(len(set(call.on_nodes)) > 1 for call in calls):
        raise ConfigurationError(
            "nodes with private access share no files, as this program does: leave --private out"
        )


def _own_notes(workload: Workload, stack: Stack, chosen: bool) -> Iterator[str]:
    if workload.own and workload.patterns:
        size = size_text(round(sum(one.bytes for one in workload.own)))
        yield f"The program moves {size} by calls of its own, which no stack changes."
    elif workload.own and chosen:
        yield f"All requests are the program's own: the stack {stack.name} has no part in them."


def _phases(workload: Workload, stack: Stack, setup: Setup) -> tuple[Phase, ...]:
    """Return the phases of the stack, with those of the program's own requests."""
    before = traced_phases((one for one in workload.own if one.first), setup.layout)
    after = traced_phases((one for one in workload.own if not one.first), setup.layout)
    through = stack.phases(workload, setup) if workload.patterns else ()
    return (*before, *through, *after)


def chosen_transport(storage: Storage, transport: str | Mapping[str, str]) -> Transport | None:
    """Return the variant of a storage by its name or by the environment that chooses it.

    Raises:
        ConfigurationError: There is no variant of that name.
    """
    if not isinstance(transport, str):
        return storage.transport(transport)
    if not transport:
        return storage.transport({})
    names = [one.name for one in storage.transports]
    if transport not in names:
        known = f"use one of {', '.join(names)}" if names else "it has only one, without a name"
        raise ConfigurationError(f"{storage.name} has no transport {transport!r}: {known}")
    return storage.transports[names.index(transport)]


def _stack(name: str, storage: Storage) -> Stack:
    if not name:
        raise UsageError(f"{storage.name} does not say which stack its users have: give --stack")
    return find_stack(name)


def _hangs(variant: Transport | None, workload: Workload) -> str:
    limit = variant.hangs_from_nodes if variant else 0
    if variant is None or not 0 < limit <= workload.nodes:
        return ""
    return f"jobs of {limit:,} nodes and more hang with the transport {variant.name}"


def _notes(
    storage: Storage, workload: Workload, stack: Stack, settings: Iterable[str], hangs: str
) -> Iterator[str]:
    if hangs:
        yield f"This job would not end: {hangs}."
    known = stack.tunables if workload.patterns else frozenset()
    ignored = [one for one in settings if one not in known | LAYOUT_SETTINGS]
    if ignored and not workload.patterns:
        yield f"The program's own requests do not depend on {', '.join(ignored)}."
    elif ignored:
        yield f"The stack {stack.name} ignores {', '.join(ignored)}."
    for what, number in (("nodes", workload.nodes), ("ranks_per_node", workload.ranks_per_node)):
        most = storage.value(f"machine.{what}")
        if number > most:
            yield f"The machine has {most:,.0f} {what.replace('_', ' ')}, not {number:,}."


# Layout of new files on a described storage, under settings.

STRIPE_COUNT, STRIPE_SIZE = "mpiio.striping_factor", "mpiio.striping_unit"
LAYOUT_SETTINGS = frozenset({STRIPE_COUNT, STRIPE_SIZE})


def layout_of(
    storage: Storage,
    settings: Mapping[str, Value],
    capacity_bytes: int = 0,
    *,
    private: bool = False,
) -> Layout:
    """Return the layout of new files.

    Args:
        storage: Storage of the files.
        settings: Settings, of which `striping_factor` (-1: all targets) and `striping_unit` apply.
        capacity_bytes: Capacity of a burst buffer.
        private: Whether each node has its own part of the burst buffer.

    Raises:
        ConfigurationError: There are fewer targets, or they cannot be private.
    """
    targets = granted_targets(storage, capacity_bytes)
    if private:
        return _private(storage, settings, targets)
    default = targets if storage.value("layout.granularity") else _count(storage)
    count, size = settings.get(STRIPE_COUNT, default), settings.get(STRIPE_SIZE, 0)
    if not isinstance(count, int) or not isinstance(size, int) or count < -1 or size < 0:
        raise ConfigurationError(
            f"striping_factor = {count!r}, striping_unit = {size!r}: give whole numbers"
        )
    if count > targets:
        raise ConfigurationError(
            f"striping_factor = {count}: {storage.name} has {plural(targets, 'target')}; give at "
            "most that, or -1 for all"
        )
    if count == 0:
        count = default
    return Layout(
        stripe_count=targets if count == -1 else count,
        stripe_size=size or int(storage.value("layout.stripe_size")),
        targets=targets,
    )


def _private(storage: Storage, settings: Mapping[str, Value], targets: int) -> Layout:
    if not storage.value("layout.granularity"):
        raise ConfigurationError(
            f"{storage.name} is not a burst buffer: nodes have no part of it to themselves"
        )
    if LAYOUT_SETTINGS & settings.keys():
        raise ConfigurationError(
            "files with private access lie on one node of the burst buffer: leave "
            f"{', '.join(sorted(LAYOUT_SETTINGS & settings.keys()))} out"
        )
    return Layout(1, int(storage.value("layout.stripe_size")), targets, private=True)


def _count(storage: Storage) -> int:
    return min(int(storage.value("layout.stripe_count")), int(storage.value("servers.targets")))


# Figures of the requests of a simulated run.


@dataclass(frozen=True)
class RequestSummary:
    """Requests that reach the file system.

    Attributes:
        processes: Maximum number of processes that issue requests at the same time.
        nodes: Number of nodes of these processes.
        files: Maximum number of files in use at the same time.
        requests: Number of requests of all processes.
        bytes: Bytes that they move.
        size_bytes: Mean size of a request.
        rounds: Number of exchanges of collective buffering.
        exchange_bytes: Mean bytes that all aggregators exchange in one round.
        read_modify_write_bytes: Bytes that are read although the program only writes them.
    """

    processes: int = 0
    nodes: int = 0
    files: int = 0
    requests: float = 0.0
    bytes: float = 0.0
    size_bytes: float = 0.0
    rounds: float = 0.0
    exchange_bytes: float = 0.0
    read_modify_write_bytes: float = 0.0


def summary_of(times: Sequence[PhaseTime], workload: Workload) -> RequestSummary:
    """Return the figures of the requests of all phases."""
    flows = list(_flows(times))
    if not flows:
        return RequestSummary()
    requests = sum(repeats * flow.processes * flow.count for repeats, flow in flows)
    by_stack = _flows([one for one in times if not one.phase.turns])
    read = sum(_moved(repeats, flow) for repeats, flow in by_stack if not flow.writing)
    moved = sum(_moved(repeats, flow) for repeats, flow in flows)
    rounds = sum(one.phase.repeats for one in times if one.phase.ranks and one.flows)
    exchanged = sum(
        one.phase.repeats * one.phase.exchange_bytes * one.flows[0].flow.processes
        for one in times
        if one.phase.ranks and one.flows
    )
    only_writes = all(pattern.writing for pattern in workload.patterns)
    return RequestSummary(
        processes=max(flow.processes for _, flow in flows),
        nodes=max(flow.nodes for _, flow in flows),
        files=max(flow.files for _, flow in flows),
        requests=requests,
        bytes=moved,
        size_bytes=moved / requests if requests else 0.0,
        rounds=rounds,
        exchange_bytes=exchanged / rounds if rounds else 0.0,
        read_modify_write_bytes=read if only_writes else 0.0,
    )


def _flows(times: Sequence[PhaseTime]) -> Iterator[tuple[float, Flow]]:
    for one in times:
        for found in one.flows:
            yield one.phase.repeats, found.flow


def _moved(repeats: float, flow: Flow) -> float:
    return repeats * flow.processes * flow.count * flow.size
