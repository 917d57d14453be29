# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of emulated servers are read back, added up, and changed where they may be."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core.errors import StorageError, UsageError
from stripewise.storage.emulation import (
    EmulatedStorage,
    EmulationOptions,
    Tally,
    _mapping,
    make_clocks,
    read_servers,
    set_job_names,
    set_target_factor,
)
from support.served import Served


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    storage = EmulatedStorage.find(EmulationOptions("archer2-hdd@1/64"))
    make_clocks(storage, tmp_path, tmp_path / "clocks", jobid_name="%j")
    return tmp_path / "clocks"


def test_a_new_storage_has_counted_nothing(mapping: Path) -> None:
    found = read_servers(mapping)
    assert (found.fs, len(found.targets), dict(found.jobs)) == ("archer2h", 12, {})
    assert not any(one.reads.samples or one.writes.samples for one in found.targets)
    assert set(found.metadata.operations.values()) == {Tally()}


def test_a_target_has_counted_what_jobs_and_others_did(mapping: Path) -> None:
    served = Served(mapping)
    served.transfers(b"", 3, writes=True, requests=[(4096, 5000)])
    served.transfers(b"17", 3, writes=True, requests=[(1 << 22, 9_000_000), (100, 1000)])
    served.transfers(b"18", 3, writes=False, requests=[(7, 4000)])
    served.metadata(b"18", {"open": [2000, 3000]})
    found = read_servers(mapping)
    assert found.jobs.keys() == {"17", "18"}
    assert list(found.jobs["17"].targets) == [3]
    whole = found.targets[3]
    assert whole.writes.size_bytes == Tally(
        3, 4096 + (1 << 22) + 100, 4096**2 + (1 << 44) + 100**2, 100, 1 << 22
    )
    assert whole.writes.time_us == Tally(3, 9006, 5**2 + 9000**2 + 1, 1, 9000)
    assert (whole.reads.size_bytes.total, found.targets[2].writes.samples) == (7, 0)
    assert found.metadata.operations["open"] == Tally(2, 5, 13, 2, 3)
    assert whole.span.first_ns == 10**9
    assert whole.span.last_ns == 4 * 10**9


_VALUES = st.lists(st.integers(1, 1 << 22), max_size=20)


def tally(values: list[int]) -> Tally:
    squares = sum(value**2 for value in values)
    return Tally(len(values), sum(values), squares, min(values, default=0), max(values, default=0))


@given(_VALUES, _VALUES, _VALUES)
def test_tallies_add_up_as_their_samples_do(
    one: list[int], two: list[int], three: list[int]
) -> None:
    assert tally(one) + tally(two) + tally(three) == tally(one + two + three)


def test_a_factor_is_stored_where_the_processes_look(mapping: Path) -> None:
    set_target_factor(mapping, 11, 2.5)
    places = _mapping.places(12, 256, _mapping.FILES, _mapping.OBJECTS, _mapping.JOBS)
    with open(mapping, "rb") as stream:
        stored = struct.unpack("<12d", os.pread(stream.fileno(), 96, places.factors))
    assert stored == (0.0,) * 11 + (2.5,)


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf"), 1e7])
def test_factors_that_mean_nothing_are_refused(mapping: Path, factor: float) -> None:
    with pytest.raises(UsageError, match="above 0 and at most"):
        set_target_factor(mapping, 0, factor)


def test_what_is_not_there_is_refused(mapping: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="target 12: the storage has 0 to 11"):
        set_target_factor(mapping, 12, 2.0)
    with pytest.raises(UsageError, match="longer than 31"):
        set_job_names(mapping, jobid_name="x" * 32)
    with pytest.raises(StorageError, match="cannot read"):
        read_servers(tmp_path / "missing")
    (tmp_path / "other").write_bytes(b"x" * 10_000)
    with pytest.raises(StorageError, match="not a mapping"):
        read_servers(tmp_path / "other")
    data = bytearray(mapping.read_bytes()[:8192])
    data[8] = 2
    (tmp_path / "older").write_bytes(data)
    with pytest.raises(StorageError, match="version 2, and this is for 3"):
        read_servers(tmp_path / "older")


def test_job_names_are_changed_one_by_one(mapping: Path) -> None:
    set_job_names(mapping, jobid_var="PBS_JOBID")
    fields = _mapping.HEADER.unpack(mapping.read_bytes()[: _mapping.HEADER.size])
    assert [text.rstrip(b"\0") for text in fields[-5:-3]] == [b"PBS_JOBID", b"%j"]
