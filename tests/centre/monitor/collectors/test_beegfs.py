# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.centre.monitor import HostError
from stripewise.centre.monitor.collectors import create_collector
from stripewise.core.errors import ConfigurationError
from stripewise.testing.collector_suite import CollectorSuite, FakeHost, take
from support.other_hosts import META_7, META_8, TARGETS_7, TARGETS_8

OLD, NEW = "/opt/beegfs/sbin/beegfs-ctl", "/usr/bin/beegfs"
GIB = 1 << 30


def old(kind: str, *more: str) -> tuple[str, ...]:
    return (OLD, "--listtargets", f"--nodetype={kind}", "--state", "--spaceinfo", *more)


def new(kind: str, *more: str) -> tuple[str, ...]:
    return (
        *(NEW, "target", "list", f"--node-type={kind}", "--state", "--capacity"),
        *("--columns=id,reachability,space,sfree,space_free", "--raw", "--output=json", *more),
    )


def old_host(storage: str = TARGETS_7.splitlines(keepends=True)[2]) -> FakeHost:
    """A server that does not answer makes the command fail, after it printed all it knows."""
    head = "".join(TARGETS_7.splitlines(keepends=True)[:2])
    return FakeHost(
        {OLD: ""}, {old("storage"): (head + storage).encode(), old("meta"): META_7.encode()}
    )


def new_host(free: str = "549755813888") -> FakeHost:
    storage = TARGETS_8.splitlines()[0].replace("549755813888", free)
    return FakeHost({NEW: ""}, {new("storage"): storage.encode(), new("meta"): META_8.encode()})


class TestBeeGfs7(CollectorSuite):
    collector_name = "beegfs"

    def host(self) -> FakeHost:
        return old_host()

    def grown(self) -> FakeHost:
        host = old_host()
        host.commands[old("storage")] = bytes(host.commands[old("storage")]).replace(
            b"512.5", b"512.4"
        )
        return host


class TestBeeGfs8(CollectorSuite):
    collector_name = "beegfs"

    def host(self) -> FakeHost:
        return new_host()

    def grown(self) -> FakeHost:
        return new_host("549755813887")


def test_targets_of_7() -> None:
    host = FakeHost(
        {OLD: ""},
        {
            old("storage"): (TARGETS_7.encode(), HostError("error", "beegfs-ctl: status 1")),
            old("meta"): META_7.encode(),
        },
    )
    taken = take(create_collector("beegfs"), host)
    found = taken.values
    assert found["beegfs_target_total_bytes", ("beegfs", "storage-101")] == 1024 * GIB
    assert found["beegfs_target_free_bytes", ("beegfs", "storage-101")] == 512.5 * GIB
    assert found["beegfs_target_used_bytes", ("beegfs", "storage-101")] == 511.5 * GIB
    assert found["beegfs_target_missing", ("beegfs", "storage-101")] == 0
    assert found["beegfs_target_missing", ("beegfs", "storage-102")] == 1
    assert ("beegfs_target_total_bytes", ("beegfs", "storage-102")) not in found
    assert found["beegfs_target_missing", ("beegfs", "meta-1")] == 0
    assert taken.error is None
    assert [problem.text for problem in taken.problems] == [
        "storage targets of beegfs: 1 of 2 do not report their space"
    ]


def test_targets_of_8() -> None:
    host = new_host()
    host.commands[new("storage")] = TARGETS_8.encode()
    found = take(create_collector("beegfs"), host).values
    assert found["beegfs_target_total_bytes", ("beegfs", "storage-101")] == 1 << 40
    assert found["beegfs_target_used_bytes", ("beegfs", "storage-101")] == 1 << 39
    assert found["beegfs_target_missing", ("beegfs", "storage-102")] == 1
    assert ("beegfs_target_free_bytes", ("beegfs", "storage-102")) not in found


def test_free_space_under_its_later_name() -> None:
    host = new_host()
    storage = """[{"id":{"num_id":7,"node_type":3},"reachability":"Online",
        "space":"1099511627776","space_free":"549755813888"}]"""
    host.commands[new("storage")] = storage.encode()
    taken = take(create_collector("beegfs"), host)
    assert taken.values["beegfs_target_free_bytes", ("beegfs", "storage-7")] == 1 << 39
    assert taken.values["beegfs_target_used_bytes", ("beegfs", "storage-7")] == 1 << 39
    assert not taken.problems


def test_a_state_that_is_not_known_is_not_told() -> None:
    space = "8.0GiB       4.0GiB  50%        1.0M        1.0M 100%"
    line = f"     101               <invalid_value>       {space}      1\n"
    found = take(create_collector("beegfs"), old_host(line)).values
    assert ("beegfs_target_missing", ("beegfs", "storage-101")) not in found
    assert ("beegfs_target_free_bytes", ("beegfs", "storage-101")) in found


def test_several_file_systems_each_by_its_place() -> None:
    host = FakeHost(
        {NEW: ""},
        {
            new(kind, f"--mgmtd-addr={fs}:8010"): META_8.encode()
            for kind in ("storage", "meta")
            for fs in ("one", "two")
        },
    )
    places = {"fast": "one:8010", "home": "two:8010"}
    found = take(create_collector("beegfs", {"file_systems": places}), host).values
    assert {labels[0] for _, labels in found} == {"fast", "home"}
    host.files = {OLD: ""}
    host.commands = {old("meta", "--cfgFile=one:8010"): META_7.encode()}
    taken = take(create_collector("beegfs", {"file_systems": places}), host)
    assert {labels for _, labels in taken.values} == {("fast", "meta-1")}
    assert len(taken.problems) == 3


@pytest.mark.parametrize("printed", [b"", TARGETS_8.encode()])
def test_a_management_that_is_slow_is_asked_once_a_round(printed: bytes) -> None:
    """And does not keep the others back."""
    slow = HostError("slow", "no end after 10 s; killed")
    host = FakeHost(
        {NEW: ""},
        {
            new("storage", "--mgmtd-addr=one"): (printed, slow),
            new("meta", "--mgmtd-addr=two"): META_8.encode(),
        },
    )
    places = {"fast": "one", "home": "two"}
    taken = take(create_collector("beegfs", {"file_systems": places}), host)
    assert ("home", "meta-1") in {labels for _, labels in taken.values}
    asked = [words for words, _ in host.given]
    assert new("storage", "--mgmtd-addr=one") in asked
    assert new("meta", "--mgmtd-addr=one") not in asked


def test_what_is_not_there_is_said_in_a_sentence() -> None:
    assert "neither beegfs nor beegfs-ctl is there:" in _why_missing({})
    assert "/opt/beegfs-ctl is not there:" in _why_missing({"command": "/opt/beegfs-ctl"})


def _why_missing(settings: dict[str, str]) -> str:
    return create_collector("beegfs", settings).missing(FakeHost())


def test_the_new_tool_comes_before_the_old_one_and_another_may_be_named() -> None:
    host = old_host()
    host.files[NEW] = ""
    host.commands.update(new_host().commands)
    take(create_collector("beegfs"), host)
    take(create_collector("beegfs", {"command": OLD}), host)
    assert [words[0] for words, _ in host.given] == [NEW, NEW, OLD, OLD]


@pytest.mark.parametrize("places", [{}, {"a/b": ""}, {"a": "x\ny"}])
def test_file_systems_that_cannot_be(places: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"\[collectors.beegfs\] file_systems") as caught:
        create_collector("beegfs", {"file_systems": places})
    assert "\n" not in str(caught.value)
