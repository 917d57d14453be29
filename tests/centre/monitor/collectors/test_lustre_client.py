# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is read of a client."""

from __future__ import annotations

import pytest

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor.collectors._lustre_client import LustreClient, LustreSettings
from support.lustre_servers import VERSIONS, one_round, server
from support.monitor_host import FakeHost

MOUNT = "llite.{}-{}.stats"


def collector() -> LustreClient:
    return LustreClient(LustreSettings())


@pytest.mark.parametrize(("version", "fs"), VERSIONS.items())
def test_bytes_and_operations_of_programs(version: str, fs: str) -> None:
    result = one_round(collector(), server(version))
    assert result.told() == []
    assert result.value(metrics.MOUNT_READ_BYTES, fs) == 4_000_000
    assert result.value(metrics.MOUNT_WRITE_BYTES, fs) == 5_000_000
    operations = {labels[1]: n for labels, n in result.of(metrics.MOUNT_OPERATIONS).items()}
    assert operations == {"read": 40, "write": 50, "open": 11, "close": 12, "getattr": 13}
    seconds = result.value(metrics.MOUNT_OPERATION_SECONDS, fs, "close")
    assert seconds == (None if version == "2.12.9" else 0.00012)
    assert result.value(metrics.VERSION, version) == 1


def mount(read: int) -> str:
    rows = f"read_bytes 1 samples [bytes] {read} {read} {read}\n" if read else ""
    return f"snapshot_time 1700000000.000000001 secs.nsecs\n{rows}"


def test_mounts_of_one_file_system_are_summed_and_never_fall() -> None:
    one, two = MOUNT.format("a-b", "ffff97e895d31000"), MOUNT.format("a-b", "ffff97e895d32000")
    host = FakeHost({one: mount(5), two: mount(7), "version": "2.15.5\n"})
    client = collector()
    clock = [0.0]
    client.monotonic = lambda: clock[0]

    def read() -> object:
        clock[0] += 100.0
        result = one_round(client, host)
        assert result.told() == []
        return result.value(metrics.MOUNT_READ_BYTES, "a-b")

    assert read() == 12
    del host.parameters[two]
    assert read() == 12
    host.parameters[one] = mount(9)
    assert read() == 16
    host.parameters = {one: mount(9), two: mount(8), "version": "2.15.5\n"}
    assert read() == 24, "it was mounted again, and counts from zero"
    host.parameters[one] = mount(2)
    assert read() == 26


def test_what_is_no_operation_of_a_program() -> None:
    rows = "".join(
        f"{name} 3 samples [{unit}]{' 1 1 3' if unit != 'reqs' else ''}\n"
        for name, unit in (
            ("getxattr", "usec"), ("getxattr_hits", "reqs"), ("hybrid_noswitch", "reqs"),
            ("dirty_pages_hits", "regs"), ("brw_read", "pages"), ("osc_read", "bytes"),
            ("opencount", "reqs"),
        )
    )  # fmt: skip
    name = MOUNT.format("a", "ffff97e895d31000")
    result = one_round(collector(), FakeHost({name: mount(0) + rows, "version": "2.16.1\n"}))
    assert result.told() == []
    assert result.of(metrics.MOUNT_OPERATIONS) == {("a", "getxattr"): 3}


def test_nothing_is_mounted() -> None:
    assert "mount a Lustre file system" in collector().missing(FakeHost({"version": "2.15.5\n"}))
    assert "no such command" in collector().missing(FakeHost())
    assert "modprobe lustre" in collector().missing(FakeHost({"nis": "1\n"}))
    assert collector().missing(server()) == ""


def test_counters_that_root_alone_may_read() -> None:
    host = FakeHost({"llite.a-ffff97e895d31000.kbytestotal": "1\n", "version": "2.15.5\n"})
    result = one_round(collector(), host)
    assert [problem.reason for problem in result.problems] == ["denied"]
    assert [each.metric for each in result.readings] == [metrics.VERSION]


def test_damage() -> None:
    name = MOUNT.format("a", "ffff97e895d31000")
    host = FakeHost({name: mount(5) + "open x samples [usecs]\n", "version": "2.15.5\n"})
    result = one_round(collector(), host)
    assert len(result.problems) == 1
    assert result.value(metrics.MOUNT_READ_BYTES, "a") == 5
    assert result.value(metrics.MOUNT_WRITE_BYTES, "a") is None


def test_an_agent_that_starts_again_tells_no_growth_that_was_not() -> None:
    """A fall is read as a restart from zero, and what is told then as growth."""
    one, two = MOUNT.format("a", "ffff97e895d31000"), MOUNT.format("a", "ffff97e895d32000")
    version = {"version": "2.15.5\n"}
    growth = last = 0
    for steps in (
        ({one: mount(500), two: mount(700)}, {one: mount(501), two: mount(700)},
         {one: mount(501)}, {one: mount(502), two: mount(9)}),
        ({one: mount(502), two: mount(9)}, {one: mount(504), two: mount(9)}),
    ):  # fmt: skip
        client, clock = collector(), [0.0]
        client.is_repeated = True
        client.monotonic = lambda clock=clock: clock[0]
        for number, parameters in enumerate(steps):
            clock[0] += 100.0
            result = one_round(client, FakeHost({**parameters, **version}))
            value = result.value(metrics.MOUNT_READ_BYTES, "a")
            assert isinstance(value, int)
            growth += value - last if value >= last else value
            last = value
            assert number or value == 0
    assert growth == 1 + 1 + 9 + 2
