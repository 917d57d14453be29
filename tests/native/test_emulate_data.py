# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests of data end when the emulated storage would have finished them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from emulated_hosts import Emulation
from native_hosts import Host, Programs

from emulated_machine import Machine, near
from stripewise.storage.simulation import chance

MIB = 1 << 20
Emulate = Callable[..., Emulation]


@pytest.fixture
def emulate(host: Host, programs: Programs) -> Emulate:
    """An emulated storage with some figures in the host's directory."""
    program = programs.executable("requests")

    def make(figures: dict[str, float], **more: object) -> Emulation:
        return Emulation(host, Machine(figures, **more), program)  # type: ignore[arg-type]

    return make


TARGET = {"servers.target_write": 10 * MIB, "servers.target_read": 20 * MIB}


@pytest.mark.parametrize(
    "table",
    [
        ["pwrite:0:1048576"],
        ["write:1048576"],
        ["writev:1048576"],
        ["seek:1048576", "write:1048576"],
        ["dup", "write:1048576"],
        ["aio:0:1048576"],
    ],
)
def test_a_write_takes_what_its_target_needs(emulate: Emulate, table: list[str]) -> None:
    storage = emulate(TARGET)
    last = storage.alone("create:data", *table)[-1]
    assert last.seconds == near(0.1)
    assert storage.counters["written_bytes"] == MIB
    assert storage.counters["limit target"] == pytest.approx(1e8, rel=0.01)


def test_reads_have_their_own_rate_and_end_of_file_is_free(emulate: Emulate) -> None:
    storage = emulate(TARGET)
    (storage.host.directory / "data").write_bytes(b"x" * MIB)
    found = storage.alone("open:data", "pread:0:4194304", "pread:1048576:1048576")
    assert [one.seconds for one in found] == [near(0), near(0.05), near(0)]
    assert storage.counters["read_bytes"] == MIB


def test_a_read_beyond_the_end_asks_for_the_lock_and_for_no_data(emulate: Emulate) -> None:
    figures = {"client.request": 0.02, "servers.target_request": 0.1, "locks.revoke": 0.05}
    storage = emulate(figures, ranks_per_node=1)
    storage.together(["create:data", "pwrite:0:100"], [])
    _, (_, read) = storage.together([], ["open:data", "pread:100:1000"])
    assert read.seconds == near(0.07)


def test_appends_are_placed_where_they_go(emulate: Emulate) -> None:
    storage = emulate(TARGET, stripe_count=4)
    (storage.host.directory / "data").write_bytes(b"x" * (MIB // 2))
    found = storage.alone("append:data", "write:1048576")
    assert found[-1].seconds == near(0.05)  # half a stripe each


def test_stripes_of_one_request_are_moved_at_the_same_time(emulate: Emulate) -> None:
    storage = emulate(TARGET, stripe_count=4)
    found = storage.alone("create:data", "pwrite:0:4194304", "pwrite:0:8388608")
    assert [one.seconds for one in found[1:]] == [near(0.1), near(0.2)]


def test_two_processes_share_a_target_and_not_two(emulate: Emulate) -> None:
    storage = emulate(TARGET, stripe_count=2)
    ours = ["create:data", "pwrite:0:1048576"]
    shared = storage.together(ours, ["create:data", "pwrite:2097152:1048576"])
    assert max(one[-1].end for one in shared) == near(0.2)
    apart = storage.together(ours, ["create:data", "pwrite:1048576:1048576"])
    assert max(one[-1].end for one in apart) == near(0.1)


def test_the_client_limits_a_process_a_file_and_a_node(emulate: Emulate) -> None:
    storage = emulate(
        {
            "client.process_write": 20 * MIB,
            "client.file_write": 15 * MIB,
            "client.node_write": 10 * MIB,
            "servers.whole_write": 8 * MIB,
        },
        ranks_per_node=2,
        nodes=2,
    )
    (one,) = storage.alone("create:a", "pwrite:0:1048576")[1:]
    assert one.seconds == near(1 / 8)  # whole
    tables = [[f"create:{name}", "pwrite:0:1048576"] for name in "abcd"]
    four = storage.together(*tables)
    assert max(each[-1].end for each in four) == near(4 / 8)
    limits = {name for name, ns in storage.counters.items() if name.startswith("limit") and ns}
    assert "limit whole" in limits


def test_a_node_writes_one_file_at_the_rate_of_a_file(emulate: Emulate) -> None:
    storage = emulate({"client.file_write": 10 * MIB}, ranks_per_node=2, nodes=2)
    table = ["create:data", "pwrite:0:1048576"]
    pair = storage.together(table, table)
    assert max(each[-1].end for each in pair) == near(0.2)
    four = storage.together(table, table, table, table)
    assert max(each[-1].end for each in four) == near(0.2)
    other = storage.together(
        ["create:one", "pwrite:0:1048576"], ["create:two", "pwrite:0:1048576"]
    )
    assert max(each[-1].end for each in other) == near(0.1)


def test_own_time_of_requests_adds_up(emulate: Emulate) -> None:
    storage = emulate({"client.request": 0.002, "servers.target_request": 0.001})
    found = storage.alone("create:data", *["pwrite:0:4096"] * 50)
    assert found[-1].end - found[1].start == near(0.15)


def test_extent_locks_change_hands(emulate: Emulate) -> None:
    storage = emulate({"locks.revoke": 0.05, "locks.page": 0.03, "locks.page_size": 4096.0})
    alone = storage.alone("create:data", *["pwrite:0:4096"] * 3)
    assert alone[-1].end == near(0)
    turns = storage.together(
        ["create:data", "pwrite:0:4096", "sleep:1000000", "pwrite:0:4096", "pwrite:100:4096"],
        ["create:data", "sleep:400000", "pwrite:8192:4096", "sleep:1200000", "pwrite:9000:4096"],
    )
    times = [[request.seconds for request in one[1:]] for one in turns]
    assert times == [[near(0), near(0.05), near(0)], [near(0.05), near(0.08)]]


def test_lock_ahead_keeps_the_process_busy_and_the_node_for_each_writer(emulate: Emulate) -> None:
    storage = emulate({"locks.ahead": 0.05, "locks.hold": 0.01, "locks.extent": 0.1}, lock_mode=2)
    assert storage.alone("create:mine", "pwrite:0:4096")[-1].seconds == near(0)
    table = ["create:data", "sleep:20000", "pwrite:0:4096", "sleep:100000", "pwrite:0:4096"]
    one, two = storage.together(table, table)
    assert sorted([one[1].seconds, two[1].seconds]) == [near(0.05), near(0.11)]
    assert [each[-1].seconds for each in (one, two)] == [near(0.11)] * 2


def test_chance_is_the_same_as_in_the_simulation(emulate: Emulate) -> None:
    storage = emulate({"servers.target_request": 0.03, "servers.jitter": 0.8}, targets=7)
    offsets = [0, 4096, 123456]
    found = storage.alone("create:data", *(f"pwrite:{offset}:10" for offset in offsets))
    expected = [0.03 * (1 + 0.8 * (chance(0, offset) - 1)) for offset in offsets]
    assert [one.seconds for one in found[1:]] == [near(seconds) for seconds in expected]
    assert storage.counters["limit target"] == pytest.approx(sum(expected) * 1e9, rel=1e-6)


def test_one_lock_for_all_costs_nothing(emulate: Emulate) -> None:
    storage = emulate({"locks.revoke": 0.05}, lock_mode=1)
    table = ["create:data", "pwrite:0:4096", "pwrite:0:4096"]
    for found in storage.together(table, table):
        assert found[-1].end == near(0)


def test_noise_makes_targets_slower(emulate: Emulate) -> None:
    storage = emulate(TARGET, noise=1.5)
    assert storage.alone("create:data", "pwrite:0:1048576")[-1].seconds == near(0.15)


def test_what_a_slow_host_loses_is_counted_once(emulate: Emulate) -> None:
    storage = emulate({"client.request": 1e-7})
    found = storage.alone("create:data", *["pwrite:0:4194304"] * 40)
    spent = found[-1].end - found[1].start
    assert spent / 2 < storage.counters["late_ns"] / 1e9 < spent + 0.01


def test_streams_are_held(emulate: Emulate) -> None:
    storage = emulate(TARGET)
    found = storage.alone("fopen:data", "fwrite:1048576")
    assert found[-1].seconds == near(0.1)


@pytest.mark.parametrize("way", ["fgetc", "getc", "getchar", "scanf", "fscanf"])
def test_what_libc_moves_for_standard_streams_is_held(
    emulate: Emulate, programs: Programs, way: str
) -> None:
    storage = emulate({"client.request": 1e-5})
    (storage.host.directory / "in").write_text("".join(f"{i}\n" for i in range(2000)))
    program = programs.executable("characters")
    storage.check("sh", "-c", f"exec {program} {way} <in >out")
    text = (storage.host.directory / "in").read_bytes()
    assert (storage.host.directory / "out").read_bytes() == text
    found = storage.counters
    assert (found["read_bytes"], found["written_bytes"]) == (len(text), len(text))
    assert (found["reads"], found["writes"]) == (3, 3)


def test_what_lies_elsewhere_is_not_held(emulate: Emulate, tmp_path: Path) -> None:
    storage = emulate(TARGET)
    found = storage.alone(f"create:{tmp_path}/other", "pwrite:0:1048576")
    assert found[-1].end == near(0)
    assert storage.counters["writes"] == storage.counters["metadata"] == 0


def test_copies_are_writes_and_reads(emulate: Emulate) -> None:
    storage = emulate(TARGET)
    (storage.host.directory / "from").write_bytes(b"x" * MIB)
    found = storage.alone("create:data", "copy:from:1048576")
    assert found[-1].seconds == near(0.1 + 0.05)


def test_what_goes_through_pipes_within_the_kernel_is_held(emulate: Emulate) -> None:
    storage = emulate({"client.request": 1e-5})
    (storage.host.directory / "from").write_bytes(b"x" * 5000)
    code = (
        "import os; ends = os.pipe(); a = os.open('from', 0); b = os.open('to', os.O_RDWR | 64)\n"
        "assert os.splice(a, ends[1], 3000) == os.splice(ends[0], b, 3000, offset_dst=9) == 3000\n"
        "assert os.sendfile(ends[1], a, 0, 2000) == 2000 and os.fstat(b).st_size == 3009"
    )
    storage.check(sys.executable, "-c", code)
    found = storage.counters
    assert (found["read_bytes"], found["written_bytes"]) == (5000, 3000)


def test_each_node_has_a_burst_buffer_of_its_own(emulate: Emulate) -> None:
    storage = emulate(TARGET, flags=2, stripe_count=4)
    table = ["create:data", "pwrite:0:1048576"]
    for found in storage.together(table, table, table):
        assert found[-1].end == near(0.1)


def test_a_host_that_is_too_slow_is_counted(emulate: Emulate) -> None:
    storage = emulate({"client.process_write": 1e12})
    found = storage.alone("create:data", "pwrite:0:134217728")[-1]
    assert storage.counters["late"] == 1
    assert storage.counters["late_ns"] == pytest.approx(found.seconds * 1e9, rel=0.1)
