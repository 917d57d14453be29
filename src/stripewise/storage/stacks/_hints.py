# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads ROMIO's hints with their defaults, and determines the aggregators and their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.storage.stacks._base import Ints, Setup
from stripewise.storage.stacks._workload import Workload

MIB = 1 << 20
NAMES = (
    "cb_nodes", "cb_config_list", "cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size",
    "romio_cb_read", "romio_cb_write", "romio_ds_read", "romio_ds_write", "romio_no_indep_rw",
    "romio_min_fdomain_size", "striping_unit",
)  # fmt: skip
LUSTRE_NAMES = (
    "romio_lustre_co_ratio", "romio_lustre_coll_threshold", "romio_lustre_ds_in_coll",
)  # fmt: skip


def names(*hints: str) -> frozenset[str]:
    """Return the tunables' names of MPI-IO hints."""
    return frozenset(f"mpiio.{hint}" for hint in hints)


@dataclass(frozen=True)
class Hints:
    """ROMIO's hints with their effective values.

    Defaults: `ROMIO_PRINT_HINTS=1` of MPICH 4.0.2; adio/common/ad_hints.c,
        ad_lustre/ad_lustre_hints.c.

    Attributes:
        cb_nodes: Number of aggregators; 0 if not given.
        cb_config_list: Aggregators on each host.
        cb_buffer_size: Bytes of a round of an aggregator.
        ind_rd_buffer_size / ind_wr_buffer_size: Bytes of a window of data sieving.
        cb_read / cb_write / ds_read / ds_write: "enable", "disable" or "automatic".
        deferred_open: Whether only aggregators open the file.
        min_fdomain_size: Minimum bytes of an aggregator's share.
        striping_unit: The hint, 0 if not given.
        co_ratio / coll_threshold / ds_in_coll: Hints of the Lustre driver.
    """

    cb_nodes: int = 0
    cb_config_list: str = "*:1"
    cb_buffer_size: int = 16 * MIB
    ind_rd_buffer_size: int = 4 * MIB
    ind_wr_buffer_size: int = MIB // 2
    cb_read: str = "automatic"
    cb_write: str = "automatic"
    ds_read: str = "automatic"
    ds_write: str = "automatic"
    deferred_open: bool = False
    min_fdomain_size: int = 0
    striping_unit: int = 0
    co_ratio: int = 1
    coll_threshold: int = 0
    ds_in_coll: bool = True

    def buffering(self, writing: bool) -> str:
        """Return when collective calls are buffered: "enable", "disable", "automatic"."""
        return self.cb_write if writing else self.cb_read

    def sieves(self, writing: bool) -> bool:
        """Return whether independent accesses with holes are sieved."""
        return (self.ds_write if writing else self.ds_read) != "disable"


def read_hints(setup: Setup, *, config_list: str = "*:1") -> Hints:
    """Return the hints of a setup.

    Raises:
        UsageError: A value has the wrong kind.
    """
    given = {
        name.partition(".")[2]: value
        for name, value in setup.settings.items()
        if name.startswith("mpiio.")
    }
    alone = _truth(given.get("romio_no_indep_rw"))  # read last: it overrides romio_cb_*
    automatic = "enable" if alone else "automatic"
    return Hints(
        cb_nodes=number(setup, "mpiio.cb_nodes", 0),
        cb_config_list=str(given.get("cb_config_list", config_list)),
        cb_buffer_size=_size(setup, "cb_buffer_size", 16 * MIB),
        ind_rd_buffer_size=_size(setup, "ind_rd_buffer_size", 4 * MIB),
        ind_wr_buffer_size=_size(setup, "ind_wr_buffer_size", MIB // 2),
        cb_read=automatic if alone else str(given.get("romio_cb_read", automatic)),
        cb_write=automatic if alone else str(given.get("romio_cb_write", automatic)),
        ds_read=str(given.get("romio_ds_read", "automatic")),
        ds_write=str(given.get("romio_ds_write", "automatic")),
        deferred_open=alone,
        min_fdomain_size=number(setup, "mpiio.romio_min_fdomain_size", 0),
        striping_unit=number(setup, "mpiio.striping_unit", 0),
        co_ratio=max(number(setup, "mpiio.romio_lustre_co_ratio", 1), 1),
        coll_threshold=number(setup, "mpiio.romio_lustre_coll_threshold", 0),
        ds_in_coll=given.get("romio_lustre_ds_in_coll", "enable") != "disable",
    )


def number(setup: Setup, name: str, default: int) -> int:
    """Return a setting that is an integer.

    Raises:
        UsageError: It is not an integer.
    """
    value = setup.settings.get(name, default)
    try:
        return int(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise UsageError(
            f"{name} is {value!r}: give an integer, in bytes where it is a size"
        ) from None


def _size(setup: Setup, hint: str, default: int) -> int:
    """Return the size of a buffer in bytes.

    Raises:
        UsageError: The size is not positive.
    """
    size = number(setup, f"mpiio.{hint}", default)
    if size < 1:
        raise UsageError(f"mpiio.{hint} is {size}: a buffer has at least 1 byte")
    return size


def _truth(value: Value | None) -> bool:
    return value is True or str(value).lower() in ("true", "enable", "1")


# Aggregators of collective calls, and their nodes.


@dataclass(frozen=True)
class Aggregators:
    """Aggregators by rule: `each` on every host, hosts one after another or in turn.

    Attributes:
        count: Number of aggregators.
        each: Maximum number on a host.
        ranks_per_host: Number of ranks on a host.
        ranks_per_node: Number of ranks on a node, from which the requests come.
        in_turn: Whether the first of every host comes first, then the second of every host, etc.
        stride: Distance in ranks, if it is given; 0 for placement by host.
        ranks: Number of ranks of the job.
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
        """Number of nodes with an aggregator."""
        return self.nodes_of(self.count)

    def nodes_of(self, count: int) -> int:
        """Return the number of nodes of the first `count` aggregators."""
        hosts = -(-self.ranks // self.ranks_per_host)
        if not self.stride and self.ranks_per_host == self.ranks_per_node:
            return min(count, hosts) if self.in_turn else -(-count // self.each)
        if not self.stride and hosts == 1:
            return -(-count // self.ranks_per_node)
        return int(np.unique(self.node(np.arange(count))).size)

    def nodes_apart(self, step: int, count: int) -> int:
        """Return the number of nodes of `count` aggregators: 0, `step`, 2 `step`, ..."""
        index = np.arange(min(count, self.count), dtype=np.int64) * step % self.count
        return int(np.unique(self.node(index)).size)


def romio_aggregators(work: Workload, hints: Hints, hosts: int) -> Aggregators:
    """Return ROMIO's aggregators.

    Source: ROMIO, adio/common/cb_config_list.c (match_procs) and ad_hints.c: as many on a host as
        the list allows, host after host, until there are `cb_nodes`.

    Raises:
        UsageError: The list contains names of hosts.
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
    """Return the first rank of each group of consecutive ranks; the first ones have one more."""
    index = np.arange(groups, dtype=np.int64)
    return index * (ranks // groups) + np.minimum(index, ranks % groups)


@lru_cache(maxsize=256)
def each_host(config_list: str, most: int) -> int:
    """Return how many aggregators the first wildcard of a list allows on each host.

    Raises:
        UsageError: The list contains names of hosts, which a described machine does not have.
    """
    name, _, number = config_list.split(",")[0].strip().partition(":")
    if name != "*" or not (number in ("", "*") or number.isdigit()):
        raise UsageError(
            f"cb_config_list is {config_list!r}: a simulation has no host names; use *:NUMBER"
        )
    return most if number == "*" else int(number or 1)
