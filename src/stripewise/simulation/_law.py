# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The laws of a described storage in closed form: equal requests to seconds.

`docs/design/machines.md` says them for one request.  Here they are summed over classes of equal
requests: no loop runs over ranks or requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, gcd
from typing import NamedTuple

from stripewise.simulation._chance import longest_of, slowest
from stripewise.simulation._rates import AHEAD, EXTENT, Rates
from stripewise.simulation._requests import Flow
from stripewise.simulation._together import Crowd
from stripewise.simulation.stacks import Layout


class FlowTime(NamedTuple):
    """What the requests of a flow cost in one repetition of their phase, in seconds.

    Attributes:
        flow: Of which it is told.
        waits: Own time of a request, before all else.
        ahead: Of the process's time with a request, that for a lock that is asked for ahead.
        lock: For which a part of a request holds the lock of an object.
        part: For which a part, after that, uses what it uses longest.
        held: For which a node's stream of a file waits for a lock that is asked for ahead.
        data: Member of `DATA` -> for which one request uses it, if it is alone.
        uses: Member of `DATA`, or "lock" -> for which all requests together use the instance of
            it that is used most.
        busiest: "file", "node", "target" or "lock" -> processes, or pairs of a process and an
            object, at the instance of it that most of them use.
        targets: Of the storage.
        seconds: From the first request to the end of the last one.
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
        """Requests of each process one after another, at least 1."""
        return max(self.flow.count, 1.0)

    @property
    def alone(self) -> float:
        """Seconds of one request that meets no other."""
        return _alone(self.waits, self.lock, self.part, self.data)

    @property
    def crowds(self) -> dict[str, Crowd]:
        """Return who meets at the instances of "file", "node", "target" and "lock"."""
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
    """Return what a flow's requests cost at each resource, in one repetition."""
    speed = rates.write if flow.writing else rates.read
    parts, lock = flow.parts_per_request(layout.stripe_size), _lock(flow, rates)
    ahead, held = (rates.ahead, parts * _held(flow, rates)) if _ahead(flow) else (0.0, 0.0)
    # Parts of all requests of one process that one object gets.
    share = flow.count / flow.objects_per_process
    on_object, on_target = _busiest(flow, layout)
    size, count = (flow.size if flow.absent < 1 else 0.0), flow.count
    process, file, node = size / speed["process"], size / speed["file"], size / speed["node"]
    file *= rates.contended(flow.processes / flow.files, flow.nodes / flow.files) ** flow.writing
    asked = rates.target_request if size else 0.0
    piece, whole = size / speed["target"] / parts + asked, size / speed["whole"]
    longest = max(piece, process / parts, file / parts, node / parts, whole / parts)
    if flow.absent:  # who has nothing to read is the first to ask for the lock to write
        longest = max(0.0, longest - lock)
    # Of those that read at the same time, one takes the lock from the writer.
    taken = lock if flow.writing else lock / on_object
    per_node = ceil(flow.processes / flow.nodes)
    in_file = ceil(min(per_node, flow.processes / flow.files))
    steady = max(process, file, node, whole) / parts
    turn, unlucky = _turn(flow, steady, piece, in_file * count * parts, rates)
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
    """Seconds from the first request to the end of the last one.

    All begin at once.  The first request of each process ends when the busiest resource has
    served all of them, or the lock has gone from hand to hand; from then on a process comes
    back when its request has ended, and waits only where a resource has no rest.
    """
    alone = _alone(waits, lock, part, data)
    locked = uses["lock"] / rounds
    busiest = max(uses.values()) / rounds
    first = max(waits + max(busiest, locked + part), alone)
    return first + (rounds - 1) * max(busiest, alone)


def _alone(waits: float, lock: float, part: float, data: Mapping[str, float]) -> float:
    return waits + max(lock + part, *data.values())


def _turn(
    flow: Flow, steady: float, chancy: float, parts: float, rates: Rates
) -> tuple[float, float]:
    """Return for how long a part keeps its node from the file, and how unlucky a node can be.

    Args:
        flow: Of the parts.
        steady: Longest of a part's transfers but the target's.
        chancy: Mean of the target's.
        parts: Of one node into one file.
        rates: Of the storage.
    """
    if not (flow.writing and rates.turns):
        return 0.0, 1.0
    mean, spread = longest_of(steady, chancy, rates.jitter)
    nodes = max(flow.nodes, min(flow.files, flow.processes))
    return rates.turns * mean, 1 + spread / mean * slowest(nodes, parts) if mean else 1.0


def _slowest(flow: Flow, layout: Layout, requests: float, rates: Rates) -> float:
    """How many times as long as the mean the slowest of the targets takes with its requests."""
    used = min(flow.files * flow.objects, flow.processes * flow.objects_per_process)
    used = min(used, _targets(flow, layout))
    return 1 + rates.jitter * slowest(used, requests)


def _ahead(flow: Flow) -> bool:
    """Whether locks are asked for ahead: where a file has more than one writer."""
    return flow.writing and flow.lock_mode == AHEAD and flow.processes > flow.files


def _lock(flow: Flow, rates: Rates) -> float:
    """Mean time for which a request holds the lock of an object."""
    if flow.lock_mode == EXTENT or not flow.writing:
        return rates.revoke * flow.handovers + rates.page * min(flow.shared_pages, flow.handovers)
    return 0.0


def _held(flow: Flow, rates: Rates) -> float:
    """Seconds that a lock asked for ahead costs a node's stream of the file."""
    nodes = max(1.0, flow.nodes / flow.files)
    return rates.hold + rates.extent * flow.writers * (1 - 1 / nodes)


def _targets(flow: Flow, layout: Layout) -> int:
    """Targets that objects can lie on: files begin one file's stripes behind each other."""
    apart = gcd(layout.stripe_count, layout.targets)
    if flow.files == 1 or flow.objects >= apart:
        return layout.targets
    return layout.targets // apart * flow.objects


def _busiest(flow: Flow, layout: Layout) -> tuple[float, float]:
    """Processes that use the busiest object, and (process, object) pairs of the busiest target.

    Objects lie on targets one after another.  Where the number of objects of a process is a mean
    of different ones, they spread evenly.
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
