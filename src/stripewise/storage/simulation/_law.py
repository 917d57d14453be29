# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Computes the seconds of phases of equal requests by closed-form laws of a described storage.

`docs/design/machines.md` states the laws for one request. Here they are summed over classes of
equal requests: no loop runs over ranks or requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, gcd
from typing import NamedTuple

from stripewise.storage.simulation._rates import (
    AHEAD,
    EXTENT,
    Crowd,
    Rates,
    busiest_together,
    longest_of,
    slowest,
)
from stripewise.storage.stacks import Flow, Layout, Phase, Turns


class FlowTime(NamedTuple):
    """Cost of the requests of a flow in one repetition of their phase, in seconds.

    Attributes:
        flow: Flow of the requests.
        waits: Fixed time of a request, before everything else.
        ahead: Part of the process's time per request for a lock that is requested ahead.
        lock: Time for which a part of a request holds the lock of an object.
        part: Time for which a part, after that, uses its slowest resource.
        held: Time for which a node's stream of a file waits for a lock that is requested ahead.
        data: Time for which a single request uses a resource, by member of `DATA`.
        uses: Time for which all requests together use the busiest instance of a resource, by
            member of `DATA`, or "lock".
        busiest: Processes, or pairs of a process and an object, at the busiest instance of "file",
            "node", "target" or "lock".
        targets: Number of targets of the storage.
        seconds: Time from the first request to the end of the last one.
    """

    flow: Flow
    waits: float
    ahead: float
    lock: float
    part: float
    held: float
    data: Mapping[str, float]
    uses: Mapping[str, float]
    busiest: Mapping[str, float]
    targets: int
    seconds: float

    @property
    def rounds(self) -> float:
        """Number of consecutive requests of each process, at least 1."""
        return max(self.flow.count, 1.0)

    @property
    def alone(self) -> float:
        """Seconds of one request that meets no other."""
        return _alone(self.waits, self.lock, self.part, self.data)

    @property
    def crowds(self) -> dict[str, Crowd]:
        """Crowds at the instances of "file", "node", "target" and "lock"."""
        flow = self.flow
        pairs = flow.processes * flow.objects_per_process
        objects = float(flow.files * flow.objects)
        places = {
            "file": float(flow.nodes * flow.files), "node": float(flow.nodes), "lock": objects,
            "target": min(objects, float(self.targets)),
        }  # fmt: skip
        numbers = {"file": flow.processes, "node": flow.processes, "target": pairs, "lock": pairs}
        return {
            name: Crowd(numbers[name], most, places[name], self.uses[name])
            for name, most in self.busiest.items()
        }


def flow_time(flow: Flow, rates: Rates, layout: Layout) -> FlowTime:
    """Return the costs of a flow's requests at each resource, in one repetition."""
    speed = rates.write if flow.writing else rates.read
    parts, lock = flow.parts_per_request(layout.stripe_size), _lock(flow, rates)
    ahead, held = (
        (rates.ahead, parts * _lock_wait(flow, rates)) if _locks_ahead(flow) else (0.0, 0.0)
    )
    # Parts that one object gets of all requests of one process.
    share = flow.count / flow.objects_per_process
    on_object, on_target = _busiest(flow, layout)
    size, count = (flow.size if flow.absent < 1 else 0.0), flow.count
    process, file, node = size / speed["process"], size / speed["file"], size / speed["node"]
    file *= rates.contended(flow.processes / flow.files, flow.nodes / flow.files) ** flow.writing
    request_seconds = rates.target_request if size else 0.0
    piece, whole = size / speed["target"] / parts + request_seconds, size / speed["whole"]
    longest = max(piece, process / parts, file / parts, node / parts, whole / parts)
    if flow.absent:  # a process with nothing to read is the first to request the write lock
        longest = max(0.0, longest - lock)
    # Of simultaneous readers, one takes the lock from the writer.
    taken = lock if flow.writing else lock / on_object
    per_node = ceil(flow.processes / flow.nodes)
    in_file = ceil(min(per_node, flow.processes / flow.files))
    steady = max(process, file, node, whole) / parts
    turn, unlucky = _blocking_of_node(flow, steady, piece, in_file * count * parts, rates)
    worst = max(file, parts * turn * unlucky) + parts * taken + held
    process, file = process + ahead, max(file, parts * turn) + parts * taken + held
    data = {"process": process, "file": file, "node": node, "target": piece, "whole": whole}
    uses = {
        "process": count * process,
        "file": in_file * count * worst,
        "node": per_node * count * node,
        "target": on_target
        * share
        * parts
        * piece
        * _slowest(flow, layout, share * on_target, rates),
        "whole": flow.processes * count * whole,
        "lock": (on_object if flow.writing else 1) * share * parts * lock,
    }
    busiest = {"file": in_file, "node": per_node, "target": on_target, "lock": on_object}
    seconds = _seconds(max(count, 1.0), rates.request, lock, longest, data, uses)
    return FlowTime(
        flow, rates.request, ahead, lock, longest, held, data, uses, busiest, layout.targets,
        seconds,
    )  # fmt: skip


def _seconds(
    rounds: float,
    waits: float,
    lock: float,
    part: float,
    data: Mapping[str, float],
    uses: Mapping[str, float],
) -> float:
    """Return the seconds from the first request to the end of the last one.

    All processes begin at once. The first request of each process ends when the busiest resource
    has served all of them, or the lock has been passed through all; from then on a process comes
    back when its request has ended, and waits only for a resource that is always busy.
    """
    alone = _alone(waits, lock, part, data)
    locked = uses["lock"] / rounds
    busiest = max(uses.values()) / rounds
    first = max(waits + max(busiest, locked + part), alone)
    return first + (rounds - 1) * max(busiest, alone)


def _alone(waits: float, lock: float, part: float, data: Mapping[str, float]) -> float:
    return waits + max(lock + part, *data.values())


def _blocking_of_node(
    flow: Flow, steady: float, chancy: float, parts: float, rates: Rates
) -> tuple[float, float]:
    """Return for how long a part blocks its node's file, and the spread of that time.

    Args:
        flow: Flow of the parts.
        steady: Longest transfer of a part except at the target.
        chancy: Mean time at the target.
        parts: Number of parts of one node into one file.
        rates: Rates of the storage.
    """
    if not (flow.writing and rates.turns):
        return 0.0, 1.0
    mean, spread = longest_of(steady, chancy, rates.jitter)
    nodes = max(flow.nodes, min(flow.files, flow.processes))
    return rates.turns * mean, 1 + spread / mean * slowest(nodes, parts) if mean else 1.0


def _slowest(flow: Flow, layout: Layout, requests: float, rates: Rates) -> float:
    """Return the factor of the slowest target's time over the mean."""
    used = min(flow.files * flow.objects, flow.processes * flow.objects_per_process)
    used = min(used, _targets(flow, layout))
    return 1 + rates.jitter * slowest(used, requests)


def _locks_ahead(flow: Flow) -> bool:
    """Return whether locks are requested ahead, which is so if a file has several writers."""
    return flow.writing and flow.lock_mode == AHEAD and flow.processes > flow.files


def _lock(flow: Flow, rates: Rates) -> float:
    """Return the mean time for which a request holds the lock of an object."""
    if flow.lock_mode == EXTENT or not flow.writing:
        return rates.revoke * flow.handovers + rates.page * min(flow.shared_pages, flow.handovers)
    return 0.0


def _lock_wait(flow: Flow, rates: Rates) -> float:
    """Return the seconds that a lock requested ahead costs a node's stream of the file."""
    nodes = max(1.0, flow.nodes / flow.files)
    return rates.hold + rates.extent * flow.writers * (1 - 1 / nodes)


def _targets(flow: Flow, layout: Layout) -> int:
    """Return the number of targets in use: each file begins behind the previous one's stripes."""
    apart = gcd(layout.stripe_count, layout.targets)
    if flow.files == 1 or flow.objects >= apart:
        return layout.targets
    return layout.targets // apart * flow.objects


def _busiest(flow: Flow, layout: Layout) -> tuple[float, float]:
    """Return processes at the busiest object, and (process, object) pairs at the busiest target.

    Objects are placed on consecutive targets. If the number of objects of a process is a mean of
    different ones, they spread evenly.
    """
    if layout.private:
        per_node, per_object = ceil(flow.processes / flow.nodes), flow.processes / flow.files
        return ceil(per_object), per_node * ceil(flow.nodes / layout.targets)
    targets = _targets(flow, layout)
    pairs, objects = flow.processes * flow.objects_per_process, flow.files * flow.objects
    if flow.objects_per_process != int(flow.objects_per_process):
        used = min(float(objects), pairs)
        return pairs / used, pairs / min(used, targets)
    used = min(objects, int(pairs))
    on_object = ceil(pairs / used)
    return on_object, max(on_object * ceil(used / targets) * 1.0, pairs / min(used, targets))


# Processes that do several things in turn and do not wait for each other in between. A process
# comes back to a resource when it has completed the rest of its turn, so that the busiest resource
# is always in use, and the others are not: asymptotic bounds of a closed queueing network. Source:
# E. D. Lazowska et al., Quantitative System Performance (1984), chapter 5.

_METADATA = "metadata"
_RESOURCES = ("file", "node", "target", "whole", "lock")


def turns_times(
    turns: Sequence[Turns], flows: Sequence[FlowTime], rates: Rates, layout: Layout
) -> tuple[float, float, dict[str, float]]:
    """Return the seconds in total, those of metadata, and the times in use of resources.

    Args:
        turns: Turns of different processes that begin at the same time.
        flows: Flows of all of them.
        rates: Rates of the storage.
        layout: Layout of the files.
    """
    found = [_Demand(one, flows, rates, layout) for one in turns]
    uses = {name: sum(one.uses[name] for one in flows) for name in _RESOURCES}
    uses[_METADATA] = sum(one.on_server for one in found)
    metadata = max([uses[_METADATA], *(one.metadata for one in found)])
    return max(one.seconds(uses) for one in found), metadata, uses


class _Demand:
    """Demands of one process of a group of equal ones.

    Attributes:
        alone: Seconds of a process that meets no other.
        metadata: Seconds of these for metadata operations.
        own: Seconds of these for which the process uses each resource.
        visits: Number of visits to each resource.
        on_server: Seconds for which all of these processes use the metadata server.
    """

    def __init__(
        self, turns: Turns, flows: Sequence[FlowTime], rates: Rates, layout: Layout
    ) -> None:
        self.own: defaultdict[str, float] = defaultdict(float)
        self.visits: defaultdict[str, float] = defaultdict(float)
        self.metadata = self.alone = 0.0
        for name, number in turns.metadata.items():
            once = rates.operation(name, layout.stripe_count)
            self._add(_METADATA, number, once)
            self.metadata += number * (once + rates.latency)
        for count, one in zip(turns.counts, flows, strict=True):
            self.alone += count * one.alone
            for name in _RESOURCES:
                self._add(name, count, one.lock if name == "lock" else one.data[name])
        self.alone += self.metadata
        self.on_server = turns.processes * self.own[_METADATA]

    def _add(self, name: str, visits: float, each: float) -> None:
        if visits * each > 0:
            self.own[name] += visits * each
            self.visits[name] += visits

    def seconds(self, uses: Mapping[str, float]) -> float:
        """Return when the last process ends, from the total use of each resource.

        Before its first visit of the busiest resource, and after its last one, it is elsewhere.
        """
        return max([self.alone, *self._last(uses)])

    def _last(self, uses: Mapping[str, float]) -> Iterator[float]:
        for name, visits in self.visits.items():
            yield uses[name] + max(self.alone - self.own[name], 0.0) / max(visits, 1.0)


# Duration of phases: what happens at the same time, by the laws of single flows.


class PhaseTime(NamedTuple):
    """Duration of a phase, with all its repetitions.

    Attributes:
        phase: The phase.
        seconds: Seconds of all repetitions.
        exchange: Seconds of the exchange in one repetition.
        copy: Seconds for which the processes of a node copy first, in one repetition.
        metadata: Seconds of the metadata server in one repetition.
        flows: Times of the flows in one repetition.
        taken: `uses` of flows that take turns; None if all begin at once.
    """

    phase: Phase
    seconds: float
    exchange: float
    copy: float
    metadata: float
    flows: tuple[FlowTime, ...]
    taken: Mapping[str, float] | None = None

    @property
    def uses(self) -> Mapping[str, float]:
        """Seconds for which shared resources are used by all flows of one repetition together.

        Keys are the members of `DATA` except "process", and "lock"; values are those of the
        busiest instance.
        """
        return _uses(self.flows, self.phase.nodes) if self.taken is None else self.taken


def phase_times(phases: Iterable[Phase], rates: Rates, layout: Layout) -> tuple[PhaseTime, ...]:
    """Return the duration of each phase.

    Args:
        phases: Phases of a stack, in order.
        rates: Rates of the storage that serves them.
        layout: Layout of the files.
    """
    return tuple(_phase(one, rates, layout) for one in phases)


def _phase(phase: Phase, rates: Rates, layout: Layout) -> PhaseTime:
    exchange = rates.exchanged(phase.ranks, phase.exchange_bytes)
    metadata = sum(
        number * rates.operation(name, layout.stripe_count) + rates.latency
        for name, number in phase.metadata.items()
        if number > 0
    )
    flows = tuple(flow_time(flow, rates, layout) for flow in phase.flows if flow.processes > 0)
    if phase.turns:
        once, metadata, uses = turns_times(phase.turns, flows, rates, layout)
        return PhaseTime(phase, once * phase.repeats, 0.0, 0.0, metadata, flows, uses)
    copy = phase.copied_bytes / rates.memory
    once = exchange + copy + metadata + _together(flows, phase.nodes)
    return PhaseTime(phase, once * phase.repeats, exchange, copy, metadata, flows)


def _uses(flows: tuple[FlowTime, ...], nodes: int) -> dict[str, float]:
    """Return for how long flows of different processes together use what they share."""
    if not flows:
        return {}
    found = {"whole": sum(one.uses["whole"] for one in flows)}
    meeting = [one.crowds for one in flows]
    for name in ("file", "node", "target", "lock"):
        crowds = [one[name] for one in meeting]
        on_nodes = float(nodes) if name in ("file", "node") else 0.0
        found[name] = busiest_together(crowds, on_nodes)
    return found


def _together(flows: tuple[FlowTime, ...], nodes: int) -> float:
    """Return the seconds of flows of different processes that run at the same time."""
    if not flows:
        return 0.0
    if len(flows) == 1:
        return flows[0].seconds
    begin = min(one.waits for one in flows)
    busiest = max(_uses(flows, nodes).values())
    return max(begin + busiest, *(one.seconds for one in flows))
