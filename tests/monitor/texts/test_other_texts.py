# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts that are written from counters read back; damaged ones raise nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import nullcontext, suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.monitor.texts._beegfs import BeeGfsTarget, read_beegfs_json, read_beegfs_table
from stripewise.monitor.texts._disks import read_diskstats
from stripewise.monitor.texts._gpfs import read_fs_io_s
from stripewise.monitor.texts._host import (
    MODES,
    read_loadavg,
    read_meminfo,
    read_net_dev,
    read_stat,
)
from stripewise.monitor.texts._nfs import read_devices, read_mountstats, unescaped
from stripewise.monitor.texts._numbers import fraction, once, whole
from support.amounts import share_of
from support.mutations import mutate
from support.other_hosts import (
    DISKS_3_10,
    DISKS_4_18,
    DISKS_5_5,
    MEMINFO,
    META_7,
    META_8,
    MOUNTINFO,
    NET_DEV,
    STAT,
    TARGETS_7,
    TARGETS_8,
    gpfs_line,
    mountstats,
)
from support.strict_readers import STRICT

COUNTS = st.integers(0, (1 << 64) - 1)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)


@given(COUNTS)
def test_a_counter_reads_back(count: int) -> None:
    assert whole(str(count)) == count


@pytest.mark.parametrize(
    "word", ["", "-1", "+1", "1_0", "1.0", "0x1", " 1", "٣", "²", "1e3", str(1 << 64), "9" * 99]
)
def test_what_is_no_counter(word: str) -> None:
    with pytest.raises(ValueError, match="is no counter"):
        whole(word)


@pytest.mark.parametrize("word", ["", ".", "-1", "nan", "inf", "1e3", "1.2.3", "٣"])
def test_what_is_no_number(word: str) -> None:
    with pytest.raises(ValueError, match="is no number"):
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
    line = " ".join(["8", "0", "sda", *["1"] * 17][:columns])
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


def all_of_nfs(text: str) -> object:
    stats, _, info = text.partition("\0\n")
    return read_mountstats(stats, read_devices(info))


PARSERS: tuple[tuple[Callable[[str], object], tuple[str, ...]], ...] = (
    (read_diskstats, (DISKS_3_10, DISKS_4_18, DISKS_5_5)),
    (read_stat, (STAT.format(idle=5000),)),
    (read_loadavg, ("1.25 0.50 0.11 1/93 12192\n",)),
    (read_meminfo, (MEMINFO,)),
    (read_net_dev, (NET_DEV.format(received=5),)),
    (all_of_nfs, (f"{mountstats()}\0\n{MOUNTINFO}",)),
    (read_fs_io_s, (gpfs_line("a") + gpfs_line("b"),)),
    (read_beegfs_table, (TARGETS_7, META_7)),
    (read_beegfs_json, (TARGETS_8, META_8)),
)
REFUSE = (read_stat, read_loadavg)
"""Texts of one thing: these raise ValueError, the others leave parts out."""


@pytest.mark.parametrize(("parse", "texts"), PARSERS, ids=lambda one: getattr(one, "__name__", ""))
def test_damage_raises_nothing(parse: Callable[[str], object], texts: tuple[str, ...]) -> None:
    random = Random(parse.__name__)
    for case in range(share_of(100_000 // len(PARSERS), 300)):
        text = mutate(texts[case % len(texts)].encode(), random).decode("utf-8", "replace")
        try:
            found = parse(text)
        except ValueError:
            assert parse in REFUSE
            continue
        for problem in found[1] if isinstance(found, tuple) and parse not in REFUSE else ():
            assert problem.isprintable()
            assert len(problem) < 200
        if isinstance(found, float):
            assert math.isfinite(found)


def strictly(check: Callable[[str], None], text: str, where: str) -> None:
    try:
        check(text)
    except AssertionError as error:
        raise AssertionError(f"{where}: {error!r} in {text!r}") from error


def check_strictly(name: str, count: int, seed: int) -> None:
    check = STRICT[name]
    texts = next(texts for parse, texts in PARSERS if parse.__name__ == name)
    is_refused = name in {parse.__name__ for parse in REFUSE}
    random = Random(seed)
    for text in texts:
        check(text)
    for case in range(count):
        text = mutate(random.choice(texts).encode(), random).decode("utf-8", "replace")
        with suppress(ValueError) if is_refused else nullcontext():
            strictly(check, text, f"{name} {seed} {case}")


@pytest.mark.parametrize("name", STRICT)
def test_what_is_believed_of_some_damaged_texts_stands_there(name: str) -> None:
    check_strictly(name, 500, seed=1)


@pytest.mark.long
@pytest.mark.ci
@pytest.mark.parametrize("name", STRICT)
def test_what_is_believed_of_many_damaged_texts_stands_there(name: str) -> None:
    check_strictly(name, share_of(100_000), seed=2)
