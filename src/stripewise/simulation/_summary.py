# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The requests of a simulated run in figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stripewise.simulation._phases import PhaseTime
from stripewise.simulation._requests import Flow
from stripewise.simulation._workload import Workload


@dataclass(frozen=True)
class RequestSummary:
    """Requests as they reach the file system.

    Attributes:
        processes: Most that issue requests at the same time.
        nodes: That these are on.
        files: Most that are in use at the same time.
        requests: Of all processes.
        bytes: That they move.
        size_bytes: Of one of them, in the mean.
        rounds: Exchanges of collective buffering.
        exchange_bytes: That all aggregators exchange in one round, in the mean.
        read_modify_write_bytes: That are read although the program only writes them.
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
    """Return the requests of all phases in figures."""
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
