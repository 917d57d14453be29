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

from stripewise.simulation._law import FlowTime, flow_time
from stripewise.simulation._rates import Rates
from stripewise.simulation._requests import Turns
from stripewise.simulation.stacks import Layout

_METADATA = "metadata"


def turns_times(
    turns: Sequence[Turns], nodes: int, rates: Rates, layout: Layout
) -> tuple[float, float, dict[str, float], tuple[FlowTime, ...]]:
    """Return the seconds of all, those of metadata, the use of resources, and the flows' times.

    Args:
        turns: Of different processes that begin at the same time.
        nodes: That all of them are on.
        rates: Of the storage.
        layout: Of the files.
    """
    found = [_Turn(one, rates, layout) for one in turns]
    uses = {name: sum(one.uses[name] for one in found) for name in (_METADATA, "whole", "lock")}
    for name in ("file", "node"):  # of one node: not all processes are on it
        spread = sum(one.uses[name] * one.nodes / nodes for one in found)
        uses[name] = max(spread, *(one.uses[name] for one in found))
    flows = tuple(flow for one in found for flow in one.flows)
    uses["target"] = _on_a_target(flows, layout)
    metadata = max([uses[_METADATA], *(one.metadata for one in found)])
    return max(one.seconds(uses) for one in found), metadata, uses, flows


def _on_a_target(flows: Sequence[FlowTime], layout: Layout) -> float:
    """Return the seconds for which the busiest target is used.

    Files of single processes are on targets one after another; shared files may meet on one.
    """
    own = [one for one in flows if one.flow.files >= one.flow.processes]
    work = sum(
        one.flow.processes * one.flow.count * one.flow.parts_per_request(layout.stripe_size)
        * one.data["target"]
        for one in own
    )  # fmt: skip
    shared = sum(one.uses["target"] for one in flows if one not in own)
    return max([shared + work / layout.targets, *(one.uses["target"] for one in flows)])


class _Turn:
    """What one process of some equal ones needs, and all of them together.

    Attributes:
        nodes: Of all of them.
        alone: Seconds of a process that meets no other.
        metadata: Of them, those of metadata operations.
        own: Resource -> of them, those for which the process uses it.
        visits: Resource -> how often it does.
        uses: Resource -> seconds for which all processes use the instance that is used most.
    """

    def __init__(self, turns: Turns, rates: Rates, layout: Layout) -> None:
        self.nodes = turns.nodes
        self.flows = [flow_time(flow, rates, layout) for flow in turns.flows if flow.count > 0]
        self.own: defaultdict[str, float] = defaultdict(float)
        self.visits: defaultdict[str, float] = defaultdict(float)
        self.uses: defaultdict[str, float] = defaultdict(float)
        self.metadata = self.alone = 0.0
        for name, number in turns.metadata.items():
            once = rates.operation(name, layout.stripe_count)
            self._add(_METADATA, number, once, turns.processes * number * once)
            self.metadata += number * (once + rates.latency)
        for one in self.flows:
            self.alone += one.flow.count * one.alone
            for name in ("file", "node", "target", "whole"):
                self._add(name, one.flow.count, one.data[name], one.uses[name])
            self._add("lock", one.flow.count, one.lock, one.uses["lock"])
        self.alone += self.metadata

    def _add(self, name: str, visits: float, each: float, uses: float) -> None:
        if each > 0:
            self.own[name] += visits * each
            self.visits[name] += visits
            self.uses[name] += uses

    def seconds(self, uses: Mapping[str, float]) -> float:
        """Return when the last process ends, by what all processes use of each resource.

        Before its first visit of the busiest resource, and after its last one, it is elsewhere.
        """
        return max([self.alone, *self._last(uses)])

    def _last(self, uses: Mapping[str, float]) -> Iterator[float]:
        for name, visits in self.visits.items():
            yield uses[name] + max(self.alone - self.own[name], 0.0) / max(visits, 1.0)
