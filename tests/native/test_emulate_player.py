# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Emulation in real time and the player in virtual time say the same of the same requests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from emulated_hosts import Emulation
from native_hosts import Host, Programs

from emulated_machine import Machine, near
from stripewise.storage.machines import Figure, FigureOrigin, Storage
from stripewise.storage.stacks import REQUEST_DTYPE, Layout
from support.player import play

KIB = 1 << 10
FIGURES = {
    "client.process_write": 40e6,
    "client.process_read": 60e6,
    "client.file_write": 50e6,
    "client.sharing": 0.2,
    "client.node_write": 45e6,
    "client.request": 0.001,
    "servers.target_write": 20e6,
    "servers.target_read": 30e6,
    "servers.target_request": 0.002,
    "servers.whole_write": 70e6,
    "servers.jitter": 0.5,
    "locks.revoke": 0.012,
    "locks.page": 0.008,
    "locks.page_size": 4096.0,
    "locks.ahead": 0.006,
    "locks.hold": 0.003,
    "locks.extent": 0.004,
}
Move = tuple[int, int]
"""Offset and bytes."""


def stored(figures: dict[str, float]) -> Storage:
    """The same for the player."""
    found = {name: Figure(value, FigureOrigin.ASSUMED, "test") for name, value in figures.items()}
    return Storage("test", "", "lustre", "romio-generic", found)


def played(
    machine: Machine,
    writing: bool,
    tables: Sequence[Sequence[Move]],
    arrival: Sequence[int] | None = None,
) -> list[list[float]]:
    """Ends by rank, as the player has them; `arrival`: the ranks, the first to come first."""
    arrival = arrival or range(len(tables))
    rows = [
        (place, order, 0, 0, offset, size, writing)
        for place, rank in enumerate(arrival)
        for order, (offset, size) in enumerate(tables[rank])
    ]
    requests = np.array(rows, REQUEST_DTYPE)
    layout = Layout(machine.stripe_count, machine.stripe_size, machine.targets)
    nodes = np.array(arrival) // machine.ranks_per_node
    ends = play(
        requests, stored(dict(machine.figures)), layout, nodes, lock_mode=machine.lock_mode
    ).ends
    places = [list(arrival).index(rank) for rank in range(len(tables))]
    return [ends[requests["rank"] == place].tolist() for place in places]


def contiguous(ranks: int, count: int, size: int) -> list[list[Move]]:
    """Each rank writes a piece of its own."""
    return [[((rank * count + i) * size, size) for i in range(count)] for rank in range(ranks)]


def interleaved(ranks: int, count: int, size: int) -> list[list[Move]]:
    """Ranks take turns."""
    return [[((i * ranks + rank) * size, size) for i in range(count)] for rank in range(ranks)]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("lock_mode", [0, 1, 2])
@pytest.mark.parametrize(
    ("tables", "shape"),
    [
        (contiguous(4, 4, 256 * KIB), {"stripe_count": 4, "stripe_size": 64 * KIB}),
        (interleaved(3, 5, 100_000), {"stripe_count": 2, "stripe_size": 128 * KIB}),
        (interleaved(4, 3, 64 * KIB), {"stripe_count": 3, "stripe_size": 64 * KIB}),
    ],
    ids=["contiguous", "ragged", "stripes"],
)
def test_writes_end_as_they_are_played(
    host: Host, programs: Programs, tables: list[list[Move]], shape: dict[str, int], lock_mode: int
) -> None:
    # Of two ranks on a node, the order of arrival decides how often an extent lock changes hands.
    per_node = 1 if lock_mode == 0 else 2
    machine = Machine(FIGURES, ranks_per_node=per_node, lock_mode=lock_mode, targets=5, **shape)
    rows = [[f"pwrite:{offset}:{size}" for offset, size in one] for one in tables]
    storage = Emulation(host, machine, programs.executable("requests"))
    (host.directory / "data").write_bytes(b"")
    found = storage.together(*(["open:data", *one] for one in rows))
    last = max(each[-1].end for each in found)
    # The emulation counts the writers of a file as they come; the player knows all of them.  So
    # locks asked for ahead cost a first request less, but for the last one to come.
    costs = FIGURES["locks.hold"] + FIGURES["locks.extent"]
    early = (len(tables) - 1) * costs if lock_mode == 2 else 0.0
    # Which rank comes first moves the end by up to a fifth, and is chance.
    lasts = [
        max(ends[-1] for ends in played(machine, True, tables, arrival))
        for arrival in permutations(range(len(tables)))
    ]
    assert last == near(max(lasts), early + max(lasts) - min(lasts))


def test_writes_of_a_node_take_turns_as_they_are_played(host: Host, programs: Programs) -> None:
    machine = Machine(
        {"servers.target_write": 20e6, "servers.target_read": 20e6, "client.turns": 1.0},
        ranks_per_node=2, targets=4, stripe_count=4, stripe_size=256 * KIB,
    )  # fmt: skip
    storage = Emulation(host, machine, programs.executable("requests"))
    tables = interleaved(4, 4, 256 * KIB)  # each rank has a target
    (host.directory / "data").write_bytes(b"")
    found = storage.together(
        *(["open:data", *(f"pwrite:{offset}:{size}" for offset, size in one)] for one in tables)
    )
    last = max(each[-1].end for each in found)
    assert last == near(8 * 256 * KIB / 20e6)
    assert last == near(max(ends[-1] for ends in played(machine, True, tables)))


def test_reads_end_as_they_are_played(host: Host, programs: Programs) -> None:
    machine = Machine(FIGURES, ranks_per_node=2, targets=5, stripe_count=4, stripe_size=64 * KIB)
    storage = Emulation(host, machine, programs.executable("requests"))
    tables = interleaved(3, 4, 200_000)
    storage.alone("create:data", "truncate:4000000")
    found = storage.together(
        *(["open:data", *(f"pread:{offset}:{size}" for offset, size in one)] for one in tables)
    )
    last = max(each[-1].end for each in found)
    assert last == near(max(ends[-1] for ends in played(machine, False, tables)))
