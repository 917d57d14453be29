# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os

import pytest

from stripewise.centre.monitor.collectors import create_collector
from stripewise.testing.collector_suite import CollectorSuite, FakeHost, take
from support.other_hosts import proc_host

TICKS = os.sysconf("SC_CLK_TCK")


class TestHostFigures(CollectorSuite):
    collector_name = "host"

    def host(self) -> FakeHost:
        return proc_host()

    def grown(self) -> FakeHost:
        return proc_host(5100, 672112999)


def test_the_figures() -> None:
    found = take(create_collector("host"), proc_host()).values
    assert found["host_cpu_seconds", ("user",)] == 1000 / TICKS
    assert found["host_cpu_seconds", ("steal",)] == 8 / TICKS
    assert ("host_cpu_seconds", ("guest",)) not in found
    assert found["host_load", ()] == 1.25
    assert found["host_memory_bytes", ()] == 24684084 * 1024
    assert found["host_memory_available_bytes", ()] == 24229980 * 1024
    assert found["host_memory_dirty_bytes", ()] == 5276 * 1024
    assert found["host_boot_time_seconds", ()] == 1700000000
    assert found["host_network_received_bytes", ("eth0",)] == 672112106
    assert found["host_network_sent_bytes", ("eth0",)] == 892248
    assert found["host_network_errors", ("eth0", "receive")] == 3
    assert found["host_network_errors", ("eth0", "send")] == 7


def test_a_bond_does_not_count_the_bytes_of_its_members_again() -> None:
    found = take(create_collector("host"), proc_host()).values
    assert {labels[0] for name, labels in found if name.startswith("host_net")} == {"eth0"}


def test_interfaces_that_are_named_are_read() -> None:
    found = take(create_collector("host", {"interfaces": ["b*", "lo"]}), proc_host()).values
    assert {labels[0] for name, labels in found if name.startswith("host_net")} == {"bond0", "lo"}


def test_interfaces_that_are_named_and_not_there_are_said() -> None:
    taken = take(create_collector("host", {"interfaces": ["ib9*", "no0"]}), proc_host())
    (problem,) = taken.problems
    assert "no interface is called ib9* or no0, only " in problem.text
    assert "eth0" in problem.text
    assert "change `interfaces` of [collectors.host]" in problem.text
    assert not problem.reason
    some = take(create_collector("host", {"interfaces": ["ib9*", "eth0"]}), proc_host())
    assert some.problems == []


def with_ticks(line: str) -> FakeHost:
    host = proc_host()
    host.files["/proc/stat"] = f"cpu  {line}\nbtime 1700000000\n"
    return host


def test_the_busy_share_is_of_the_time_since_the_round_before() -> None:
    collector = create_collector("host")
    assert ("host_busy_share", ()) not in take(collector, with_ticks("100 0 0 900 0")).values
    found = take(collector, with_ticks("130 0 0 960 10")).values
    assert found["host_busy_share", ()] == pytest.approx(0.3)
    assert ("host_busy_share", ()) not in take(collector, with_ticks("130 0 0 960 10")).values


def test_time_that_the_kernel_takes_back_is_no_restart() -> None:
    collector = create_collector("host")
    take(collector, with_ticks("100 0 0 9000 500"))
    found = take(collector, with_ticks("200 0 0 9100 499")).values
    assert found["host_cpu_seconds", ("iowait",)] == 500 / TICKS
    assert found["host_busy_share", ()] == pytest.approx(0.5)


def test_a_restart_begins_again() -> None:
    collector = create_collector("host")
    take(collector, with_ticks("100 0 0 9000 500"))
    found = take(collector, with_ticks("1 0 0 9 0")).values
    assert found["host_cpu_seconds", ("idle",)] == 9 / TICKS
    assert ("host_busy_share", ()) not in found


def test_one_file_that_is_gone_does_not_keep_the_others_back() -> None:
    host = proc_host()
    del host.files["/proc/stat"]
    taken = take(create_collector("host"), host)
    assert taken.error is None
    assert ("host_load", ()) in taken.values
    assert [problem.reason for problem in taken.problems] == ["missing"]


def test_memory_that_an_old_kernel_does_not_tell_is_left_out() -> None:
    host = proc_host()
    lines = str(host.files["/proc/meminfo"]).splitlines(keepends=True)
    host.files["/proc/meminfo"] = "".join(line for line in lines if "Available" not in line)
    taken = take(create_collector("host"), host)
    assert taken.problems == []
    assert ("host_memory_available_bytes", ()) not in taken.values
