# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.centre.monitor.collectors import create_collector
from stripewise.testing.collector_suite import CollectorSuite, FakeHost, take
from support.other_hosts import DISKS_3_10, DISKS_4_18, DISKS_5_5, disk_host


class TestDisks(CollectorSuite):
    collector_name = "disks"

    def host(self) -> FakeHost:
        return disk_host()

    def grown(self) -> FakeHost:
        return disk_host(DISKS_5_5.replace("1000 20 80000 500", "1001 20 80008 501"))


def values(text: str, **settings: object) -> dict:
    taken = take(create_collector("disks", settings), disk_host(text))
    assert taken.error is None
    assert taken.problems == []
    return taken.values


def test_sectors_are_512_bytes_and_times_are_seconds() -> None:
    found = values(DISKS_5_5)
    assert found["disk_read_bytes", ("sda",)] == 80000 * 512
    assert found["disk_write_bytes", ("sda",)] == 64000 * 512
    assert found["disk_operation_seconds", ("sda", "write")] == 0.9
    assert found["disk_busy_seconds", ("sda",)] == 1.2
    assert found["disk_in_flight", ("sda",)] == 2
    assert found["disk_operations", ("sda", "discard")] == 7
    assert found["disk_operations", ("sda", "flush")] == 11
    assert found["disk_operation_seconds", ("sda", "flush")] == 0.025
    assert found["disk_read_bytes", ("cciss!c0d0",)] == 8 * 512


@pytest.mark.parametrize(
    ("text", "directions"),
    [
        (DISKS_3_10, {"read", "write"}),
        (DISKS_4_18, {"read", "write", "discard"}),
        (DISKS_5_5, {"read", "write", "discard", "flush"}),
    ],
)
def test_what_a_kernel_does_not_tell_is_not_zero(text: str, directions: set[str]) -> None:
    found = values(text)
    assert {labels[1] for name, labels in found if name == "disk_operations"} == directions


def test_partitions_and_devices_on_others_do_not_count_again() -> None:
    assert {labels[0] for _, labels in values(DISKS_3_10)} == {"sda"}


def test_a_volume_of_zfs_does_not_count_again() -> None:
    host = disk_host(f"{DISKS_5_5}{DISKS_5_5.splitlines()[0].replace('sda', 'zd0')}\n")
    host.files["/sys/block/zd0"] = ""
    assert "zd0" in host.files["/proc/diskstats"]
    assert "zd0" not in {labels[0] for _, labels in take(create_collector("disks"), host).values}
    named = take(create_collector("disks", {"devices": ["zd*"]}), host).values
    assert {labels[0] for _, labels in named} == {"zd0"}


def test_devices_that_are_named_are_read() -> None:
    named = values(DISKS_3_10, devices=["dm-*", "loop0"])
    assert {labels[0] for _, labels in named} == {"dm-0", "loop0"}


def test_a_number_in_flight_below_zero_is_left_out_and_told() -> None:
    text = DISKS_3_10.replace("64000 900 2 1200", "64000 900 4294967295 1200")
    taken = take(create_collector("disks"), disk_host(text))
    assert ("disk_in_flight", ("sda",)) not in taken.values
    assert ("disk_read_bytes", ("sda",)) in taken.values
    assert "in flight of sda" in taken.problems[0].text


def test_a_device_that_is_there_twice_is_left_out() -> None:
    taken = take(create_collector("disks"), disk_host(DISKS_4_18 + DISKS_4_18.splitlines(True)[0]))
    assert {labels[0] for _, labels in taken.values} == {"nvme0n1"}
    assert "'sda' is there more than once" in taken.problems[0].text


def test_a_host_without_disks_says_so() -> None:
    host = FakeHost({"/proc/diskstats": DISKS_3_10, "/sys/block/loop0/stat": ""})
    assert "name others in `devices`" in create_collector("disks").missing(host)
