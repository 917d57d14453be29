# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts that are written from counters read back, and only such texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor.collectors._base import fraction, once, whole
from stripewise.centre.monitor.collectors._beegfs import BeeGfsTarget, read_beegfs_json
from stripewise.centre.monitor.collectors._disks import read_diskstats
from stripewise.centre.monitor.collectors._gpfs import read_fs_io_s
from stripewise.centre.monitor.collectors._host import (
    MODES,
    read_loadavg,
    read_meminfo,
    read_net_dev,
    read_stat,
)
from stripewise.centre.monitor.collectors._nfs import read_devices, read_mountstats, unescaped
from support.other_hosts import (
    MOUNTINFO,
    NET_DEV,
    gpfs_line,
    mountstats,
)

COUNTS = st.integers(0, (1 << 64) - 1)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


@given(COUNTS)
def test_a_counter_reads_back(count: int) -> None:
    assert whole(str(count)) == count


@pytest.mark.parametrize(
    "word",
    ["", "-1", "+1", "1_0", "01", "1.0", "0x1", " 1", "٣", "²", "1e3", str(1 << 64), "9" * 99],
)
def test_what_is_no_counter(word: str) -> None:
    with pytest.raises(ValueError, match="is not a counter"):
        whole(word)


@pytest.mark.parametrize("word", ["", ".", "-1", "nan", "inf", "1e3", "1.2.3", "٣"])
def test_what_is_no_number(word: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        fraction(word)


def test_what_is_there_twice_is_left_out_wholly() -> None:
    assert once(["a", "b", "a"], str)[0] == ["b"]


@given(
    st.dictionaries(NAMES, st.lists(COUNTS, min_size=17, max_size=17), max_size=5),
    st.sampled_from((11, 15, 17)),
)
def test_disks_read_back(disks: dict[str, list[int]], columns: int) -> None:
    text = "".join(
        f"   8       0 {name} {' '.join(map(str, counts[:columns]))}\n"
        for name, counts in disks.items()
    )
    found, problems = read_diskstats(text)
    assert problems == []
    for line, (name, counts) in zip(found, disks.items(), strict=True):
        assert (line.name, line.reads, line.read_bytes) == (name, counts[0], counts[2] * 512)
        assert (line.writes, line.write_bytes, line.busy_ms) == (
            counts[4],
            counts[6] * 512,
            counts[9],
        )
        assert line.discards == (counts[11] if columns > 11 else None)
        assert line.flush_ms == (counts[16] if columns > 15 else None)


@pytest.mark.parametrize("columns", [1, 7, 13, 15, 16, 17, 19])
def test_lines_of_other_lengths_are_no_disks(columns: int) -> None:
    line = " ".join(["8", "0", "sda", *["1"] * 17][:columns]) + "\n"
    assert read_diskstats(line) == ([], [f"line 1: {columns} columns, not 14, 18 or 20"])


@given(st.lists(COUNTS, min_size=4, max_size=12))
def test_processors_read_back(counts: list[int]) -> None:
    found = read_stat(f"cpu  {' '.join(map(str, counts))}\nbtime 5\n")
    assert found.ticks == dict(zip(MODES, counts, strict=False))
    assert found.boot == 5


@given(st.dictionaries(NAMES, st.lists(COUNTS, min_size=16, max_size=16), max_size=4))
def test_interfaces_read_back(interfaces: dict[str, list[int]]) -> None:
    head = "".join(NET_DEV.splitlines(keepends=True)[:2])
    rows = (f"{name:>6}:{' '.join(map(str, row))}\n" for name, row in interfaces.items())
    found, problems = read_net_dev(head + "".join(rows))
    assert problems == []
    assert [(one.name, one.received_bytes, one.sent_bytes) for one in found] == [
        (name, row[0], row[8]) for name, row in interfaces.items()
    ]


@given(COUNTS, COUNTS, st.sampled_from(("gpfs0", "fs.1", "/dev/gpfs0")))
def test_gpfs_reads_back(read: int, calls: int, fs: str) -> None:
    line = gpfs_line(fs, read).replace("_iu_ 2", f"_iu_ {calls}")
    (found,), problems = read_fs_io_s(line)
    assert problems == []
    assert (found.fs, found.read_bytes) == (fs.removeprefix("/dev/"), read)
    assert found.operations["inode_update"] == calls


@given(
    st.lists(
        st.tuples(st.integers(1, 65535), st.integers(1, 1 << 50), st.floats(0, 1)),
        unique_by=lambda target: target[0],
        max_size=5,
    ),
    st.integers(1, 3),
)
def test_json_of_beegfs_reads_back_in_pages(
    targets: list[tuple[int, int, float]], size: int
) -> None:
    rows = [
        {
            "id": {"num_id": number},
            "reachability": "Online",
            "space": str(total),
            "sfree": str(int(total * share)),
        }
        for number, total, share in targets
    ]
    pages = [rows[place : place + size] for place in range(0, len(rows), size)]
    found, problems = read_beegfs_json("\n\n".join(map(json.dumps, pages)))
    assert problems == []
    assert found == [
        BeeGfsTarget(number, True, total, int(total * share)) for number, total, share in targets
    ]


def test_more_free_than_there_is_is_not_believed() -> None:
    entry = {"id": 1, "reachability": "Online", "space": "1", "sfree": "2"}
    found, problems = read_beegfs_json(json.dumps([entry]))
    assert found == []
    assert "more than the total" in problems[0]


def test_deep_json_is_no_crash() -> None:
    assert read_beegfs_json("[" * 100_000)[1] == ["the output is not JSON throughout"]


@given(st.text(alphabet=st.sampled_from("ab \t\n\\#/é"), min_size=1))
def test_names_of_mounts_read_back(name: str) -> None:
    escaped = "".join(f"\\{ord(one):03o}" if one in " \t\n\\#" else one for one in name)
    assert unescaped(escaped) == name


DISK = "   8       0 sda 1000 20 80000 500 300 40 64000 900 2 1200 1400 7 0 4096 30 11 25\n"


@pytest.mark.parametrize(
    "line",
    [
        DISK.replace("1000 ", "100  "), DISK.replace("1000 ", "1 00 "), DISK[:-2],
        DISK.replace("1000 ", "0000 "), DISK.replace(" 80000", "80000").replace("sda ", "sda"),
    ],
    ids=["digit lost", "column gained", "torn", "zeros first", "columns lost"],
)  # fmt: skip
def test_a_line_of_a_disk_that_is_not_as_the_others_is_left_out(line: str) -> None:
    found, problems = read_diskstats(
        DISK.replace("sda", "sdb") + DISK.replace("sda", "sdc") + line
    )
    assert [one.name for one in found] == ["sdb", "sdc"]
    assert len(problems) == 1


@pytest.mark.parametrize(
    "text",
    [
        "cpu 1000 20 300 5\ncpu0 1000 20 300 5\n", "cpu  1000 20 300 5\ncpu0 1000 20 300 5 6\n",
        "cpu  100  20 300 5\n", "cpu  1000 20 300 5",
    ],
)  # fmt: skip
def test_processors_that_are_not_believed(text: str) -> None:
    with pytest.raises(ValueError, match=r"processors|counter"):
        read_stat(text)


@pytest.mark.parametrize(
    "text",
    ["125 0.50 0.11 1/93 12192\n", "1.25 0.50 0.11 1/93 12192", "01.25 0.50 0.11 1/93 12\n", ""],
)
def test_what_is_no_load_average(text: str) -> None:
    with pytest.raises(ValueError, match="is not a load average"):
        read_loadavg(text)


def test_columns_of_interfaces_at_other_places_are_not_believed() -> None:
    text = NET_DEV.format(received=5).replace("bytes    packets", "packets bytes   ", 1)
    assert read_net_dev(text) == ([], ["its columns are not those that are known"])


def test_amounts_of_memory_that_are_gone_are_told() -> None:
    assert read_meminfo("MemTotal:   7 kB\n") == ({"MemTotal": 7 << 10}, ["Dirty is not there"])
    assert read_meminfo("MemTotal:   7  kB\nDirty:  0 kB\n")[0] == {"Dirty": 0}


def nfs(text: str, info: str = MOUNTINFO) -> dict[str, object]:
    found, problems = read_mountstats(text, read_devices(info))
    assert problems
    return {mount.point: mount.bytes_moved for mount in found}


def test_an_nfs_mount_whose_name_is_lost_does_not_add_to_the_one_before() -> None:
    text = mountstats()
    line = next(line for line in text.splitlines(True) if "/srv/a" in line)
    for damaged in (text.replace(line, ""), text.replace(line, "?" + line[1:])):
        assert nfs(damaged).keys() <= {"/home", "/mnt/old\\040data", "/other/home"}
    assert "/home" not in nfs(text.replace(line, ""))


def test_nfs_mounts_on_one_place_are_left_out_when_one_is_lost() -> None:
    info = MOUNTINFO.replace("/other/home", "/home").replace("0:50 / ", "0.50 / ")
    assert "/home" not in nfs(mountstats().replace("on /other/home", "on /home"), info)


def test_json_of_beegfs_that_contradicts_itself_is_not_believed() -> None:
    twice = '[{"id":1,"space":"10","space":"20","sfree":"5"}]'
    assert read_beegfs_json(twice) == ([], ["the output is not JSON throughout"])
