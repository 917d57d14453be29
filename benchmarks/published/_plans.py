# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the figures of each preset to fit, their tables, and their expected values.

Expected values come from documents (the bandwidth of a network or target) with a narrow spread, or
are assumed with a wide one; never from the cells that are only predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_HENTY = "Henty (EPCC), Performance of Parallel IO on ARCHER2"
_GUIDE = "ARCHER2 user guide (github.com/ARCHER2-HPC/archer2-docs), hardware"
_PEAK = "Behzad et al., ACM TOPC 5(4):15, 2019, Table 1: peak, by the number of targets"
_MIB, _GIB = float(1 << 20), float(1 << 30)
SURE, KNOWN, GUESS, OPEN = 0.2, 0.3, 0.7, 1.5
"""Spreads of logarithms: documented; known from similar systems; a guess; unknown."""

REASONS: Mapping[str, str] = {
    "client.process_write": "a process of a Lustre client of those years wrote 0.3 to 0.5 GB/s",
    "client.file_write": "a node writes one file about as fast as one of its processes",
    "client.sharing": "a lock within the client costs each further writer some hundredths",
    "client.turns": "older clients hold the file for a write, of which a cache takes a part",
    "client.memory": "a copy passes the memory of a node five times",
    "client.request": "a request is a system call and a message to a server and back",
    "exchange.round": "a round begins with counts that all ranks exchange",
    "exchange.rank": "of these counts each rank has a few bytes",
    "exchange.bandwidth": "an aggregator receives through the network interface of its node",
    "locks.ahead": "a lock is asked for in one message to the server of the target",
    "locks.hold": "the stream of a node waits for the answer to such a message",
    "locks.extent": "the server compares a lock with those that it has granted",
    "servers.target_request": "a server answers a bulk request within tenths of a millisecond",
    "servers.jitter": "half of a shared disk's time is a guess between none and all",
}
"""Figure without a document to the reason for its expected order of magnitude."""


@dataclass(frozen=True)
class Free:
    """Figure that a fit may change.

    Attributes:
        name: Name in `stripewise.storage.machines.FIGURES`.
        value: Expected value before any number is looked at, in base units.
        spread: Standard deviation of its logarithm.
        source: Document with the value; empty if it is assumed.
    """

    name: str
    value: float
    spread: float
    source: str = ""


@dataclass(frozen=True)
class Plan:
    """Plan for fitting one preset.

    Attributes:
        tables: Published tables whose marked cells are used.
        free: Figures that may change.
        others: Presets that get the same values except those of servers: other storage of the same
            clients.
    """

    tables: tuple[str, ...]
    free: tuple[Free, ...]
    others: tuple[str, ...] = ()


def _kernels(name: str, peak: float, targets: int, link: float, *more: str) -> Plan:
    """Return the plan for kernels on an old Lustre with documented peak and link, bytes/s."""
    free = (
        Free("client.process_write", 4e8, GUESS),
        Free("client.file_write", 5e8, GUESS),
        Free("client.request", 1e-4, GUESS),
        Free("exchange.round", 2e-4, KNOWN),
        Free("exchange.rank", 2e-8, GUESS),
        Free("exchange.bandwidth", link, KNOWN),
        Free("servers.target_write", peak / targets, SURE, _PEAK),
        Free("servers.target_request", 3e-4, GUESS),
        Free("servers.jitter", 0.5, GUESS),
    )
    return Plan((f"{name}-kernels-model", *more), free)


PLANS: Mapping[str, Plan] = {
    "archer2-hdd": Plan(
        ("archer2-hdd-mpiio-lock2", "archer2-hdd-mpiio-lock0", "archer2-hdd-adios2"),
        (
            Free("client.process_write", 1.07 * _GIB, SURE, f"{_HENTY}: 1.07 GiB/s"),
            Free("client.file_write", 1.4 * _GIB, GUESS),
            Free("client.sharing", 0.01, OPEN),
            Free("client.request", 5e-5, GUESS),
            Free("exchange.round", 2e-4, KNOWN),
            Free("exchange.rank", 2e-8, GUESS),
            Free("exchange.bandwidth", 11.6 * _GIB, KNOWN, f"{_GUIDE}: interfaces of 100 Gb/s"),
            Free("locks.ahead", 2e-4, OPEN),
            Free("locks.hold", 2e-4, OPEN),
            Free("locks.extent", 5e-6, OPEN),
            Free("client.node_write", 25e9, SURE, f"{_GUIDE}: two interfaces of 100 Gb/s a node"),
            # Memory of 410 GB/s, passed five times: read, and written and cleared with its lines.
            Free("client.memory", 76 * _GIB, OPEN),
            Free("servers.target_write", 11 * _GIB, SURE, f"{_HENTY}: limit from HPE"),
        ),
        others=("archer2-nvme",),
    ),
    "archer": Plan(
        ("archer-file-per-process", "archer-mpiio"),
        (
            Free("client.process_write", 500 * _MIB, SURE, f"{_HENTY}: single process on ARCHER"),
            Free("client.file_write", 768 * _MIB, GUESS),
            Free("client.sharing", 0.01, OPEN),
            Free("client.turns", 0.5, GUESS),
            Free("client.node_write", 5.9 * _GIB, SURE, f"{_HENTY}: single node on ARCHER"),
            Free("client.request", 5e-5, GUESS),
            Free("exchange.round", 2e-4, KNOWN),
            Free("exchange.rank", 2e-8, GUESS),
            Free("exchange.bandwidth", 6.4 * _GIB, KNOWN),
            Free("servers.target_write", 700 * _MIB, SURE, f"{_HENTY}: single OST of ARCHER"),
            # Between the time in a cache, 0.2 ms, and half a revolution of a disk, 4.2 ms.
            Free("servers.target_request", 9e-4, OPEN),
            Free("servers.whole_write", 15 * _GIB, SURE, f"{_HENTY}: most of ARCHER's 50 OSTs"),
            Free("servers.jitter", 0.5, GUESS),
        ),
    ),
    "hopper": _kernels("hopper", 35e9, 156, 6.9e9),
    "edison": _kernels("edison", 48e9, 96, 6.9e9),
    "stampede": _kernels("stampede", 159e9, 160, 5e9, "stampede-kernels-genetic"),
}
"""Preset to its plan.

shaheen2-datawarp is missing: its two pairs of marked cells are equations, which were solved.

"""
