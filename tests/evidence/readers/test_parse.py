# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core.errors import ContainerError
from stripewise.evidence.containers import read_containers
from stripewise.evidence.containers.container import PAGE, RecordKind
from stripewise.evidence.trace import IoLayer, Op, SettingsKind
from support.containers import (
    FakeFile,
    FakeProcess,
    build_container,
    join_containers,
    parse_container,
)

FILE = FakeFile("/data/a.dat", ops={Op.WRITE: (3, 300, 30)}, outermost=(40, 0, 300))
GOLDEN = build_container(
    [FakeProcess({"pid": 7}, [FILE], notes=["hm"]), FakeProcess({"pid": 8}, [FILE], split=True)]
)


def test_processes_and_records() -> None:
    raw = parse_container(GOLDEN)
    assert (raw.host, raw.run_id) == ("node1", "run")
    assert [int(p["pid"][0]) for p in raw.processes] == [7, 8]
    files = raw.records[RecordKind.FILE]
    assert files.processes == [0, 1]
    assert files.tails == [b"/data/a.dat", b"/data/a.dat"]
    assert raw.records[RecordKind.NOTE].tails == [b"hm"]
    assert files.fixed["ops"]["bytes"][1, Op.WRITE] == 300


def test_settings_find_their_file() -> None:
    entry = ("/data/a.dat", IoLayer.MPIIO, SettingsKind.APPLIED, "cb_nodes=2\nx=a=b\n")
    data = build_container([FakeProcess({}, [FILE], [entry])])
    (found,) = join_containers([parse_container(data)]).settings
    assert found.values == {"cb_nodes": "2", "x": "a=b"}
    assert found.path == 0


def test_a_name_that_is_not_utf8_survives() -> None:
    data = build_container([FakeProcess({}, [FakeFile(b"/data/\xff\xfe.dat")])])
    (path,) = join_containers([parse_container(data)]).paths
    assert os.fsencode(path) == b"/data/\xff\xfe.dat"


@pytest.mark.parametrize("data", [b"", b"short", b"x" * PAGE, bytes(PAGE)])
def test_not_a_container(data: bytes) -> None:
    with pytest.raises(ContainerError, match="not a Stripewise container"):
        parse_container(data)


def test_another_version() -> None:
    data = bytearray(GOLDEN)
    data[8] = 99
    with pytest.raises(ContainerError, match=r"version 99.*doctor build") as caught:
        parse_container(bytes(data))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ContainerError, match=r"cannot read container .*No such file"):
        read_containers([tmp_path / "gone.sw"])


def test_a_page_without_header_is_stepped_over() -> None:
    torn = GOLDEN[:PAGE] + bytes(PAGE) + GOLDEN[PAGE:]
    # The second process keeps its records in a block that names its offset, which moved.
    assert len(parse_container(torn).processes) == 2


def test_an_uncommitted_record_ends_the_block() -> None:
    two = build_container([FakeProcess({}, [FILE, FakeFile("/data/b.dat")])])
    place = two.index(b"/data/a.dat")
    size = (place + 11 + 7) // 8 * 8
    torn = two[:size] + bytes(4) + two[size + 4 :]
    assert parse_container(torn).records[RecordKind.FILE].tails == [b"/data/a.dat"]


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=PAGE, max_value=len(GOLDEN)))
def test_any_unfinished_tail_is_read(length: int) -> None:
    whole = parse_container(GOLDEN)
    part = parse_container(GOLDEN[:length])
    assert len(part.processes) <= len(whole.processes)
    paths = part.records[RecordKind.FILE].tails
    assert paths == whole.records[RecordKind.FILE].tails[: len(paths)]


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=1, max_size=64), st.integers(min_value=PAGE, max_value=len(GOLDEN) - 64))
def test_damage_never_raises_but_for_a_checksum(noise: bytes, place: int) -> None:
    damaged = GOLDEN[:place] + noise + GOLDEN[place + len(noise) :]
    problem = ""
    try:
        join_containers([parse_container(damaged)])
    except ContainerError as error:
        problem = str(error)
    assert not problem or problem.endswith("its checksum does not match")
