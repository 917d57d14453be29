# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os

import pytest

from stripewise.centre.monitor import HostError
from stripewise.centre.monitor.collectors import create_collector
from stripewise.core.errors import ConfigurationError
from stripewise.testing.collector_suite import CollectorSuite, FakeHost, take
from support.other_hosts import MMPMON, gpfs_host, gpfs_line


class TestGpfs(CollectorSuite):
    collector_name = "gpfs"

    def host(self) -> FakeHost:
        return gpfs_host()

    def grown(self) -> FakeHost:
        return gpfs_host(501)


def answer(text: str) -> FakeHost:
    return FakeHost({MMPMON[0]: ""}, {MMPMON: text.encode()})


def test_the_figures() -> None:
    host = gpfs_host()
    found = take(create_collector("gpfs"), host).values
    assert host.given == [(MMPMON, b"fs_io_s\n")]
    assert found["gpfs_read_bytes", ("scratch",)] == 500
    assert found["gpfs_write_bytes", ("scratch",)] == 600
    operations = {
        k[1][1]: v for k, v in found.items() if k[0] == "gpfs_operations" if "scratch" in k[1]
    }
    assert operations == {
        "open": 7, "close": 6, "read": 50, "write": 40, "readdir": 3, "inode_update": 2,
    }  # fmt: skip


def test_without_a_mounted_file_system_nothing_is_told() -> None:
    line = "_fs_io_s_ _n_ 10.1.2.3 _nn_ node1 _rc_ 1 _t_ 1700000000 _tu_ 4 _cl_ - _fs_ -\n"
    taken = take(create_collector("gpfs"), answer(line))
    assert (taken.readings, taken.problems, taken.error) == ([], [], None)


def test_a_status_other_than_0_is_told() -> None:
    taken = take(create_collector("gpfs"), answer(gpfs_line("a").replace("_rc_ 0", "_rc_ 16")))
    assert taken.readings == []
    assert "status '16'" in taken.problems[0].text


def test_lines_of_other_requests_do_not_matter() -> None:
    text = "_ver_ _n_ 10.1.2.3 _nn_ node1 _v_ 3 _lv_ 5 _vt_ 0\n" + gpfs_line("a")
    taken = take(create_collector("gpfs"), answer(text))
    assert taken.problems == []
    assert ("gpfs_read_bytes", ("a",)) in taken.values


def test_file_systems_of_one_name_in_two_clusters_are_kept_apart() -> None:
    text = gpfs_line("a", 1, "one.example") + gpfs_line("a", 2, "two.example")
    found = take(create_collector("gpfs"), answer(text)).values
    assert sorted(v for (name, _), v in found.items() if name == "gpfs_read_bytes") == [1, 2]


def test_a_file_system_that_is_there_twice_is_left_out() -> None:
    taken = take(create_collector("gpfs"), answer(gpfs_line("a") * 2 + gpfs_line("b")))
    assert {labels[0] for _, labels in taken.values} == {"b"}
    assert len(taken.problems) == 1


@pytest.mark.parametrize(
    ("user_id", "words"), [(1000, "let root run the agent"), (0, "root runs the agent without")]
)
def test_who_may_not_ask_is_told(
    user_id: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user_id)
    host = FakeHost(
        {MMPMON[0]: ""}, {MMPMON: HostError("error", "mmpmon: must be run with root authority")}
    )
    error = take(create_collector("gpfs"), host).error
    assert error is not None
    assert error.reason == "denied"
    assert words in str(error)


def test_a_path_with_root_in_it_is_not_taken_for_rights() -> None:
    host = FakeHost({}, {MMPMON: HostError("missing", "/opt/root-tools/mmpmon: no such command")})
    error = take(create_collector("gpfs"), host).error
    assert error is not None
    assert error.reason == "missing"


def test_what_was_told_before_it_failed_counts() -> None:
    host = FakeHost(
        {MMPMON[0]: ""}, {MMPMON: (gpfs_line("a").encode(), HostError("error", "status 1"))}
    )
    taken = take(create_collector("gpfs"), host)
    assert ("gpfs_read_bytes", ("a",)) in taken.values
    assert taken.error is not None


@pytest.mark.parametrize("path", ["mmpmon", "./mmpmon", "/a\nb"])
def test_a_command_needs_its_whole_path(path: str) -> None:
    with pytest.raises(ConfigurationError, match="give the whole path") as caught:
        create_collector("gpfs", {"mmpmon": path})
    assert "\n" not in str(caught.value)
