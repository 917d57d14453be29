# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 outputs among the rules of verification."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from stripewise.core import VerificationStatus
from stripewise.study.verify import BaselineOutputs, _compare
from stripewise.study.workspace import OutputSet
from support.outputs import compare

IDENTICAL = VerificationStatus.IDENTICAL
SAME = VerificationStatus.SAME_CONTENT
DIFFERENT = VerificationStatus.DIFFERENT
NOT_VERIFIABLE = VerificationStatus.NOT_VERIFIABLE


def write_runs(runs: tuple[Path, Path, Path], change: Callable[[h5py.File, int], None]) -> None:
    for index, run in enumerate(runs):
        with h5py.File(run / "x.h5", "w", alignment_interval=512 if index == 2 else 1) as file:
            file["data"] = np.arange(1000.0)
            change(file, index)


def test_layout_settings_compare_content(runs):
    write_runs(runs, lambda _file, _index: None)
    (runs[2] / "x.h5").write_bytes((runs[2] / "x.h5").read_bytes())
    with h5py.File(runs[2] / "x.h5", "w", libver="latest") as file:
        file.create_dataset("data", data=np.arange(1000.0), chunks=(64,))
    assert compare(*runs, layout=True).status is SAME
    result = compare(*runs, layout=False)
    assert result.status is DIFFERENT
    assert "HDF5 content is the same" in result.differences["x.h5"]


def test_baselines_with_other_bytes_but_the_same_content(runs):
    write_runs(runs, lambda _file, _index: None)
    for run, chunk in zip(runs, (10, 20, 30), strict=True):
        with h5py.File(run / "x.h5", "w") as file:
            file.create_dataset("data", data=np.arange(1000.0), chunks=(chunk,))
    assert compare(*runs, layout=False).status is SAME
    with h5py.File(runs[2] / "x.h5", "r+") as file:
        file["data"][5] = 0
    assert compare(*runs, layout=False).status is DIFFERENT


def test_a_time_in_an_attribute_does_not_hide_the_data(runs):
    write_runs(runs, lambda file, index: file.attrs.__setitem__("time", f"12:0{index}"))
    result = compare(*runs, layout=True)
    assert result.status is SAME
    assert list(result.not_verifiable) == ["x.h5 /@time"]
    with h5py.File(runs[2] / "x.h5", "r+") as file:
        file["data"][5] = 0
    assert "/data" in compare(*runs, layout=True).differences["x.h5"]


def test_random_data_in_hdf5_are_not_verifiable(runs):
    write_runs(runs, lambda file, index: file["data"].__setitem__(3, -index))
    assert compare(*runs, layout=True).status is NOT_VERIFIABLE


def _damage(path: Path, name: str) -> None:
    """Overwrite the first chunk of a dataset, so that its checksum fails."""
    with h5py.File(path) as file:
        offset = file[name].id.get_chunk_info(0).byte_offset
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(b"\xff" * 16)


def _checked(run: Path, chunk: int) -> Path:
    with h5py.File(run / "x.h5", "w") as file:
        file.create_dataset("data", data=np.arange(1000.0), chunks=(chunk,), fletcher32=True)
        file.create_dataset("more", data=np.arange(9000.0), chunks=(900,))
    return run / "x.h5"


@pytest.mark.parametrize("chunks", [(100, 100, 50), (100, 200, 50)])
def test_what_only_the_candidate_cannot_give_differs(runs, chunks):
    for run, chunk in zip(runs, chunks, strict=True):
        _checked(run, chunk)
    assert compare(*runs, layout=True).status is SAME
    _damage(runs[2] / "x.h5", "data")
    result = compare(*runs, layout=True)
    assert result.status is DIFFERENT
    assert "/data: cannot be compared" in result.differences["x.h5"]
    assert result.not_verifiable == {}


@pytest.mark.parametrize("name", ["data", "more"])
def test_what_the_baseline_cannot_give_either_is_lost(runs, name):
    for run, chunk in zip(runs, (100, 100, 50), strict=True):
        with h5py.File(run / "x.h5", "w") as file:
            for part, n in (("data", 1000), ("more", 9000)):
                values = np.arange(float(n))
                file.create_dataset(part, data=values, chunks=(chunk,), fletcher32=True)
        _damage(run / "x.h5", name)
    reference = BaselineOutputs(*map(OutputSet.of, runs[:2]))
    for _ in range(2):
        result = reference.verify(OutputSet.of(runs[2]), layout=True)
        assert list(result.not_verifiable) == [f"x.h5 /{name}"]
        assert result.status is (SAME if name == "data" else NOT_VERIFIABLE)


@pytest.mark.parametrize(("n_items", "most"), [(1500, 2000), (300, 200)])
def test_many_items_may_differ_between_baselines(runs, monkeypatch, n_items, most):
    monkeypatch.setattr(_compare, "_MOST_UNSTABLE", most)

    def stamp(file: h5py.File, index: int) -> None:
        for number in range(n_items):
            file.create_group(f"g{number}").attrs["made"] = index

    write_runs(runs, stamp)
    result = compare(*runs, layout=True)
    if n_items > most:
        assert result.status is NOT_VERIFIABLE
        assert result.not_verifiable == {"x.h5": "two baselines differ in 200 items or more"}
        return
    assert result.status is SAME
    assert result.not_verifiable["x.h5 (more)"] == "1400 more items"
    assert len(result.not_verifiable) == 101


def test_layout_settings_keep_other_files_bytewise(runs):
    for run, content in zip(runs, (b"abc", b"abc", b"abd"), strict=True):
        (run / "x").write_bytes(content)
    assert compare(*runs, layout=True).status is DIFFERENT


def test_hdf5_that_is_none_any_more(runs):
    write_runs(runs, lambda _file, _index: None)
    (runs[2] / "x.h5").write_bytes(b"oops")
    assert "not an HDF5 file" in compare(*runs, layout=True).differences["x.h5"]


def test_reference_serves_many_candidates(runs):
    write_runs(runs, lambda _file, _index: None)
    reference = BaselineOutputs(*map(OutputSet.of, runs[:2]))
    assert reference.verify(OutputSet.of(runs[1]), layout=True).status is IDENTICAL
    assert reference.verify(OutputSet.of(runs[0]), layout=False).status is IDENTICAL
