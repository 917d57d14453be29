# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Processes that do several things in turn and do not wait for each other in between.

A process comes back to a resource when it has done all else of its turn, so that the resource
with most to do never rests, and the others do: asymptotic bounds of a closed queueing network.
Source: E. D. Lazowska et al., Quantitative System Performance (1984), chapter 5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from stripewise.simulation._law import FlowTime
from stripewise.simulation._rates import Rates
from stripewise.simulation._requests import Turns
from stripewise.simulation.stacks import Layout

_METADATA = "metadata"
_RESOURCES = ("file", "node", "target", "whole", "lock")


def turns_times(
    turns: Sequence[Turns], flows: Sequence[FlowTime], rates: Rates, layout: Layout
) -> tuple[float, float, dict[str, float]]:
    """Return the seconds of all, those of metadata, and for how long resources are used.

    Args:
        turns: Of different processes that begin at the same time.
        flows: Of all of them.
        rates: Of the storage.
        layout: Of the files.
    """
    found = [_Turn(one, flows, rates, layout) for one in turns]
    uses = {name: sum(one.uses[name] for one in flows) for name in _RESOURCES}
    uses[_METADATA] = sum(one.on_server for one in found)
    metadata = max([uses[_METADATA], *(one.metadata for one in found)])
    return max(one.seconds(uses) for one in found), metadata, uses


class _Turn:
    """What one process of some equal ones needs.

    Attributes:
        alone: Seconds of a process that meets no other.
        metadata: Of them, those of metadata operations.
        own: Resource -> of them, those for which the process uses it.
        visits: Resource -> how often it does.
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
        """Return when the last process ends, by what all processes use of each resource.

        Before its first visit of the busiest resource, and after its last one, it is elsewhere.
        """
        return max([self.alone, *self._last(uses)])

    def _last(self, uses: Mapping[str, float]) -> Iterator[float]:
        for name, visits in self.visits.items():
            yield uses[name] + max(self.alone - self.own[name], 0.0) / max(visits, 1.0)
