# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Phases to seconds: what happens at the same time, by the laws of single flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stripewise.simulation._law import FlowTime, flow_time
from stripewise.simulation._rates import Rates
from stripewise.simulation._requests import Phase
from stripewise.simulation._together import busiest_together
from stripewise.simulation._turns import turns_times
from stripewise.simulation.stacks import Layout


class PhaseTime(NamedTuple):
    """How long a phase takes, all its repetitions together.

    Attributes:
        phase: Of which it is told.
        seconds: Of all repetitions.
        exchange: Seconds of the exchange in one repetition.
        copy: Seconds for which the processes of a node copy first, in one repetition.
        metadata: Seconds of the metadata server in one repetition.
        flows: Of one repetition.
        taken: Of flows that take turns, their `uses`; None: as all begin at once.
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
        """Return for how long what flows share is used, all of them in one repetition together.

        Member of `DATA` but "process", or "lock" -> seconds of the instance that is used most.
        """
        return _uses(self.flows, self.phase.nodes) if self.taken is None else self.taken


def phase_times(phases: Iterable[Phase], rates: Rates, layout: Layout) -> tuple[PhaseTime, ...]:
    """Return how long each phase takes.

    Args:
        phases: Of a stack, in order.
        rates: Of the storage that serves them.
        layout: Of the files.
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
    """Seconds of flows of different processes that run at the same time."""
    if not flows:
        return 0.0
    if len(flows) == 1:
        return flows[0].seconds
    begin = min(one.waits for one in flows)
    busiest = max(_uses(flows, nodes).values())
    return max(begin + busiest, *(one.seconds for one in flows))
