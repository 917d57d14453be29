# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who writes into which subfile in ADIOS2, and at most how much at once.

Source: ADIOS2 2.12, toolkit/aggregator/mpi/MPIShmChain.cpp (Init), MPIChain.cpp; measured: writes
and reads of BP5 and BP4 under capture (ADIOS2 2.12.1, one host).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stripewise.errors import UsageError
from stripewise.simulation._workload import Workload
from stripewise.simulation.stacks._aggregators import first_of_groups
from stripewise.simulation.stacks._base import Ints, Setup
from stripewise.simulation.stacks._contention import PAGE
from stripewise.simulation.stacks._hints import number

MOST_BYTES = 2_147_381_248
"""Of one call (DefaultMaxFileBatchSize)."""
MAX_SHM = 4_294_762_496
TUNABLES = frozenset(
    f"adios2.{name}"
    for name in (
        "engine", "NumAggregators", "AggregatorRatio", "NumSubFiles", "SubStreams",
        "AggregationType", "StripeSize", "MaxShmSize",
    )
)  # fmt: skip
SHM, EVERYONE, SERIAL = "TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial"


@dataclass(frozen=True)
class Adios2:
    """What ADIOS2 works with.

    Attributes:
        engine: "BP5" or "BP4".
        everyone: Every rank writes its data itself; otherwise one of each group does.
        aggregators: Groups of ranks, as asked for; 0: one a host.
        subfiles: Files of data, as asked for; 0: one of each group.
        align: A group's (each rank's) data of a step begins at a multiple, bytes.
        segment: Bytes that another rank's data is written in.
    """

    engine: str
    everyone: bool
    aggregators: int
    subfiles: int
    align: int
    segment: int


def read_parameters(work: Workload, setup: Setup) -> Adios2:
    """Return the parameters.

    Raises:
        UsageError: A value is of the wrong kind, or asks for what is not modelled.
    """
    engine = str(setup.settings.get("adios2.engine", "BP5"))
    if engine not in ("BP5", "BP4"):
        raise UsageError(f"the requests of ADIOS2's engine {engine!r} are not modelled: BP5, BP4")
    kind = str(setup.settings.get("adios2.AggregationType", SHM))
    if kind not in (SHM, EVERYONE, SERIAL):
        raise UsageError(
            f"adios2.AggregationType {kind!r} is not modelled: use {SHM}, {EVERYONE} or {SERIAL}"
        )
    ratio = number(setup, "adios2.AggregatorRatio", 0)
    wanted = number(setup, "adios2.NumAggregators", number(setup, "adios2.SubStreams", 0))
    shared = max(number(setup, "adios2.MaxShmSize", MAX_SHM) // 2 - 64, 32) // 32 * 32
    bp5 = engine == "BP5"
    return Adios2(
        engine=engine,
        everyone=bp5 and kind != SHM,
        aggregators=work.ranks // ratio if ratio > 0 and not wanted else wanted,
        subfiles=number(setup, "adios2.NumSubFiles", 0) if bp5 and kind == SHM else 0,
        align=max(1, number(setup, "adios2.StripeSize", PAGE)) if bp5 else 1,
        segment=min(shared, MOST_BYTES) if bp5 else MOST_BYTES,
    )


@dataclass(frozen=True, eq=False)
class Groups:
    """Attributes: of each rank (n_ranks,) int64: the rank that writes for it, and the subfile."""

    writer: Ints
    subfile: Ints


def counts(adios2: Adios2, work: Workload, setup: Setup) -> tuple[int, int]:
    """Return the numbers of groups and of subfiles."""
    hosts = max(1, min(setup.hosts, work.ranks))
    if adios2.everyone or adios2.engine == "BP4":
        groups = min(adios2.aggregators or hosts, work.ranks)
        return groups, groups
    on_host = max(1, min(adios2.aggregators // hosts, work.ranks // hosts))
    groups = on_host * hosts
    return groups, min(adios2.subfiles or groups, groups)


def groups_of(adios2: Adios2, work: Workload, setup: Setup) -> Groups:
    """Return who writes for whom, and where to."""
    rank = np.arange(work.ranks, dtype=np.int64)
    groups, subfiles = counts(adios2, work, setup)
    if adios2.everyone or adios2.engine == "BP4":
        first = first_of_groups(work.ranks, groups)
        group = np.searchsorted(first, rank, "right") - 1
        return Groups(rank if adios2.everyone else first[group], group)
    hosts = max(1, min(setup.hosts, work.ranks))
    size = -(-work.ranks // hosts)
    on_host = groups // hosts
    # In single precision, as there.
    width = np.float32(size) / np.float32(on_host)
    group = rank // size * on_host + ((rank % size).astype(np.float32) / width).astype(np.int64)
    first = np.searchsorted(group, group)
    share = np.float32(groups) / np.float32(subfiles)
    return Groups(rank[first], (group.astype(np.float32) / share).astype(np.int64))
