# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks aggregate in collective calls, and the nodes that these are on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from stripewise.errors import UsageError
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._base import Ints
from stripewise.simulation.stacks._hints import Hints


@dataclass(frozen=True)
class Aggregators:
    """Ranks that aggregate, by rule: `each` of every host, hosts one after another or in turn.

    Attributes:
        count: Of them.
        each: At most so many on a host.
        ranks_per_host: Ranks of a host.
        ranks_per_node: Of a node, which the requests come from.
        in_turn: The first of every host, then the second of every host, and so on.
        stride: Distance in ranks, where it is given; 0: by host.
        ranks: Of the job.
    """

    count: int
    each: int
    ranks_per_host: int
    ranks_per_node: int
    ranks: int
    in_turn: bool = False
    stride: int = 0

    def rank(self, index: Ints) -> Ints:
        """Return the ranks of the aggregators with these indices."""
        if self.stride:
            place = index * self.stride
            wrapped: Ints = (place + place // self.ranks) % self.ranks
            return wrapped
        if self.in_turn:
            hosts = -(-self.ranks // self.ranks_per_host)
            turned: Ints = index % hosts * self.ranks_per_host + index // hosts
            return turned
        listed: Ints = index // self.each * self.ranks_per_host + index % self.each
        return listed

    def node(self, index: Ints) -> Ints:
        """Return the nodes of the aggregators with these indices."""
        found: Ints = self.rank(index) // self.ranks_per_node
        return found

    @cached_property
    def nodes(self) -> int:
        """How many nodes have one."""
        return self.nodes_of(self.count)

    def nodes_of(self, count: int) -> int:
        """How many nodes the first ones are on."""
        hosts = -(-self.ranks // self.ranks_per_host)
        if not self.stride and self.ranks_per_host == self.ranks_per_node:
            return min(count, hosts) if self.in_turn else -(-count // self.each)
        if not self.stride and hosts == 1:
            return -(-count // self.ranks_per_node)
        return int(np.unique(self.node(np.arange(count))).size)

    def nodes_apart(self, step: int, count: int) -> int:
        """How many nodes have the aggregators 0, `step`, 2 `step`, ...: `count` of them."""
        index = np.arange(min(count, self.count), dtype=np.int64) * step % self.count
        return int(np.unique(self.node(index)).size)


def romio_aggregators(work: Workload, hints: Hints, hosts: int) -> Aggregators:
    """Return ROMIO's aggregators.

    Source: ROMIO, adio/common/cb_config_list.c (match_procs) and ad_hints.c: as many of a host
    as the list allows, host after host, until there are `cb_nodes`.

    Raises:
        UsageError: The list names hosts.
    """
    ranks = work.ranks
    wanted = hints.cb_nodes if 0 < hints.cb_nodes <= ranks else ranks
    hosts = min(max(hosts, 1), ranks)
    per_host = -(-ranks // hosts)
    each = min(each_host(hints.cb_config_list, ranks), per_host)
    if each < 1:
        raise UsageError(f"cb_config_list is {hints.cb_config_list!r}: it leaves no aggregator")
    return Aggregators(
        min(wanted, -(-ranks // per_host) * each, ranks),
        each,
        per_host,
        work.ranks_per_node,
        ranks,
    )


def first_of_groups(ranks: int, groups: int) -> Ints:
    """Return the first rank of each group of successive ranks; the first ones have one more."""
    index = np.arange(groups, dtype=np.int64)
    return index * (ranks // groups) + np.minimum(index, ranks % groups)


@lru_cache(maxsize=256)
def each_host(config_list: str, most: int) -> int:
    """Return how many aggregators the first wildcard of a list allows on each host.

    Raises:
        UsageError: The list names hosts, which a described machine does not have.
    """
    name, _, number = config_list.split(",")[0].strip().partition(":")
    if name != "*" or not (number in ("", "*") or number.isdigit()):
        raise UsageError(
            f"cb_config_list is {config_list!r}: a simulation has no host names; use *:NUMBER"
        )
    return most if number == "*" else int(number or 1)
