# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.centre.monitor.collectors import create_collector
from stripewise.core.errors import ConfigurationError
from stripewise.testing.collector_suite import CollectorSuite, FakeHost, take
from support.other_hosts import MOUNTINFO, mountstats, nfs_host


class TestNfs(CollectorSuite):
    collector_name = "nfs"

    def host(self) -> FakeHost:
        return nfs_host()

    def grown(self) -> FakeHost:
        return nfs_host(21)


def file_systems(values: dict) -> set[str]:
    return {labels[0] for _, labels in values}


def test_the_figures() -> None:
    found = take(create_collector("nfs"), nfs_host()).values
    assert found["nfs_read_bytes", ("home",)] == 900
    assert found["nfs_write_bytes", ("home",)] == 1900
    assert found["nfs_program_read_bytes", ("home",)] == 1030
    assert found["nfs_program_write_bytes", ("home",)] == 2040
    assert found["nfs_operations", ("home", "READ")] == 20
    assert found["nfs_operation_seconds", ("home", "READ")] == 4.5
    assert found["nfs_queue_seconds", ("home", "READ")] == 1.5
    assert found["nfs_timeouts", ("home", "WRITE")] == 1
    assert found["nfs_errors", ("home", "READ")] == 2


def test_errors_that_an_old_kernel_does_not_tell_are_not_zero() -> None:
    found = take(create_collector("nfs"), nfs_host()).values
    assert ("nfs_operations", ("old_data", "READ")) in found
    assert ("nfs_errors", ("old_data", "READ")) not in found


def test_operations_that_nobody_uses_take_no_series() -> None:
    found = take(create_collector("nfs"), nfs_host()).values
    told = {
        labels[1] for name, labels in found if name == "nfs_operations" and labels[0] == "home"
    }
    assert told == {"NULL", "READ", "WRITE", "ACCESS", "SEQUENCE"}


def test_mounts_that_share_their_statistics_count_once() -> None:
    found = take(create_collector("nfs"), nfs_host()).values
    total = sum(v for (name, _), v in found.items() if name == "nfs_read_bytes")
    assert total == 900 + 3 + 3
    assert len(file_systems(found)) == 3


def test_the_one_that_has_a_name_is_told() -> None:
    collector = create_collector("nfs", {"names": {"/srv/a": "alpha"}})
    assert "alpha" in file_systems(take(collector, nfs_host()).values)


def test_equal_names_are_kept_apart_and_stay() -> None:
    collector = create_collector("nfs")
    first = file_systems(take(collector, nfs_host()).values)
    assert {"home", "old_data"} < first
    (other,) = first - {"home", "old_data"}
    assert other.startswith("home-")
    alone = FakeHost(
        {
            "/proc/self/mountinfo": MOUNTINFO.splitlines()[-1],
            "/proc/self/mountstats": mountstats()[mountstats().index("device other") :],
        }
    )
    assert file_systems(take(collector, alone).values) == {other}
    assert file_systems(take(create_collector("nfs"), alone).values) == {"home"}


def test_mounts_beyond_the_limit_are_left_out_and_told() -> None:
    taken = take(create_collector("nfs", {"most_mounts": 1}), nfs_host())
    assert file_systems(taken.values) == {"home"}
    assert "2 NFS mounts beyond the first 1" in taken.problems[0].text


def test_a_mount_that_came_between_the_two_files_is_told() -> None:
    host = nfs_host()
    host.files["/proc/self/mountinfo"] = "\n".join(MOUNTINFO.splitlines()[:-1])
    taken = take(create_collector("nfs"), host)
    assert file_systems(taken.values) == {"home", "old_data"}
    assert "came or went" in taken.problems[0].text


def test_two_file_systems_at_one_mount_point_are_not_mixed() -> None:
    host = nfs_host()
    host.files["/proc/self/mountinfo"] = MOUNTINFO.replace("/other/home", "/home")
    host.files["/proc/self/mountstats"] = mountstats().replace("on /other/home", "on /home")
    taken = take(create_collector("nfs"), host)
    assert taken.values["nfs_read_bytes", ("home",)] == 900
    assert "is the name of two file systems" in taken.problems[0].text


def test_an_unknown_version_of_statistics_is_told() -> None:
    host = nfs_host()
    host.files["/proc/self/mountstats"] = mountstats().replace("statvers=1.1", "statvers=2.0")
    taken = take(create_collector("nfs"), host)
    assert file_systems(taken.values) == {"old_data"}
    assert all("statistics of version '2.0'" in problem.text for problem in taken.problems)


@pytest.mark.parametrize("names", [{"home": "home"}, {"/home": "a/b"}, {"/home": "x" * 65}])
def test_names_that_cannot_be(names: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"\[collectors.nfs\] names"):
        create_collector("nfs", {"names": names})
