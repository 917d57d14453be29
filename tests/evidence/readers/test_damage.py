# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged containers: what cannot be right is said, and nothing of it becomes a fault."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest

from stripewise.core.errors import ContainerError, StripewiseError
from stripewise.evidence.containers import container as c
from stripewise.evidence.containers import read_run
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import IoLayer, Op
from support.containers import FakeFile, FakeProcess, build_container, parse_container

FILES = [
    FakeFile(f"/d/{n}", IoLayer.POSIX, 0, {Op.WRITE: (2, 20, 5)}, (5, 0, 20), extremes=(10, 10))
    for n in range(40)
]
SOUND = build_container([FakeProcess({"pid": 7}, FILES, split=True)])


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def place_of_record(data: bytes) -> int:
    return data.index(b"/d/0") - c.FILE_RECORD.itemsize


def test_a_sound_container_has_no_note(tmp_path: Path) -> None:
    raw = parse_container(SOUND)
    assert raw.problems == []
    assert len(raw.records[c.RecordKind.FILE]) == len(FILES)


@pytest.mark.parametrize("size", [c.PAGE, c.PAGE + 100, 3 * c.PAGE - 8])
def test_a_cut_trace_says_how_much_is_there(tmp_path: Path, size: int) -> None:
    path = written(tmp_path / "vm.sw", SOUND[:size])
    try:
        said = " ".join(read_evidence(path).profile.notes)
    except ContainerError as error:
        said = str(error)
    assert "vm.sw is damaged: cut off" in said
    assert f"{size} of at least " in said


def test_less_than_a_header_is_cut_off(tmp_path: Path) -> None:
    with pytest.raises(ContainerError, match="cut off: 300 bytes are too few"):
        read_run([written(tmp_path / "vm.sw", SOUND[:300])])


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("layer", 255, "are invalid"),
        ("outermost_ns", 2**63, "are invalid"),
        ("path_bytes", 60000, "are invalid"),
        ("write_min", 11, "contradict themselves"),
        ("write_max", 400, "contradict themselves"),
    ],
)
def test_impossible_counters_are_told(tmp_path: Path, field: str, value: int, word: str) -> None:
    data = bytearray(SOUND)
    place = place_of_record(SOUND) + c.FILE_RECORD.fields[field][1]
    size = c.FILE_RECORD.fields[field][0].itemsize
    data[place : place + size] = value.to_bytes(size, "little")
    evidence = read_evidence(written(tmp_path / "a.sw", bytes(data)))
    assert evidence.profile.partial
    assert any(f"1 records of files that {word}" in note for note in evidence.profile.notes)
    diagnose(evidence)


def test_pages_that_lost_their_block_are_told(tmp_path: Path) -> None:
    data = bytearray(SOUND)
    second = SOUND.index(c.BLOCK_MAGIC.to_bytes(4, "little"), 2 * c.PAGE)
    data[second] ^= 1
    evidence = read_evidence(written(tmp_path / "a.sw", bytes(data)))
    assert any("pages that belong to no block" in note for note in evidence.profile.notes)


def test_a_block_that_claims_gigabytes_is_not_read(tmp_path: Path) -> None:
    data = bytearray(SOUND)
    second = SOUND.index(c.BLOCK_MAGIC.to_bytes(4, "little"), 2 * c.PAGE)
    place = second + c.BLOCK_HEADER.fields["bytes"][1]
    data[place : place + 8] = (8 << 30).to_bytes(8, "little")
    path = written(tmp_path / "a.sw", bytes(data))
    os.truncate(path, len(data) + (8 << 30))
    raw = parse_container(bytes(data))
    assert any("belong to no block" in text for text in raw.problems)


def test_no_mutation_becomes_a_fault(tmp_path: Path) -> None:
    told = 0
    for case in range(150):
        random = Random(case)
        data = bytearray(SOUND)
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        path = written(tmp_path / "a.sw", bytes(data))
        try:
            evidence = read_evidence(path)
            diagnose(evidence)
            told += bool(evidence.profile.notes)
            assert np.isfinite(evidence.profile.counters["seconds"]).all()
        except StripewiseError:
            told += 1
    assert told > 0
