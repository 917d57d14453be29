# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes in the words of a storage expert what limits each phase, the most limiting first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf

from stripewise.present import count_text, plural, rate_text, seconds_text
from stripewise.storage.machines import Storage
from stripewise.storage.simulation._law import FlowTime, PhaseTime
from stripewise.storage.simulation._rates import DATA
from stripewise.storage.stacks import Layout

_LEAST_SHARE = 0.005


@dataclass(frozen=True)
class Limit:
    """Resource that the requests need time for.

    Attributes:
        resource: "process", "file" (a node into one file), "node", "target", "whole", "lock",
            "ahead", "request", "exchange" or "metadata".
        seconds: Time for which it is in use; uses of different resources overlap.
        share: Share of the whole time, 0 to 1.
        words: Description for people: "1 writer per stripe: 12 x 1.0 GiB/s".
        next: Next limit if this one is removed; empty if no other one is described.
    """

    resource: str
    seconds: float
    share: float
    words: str
    next: str = ""


def limits_of(times: Sequence[PhaseTime], storage: Storage, layout: Layout) -> tuple[Limit, ...]:
    """Return what limits the phases, the most limiting first.

    Args:
        times: Times of all phases, in order.
        storage: Storage that serves them.
        layout: Layout of the files.
    """
    total = sum(one.seconds for one in times)
    spent: dict[str, float] = {}
    most: dict[str, tuple[float, PhaseTime]] = {}
    for time in times:
        for name, once in _used(time).items():
            seconds = once * time.phase.repeats
            spent[name] = spent.get(name, 0.0) + seconds
            if name not in most or seconds > most[name][0]:
                most[name] = seconds, time
    if not total:
        return ()
    order = sorted(
        (name for name in spent if spent[name] >= _LEAST_SHARE * total),
        key=lambda name: -spent[name],
    )
    words = {name: WORDS[name](most[name][1], times, storage, layout) for name in order}
    return tuple(
        Limit(name, spent[name], min(spent[name] / total, 1.0), words[name], words.get(after, ""))
        for name, after in zip(order, [*order[1:], ""], strict=True)
    )


def _used(time: PhaseTime) -> dict[str, float]:
    """Return the seconds for which one repetition uses each resource."""
    used = {"exchange": time.exchange, "copy": time.copy, "metadata": time.metadata}
    flows = time.flows
    for name in (*DATA, "lock"):
        together = time.uses.get(name, 0.0)
        alone = (
            flow.rounds * (flow.lock if name == "lock" else flow.data[name]) for flow in flows
        )
        used[name] = max((together, *alone))
    # The process is also busy with its lock, which is a separate limit.
    used["process"] = max((f.rounds * (f.data["process"] - f.ahead) for f in flows), default=0.0)
    used["ahead"] = max((flow.rounds * flow.ahead for flow in flows), default=0.0)
    used["request"] = max((flow.rounds * flow.waits for flow in flows), default=0.0)
    return {name: seconds for name, seconds in used.items() if seconds > 0}


# Names of limits: words that a storage expert would use.


def _most(time: PhaseTime, name: str) -> FlowTime:
    if name in ("ahead", "request"):
        return max(time.flows, key=lambda flow: flow.ahead if name == "ahead" else flow.waits)
    return max(time.flows, key=lambda flow: flow.uses[name])


def _rate(flow: FlowTime, table: str, storage: Storage) -> float:
    way = "write" if flow.flow.writing else "read"
    return storage.value(f"{table}_{way}")


def _process(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    found = _most(time, "process")
    flow, way = found.flow, "writer" if found.flow.writing else "reader"
    speed = f"{count_text(flow.processes)} x {rate_text(_rate(found, 'client.process', storage))}"
    stripes = flow.files * layout.stripe_count
    if flow.processes == stripes and flow.files == 1:
        return f"1 {way} per stripe: {speed}"
    if flow.files == flow.processes:
        return f"{plural(flow.processes, way)} with a file each: {speed}"
    return f"{count_text(flow.processes)} {way if flow.processes == 1 else way + 's'}: {speed}"


def _file(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    found = _most(time, "file")
    flow, rate = found.flow, _rate(found, "client.file", storage)
    pairs = max(flow.nodes, flow.files)
    who = f"{plural(flow.nodes, 'node')} into {'one file' if flow.files == 1 else 'a file each'}"
    if flow.files > flow.nodes:
        who = f"nodes into {count_text(flow.files)} files"
    by_itself = flow.size / rate
    if flow.writing and storage.value("client.turns") and found.data["file"] > 1.05 * by_itself:
        return f"{who}: its writes take turns, and each lasts until the data is there"
    if rate == inf:
        return f"{who}: waiting for a lock delays the node's other requests"
    speed = f"{count_text(pairs)} x {rate_text(rate)}" if pairs > 1 else rate_text(rate)
    held = found.lock + found.held > found.data["file"] / 2
    return f"{who}: {speed}" + (", delayed by waiting for locks" if held else "")


def _node(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    found = _most(time, "node")
    rate = rate_text(_rate(found, "client.node", storage))
    nodes = found.flow.nodes
    return (
        f"the node's link: {rate}"
        if nodes == 1
        else f"links of nodes: {count_text(nodes)} x {rate}"
    )


def _target(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    found = _most(time, "target")
    flow = found.flow
    used = min(
        layout.targets, flow.files * flow.objects, ceil(flow.processes * flow.objects_per_process)
    )
    own = storage.value("servers.target_request")
    if own > found.data["target"] / 2:
        number = time.phase.repeats * _parts(found, layout) / used
        return (
            f"requests at the targets: {count_text(used)} x {count_text(number)} requests, "
            f"{seconds_text(own)} each"
        )
    return f"targets: {count_text(used)} x {rate_text(_rate(found, 'servers.target', storage))}"


def _whole(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    rate = _rate(_most(time, "whole"), "servers.whole", storage)
    return f"the whole storage: {rate_text(rate)}"


def _lock(time: PhaseTime, times: Iterable[PhaseTime], storage: Storage, layout: Layout) -> str:
    moves = sum(
        time.phase.repeats * flow.flow.handovers * _parts(flow, layout)
        for time in times
        for flow in time.flows
    )
    if moves < 0.5:
        return "pages that nodes share are read and written back"
    owner = "the object's lock changes" if layout.stripe_count == 1 else "locks of objects change"
    return f"{owner} hands {count_text(moves)} times"


def _parts(found: FlowTime, layout: Layout) -> float:
    """Return the parts of requests that reach objects in one repetition."""
    flow = found.flow
    return flow.processes * flow.count * flow.parts_per_request(layout.stripe_size)


def _ahead(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    each = storage.value("locks.ahead")
    return f"lock-ahead: {seconds_text(each)} for each of {_each(time, 'ahead')}"


def _request(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    each = storage.value("client.request")
    return f"overhead of requests: {seconds_text(each)} for each of {_each(time, 'request')}"


def _each(time: PhaseTime, name: str) -> str:
    number = _most(time, name).rounds * time.phase.repeats
    return (
        f"{count_text(number)} requests of a process" if number > 1 else "1 request of a process"
    )


def _exchange(time: PhaseTime, times: Iterable[PhaseTime], *_: object) -> str:
    rounds = sum(one.phase.repeats for one in times if one.exchange)
    each = seconds_text(time.exchange)
    ranks = plural(time.phase.ranks, "rank")
    return f"exchange between {ranks} and aggregators: {count_text(rounds)} rounds of {each}"


def _copy(time: PhaseTime, _: object, storage: Storage, layout: Layout) -> str:
    del layout
    del time
    speed = rate_text(storage.value("client.memory"))
    return f"copies between the processes of a node, before the write: {speed} a node"


def _metadata(time: PhaseTime, times: Iterable[PhaseTime], *_: object) -> str:
    counts: dict[str, float] = {}
    for one in times:
        for name, number in one.phase.metadata.items():
            counts[name] = counts.get(name, 0.0) + number * one.phase.repeats
    shown = ", ".join(
        f"{count_text(number)} x {name}" for name, number in counts.items() if number
    )
    return f"metadata server: {shown}"


WORDS: Mapping[str, Callable[[PhaseTime, Sequence[PhaseTime], Storage, Layout], str]] = {
    "process": _process, "file": _file, "node": _node, "target": _target, "whole": _whole,
    "lock": _lock, "ahead": _ahead, "request": _request, "exchange": _exchange,
    "copy": _copy, "metadata": _metadata,
}  # fmt: skip
"""Description of a resource's use in a phase, by resource."""
