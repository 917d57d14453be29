# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What no rank wrote is no output: whatever lies there does not reject a candidate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from stripewise.core import VerificationStatus
from stripewise.evidence.trace import IoLayer, Op
from stripewise.study.verify import BaselineOutputs, Written, written_by
from stripewise.study.workspace import OutputSet
from support.trace_samples import OUT, evidence, one_thread, rank
from support.traces import FakeCall, FakeObject, FakeShape, FakeView

SAME, DIFFERENT = VerificationStatus.SAME_CONTENT, VerificationStatus.DIFFERENT
STEP, NUMBER, BLOCK = 8, 64, 4
EXTENT = STEP * NUMBER
HOLE_BYTES = 8 * (EXTENT - NUMBER * BLOCK)
NAME = Path(OUT).name
Runs = tuple[Path, Path, Path]


def reference(runs: Runs, written: Callable[[], dict[str, Written]] = dict) -> BaselineOutputs:
    return BaselineOutputs(*map(OutputSet.of, runs[:2]), written)


def hdf5_trace(*names: str) -> dict[str, Written]:
    """Two ranks write every other piece of every dataset; between the pieces there are holes."""
    objects = [FakeObject(OUT, name, (EXTENT,)) for name in names]
    shapes = [
        FakeShape((EXTENT,), numbers=(2 * STEP, NUMBER // 2, BLOCK), object=i)
        for i in range(1, len(names) + 1)
    ]
    traces = []
    for number in range(2):
        calls = [
            FakeCall(
                OUT,
                "H5Dwrite",
                Op.WRITE,
                IoLayer.HDF5,
                STEP * number,
                8 * NUMBER * BLOCK // 2,
                sequence=i,
                object=i,
                shape=i,
            )
            for i in range(1, len(names) + 1)
        ]
        trace = one_thread(*calls, objects=objects, shapes=shapes)
        traces.append(rank(number, 2, trace))
    return written_by(evidence(*traces), Path(OUT).parent)


def write_hdf5(
    path: Path,
    garbage: int,
    *names: str,
    fill_time: int = h5d.FILL_TIME_NEVER,
    chunk: int = 0,
    value: float = 0.0,
) -> None:
    """As the trace says, over a storage that holds garbage."""
    elements = np.full(EXTENT, float(garbage))
    pieces = elements.reshape(NUMBER, STEP)[:, :BLOCK]
    pieces[:] = np.arange(NUMBER * BLOCK).reshape(NUMBER, BLOCK)
    pieces[0, 0] = value
    with h5py.File(path, "w", libver="v108") as file:
        for name in names:
            creation = h5p.create(h5p.DATASET_CREATE)
            creation.set_fill_time(fill_time)
            creation.set_alloc_time(h5d.ALLOC_TIME_EARLY)
            creation.set_obj_track_times(False)
            if chunk:
                creation.set_chunk((chunk,))
            space = h5s.create_simple((EXTENT,))
            made = h5d.create(file.id, name.encode(), h5t.NATIVE_DOUBLE, space, creation)
            made.write(h5s.ALL, h5s.ALL, elements)


@pytest.fixture
def files(runs: Runs) -> Callable[..., None]:
    def write(*garbage: int, last: float = 0.0, **more: int) -> None:
        for run, what in zip(runs, garbage, strict=True):
            value = last if run == runs[2] else 0.0
            write_hdf5(run / NAME, what, "/x", value=value, **more)

    return write


@pytest.mark.parametrize("chunk", [0, 100])
@pytest.mark.parametrize("garbage", [(0, 0, 7), (0, 7, 9), (5, 7, 5)])
@pytest.mark.parametrize("layout", [False, True])
def test_garbage_in_holes_rejects_nothing(runs, files, layout, garbage, chunk):
    files(*garbage, chunk=chunk)
    known = reference(runs, lambda: hdf5_trace("/x"))
    found = known.verify(OutputSet.of(runs[2]), layout=layout)
    assert found.status is SAME
    assert not found.differences
    (note,) = found.not_verifiable.items()
    assert note[0] == f"{NAME} /x (holes)"
    assert "bytes differ that no rank wrote" in note[1]


@pytest.mark.parametrize("layout", [False, True])
@pytest.mark.parametrize("garbage", [(0, 0, 0), (0, 7, 9)])
def test_a_written_element_still_counts(runs, files, layout, garbage):
    files(*garbage, last=3.0)
    found = reference(runs, lambda: hdf5_trace("/x")).verify(OutputSet.of(runs[2]), layout=layout)
    assert found.status is DIFFERENT


def test_how_many_bytes_are_so_is_said(runs, files):
    files(0, 0, 0x7FEFDFCFBFAF9F8F)
    found = reference(runs, lambda: hdf5_trace("/x")).verify(OutputSet.of(runs[2]), layout=False)
    with h5py.File(runs[2] / NAME) as file, h5py.File(runs[0] / NAME) as before:
        pair = [np.frombuffer(f["x"][:].tobytes(), np.uint8) for f in (file, before)]
    apart = int((pair[0] != pair[1]).sum())
    assert 0 < apart <= HOLE_BYTES
    text = f"{apart} bytes differ that no rank wrote; they do not count"
    assert found.not_verifiable == {f"{NAME} /x (holes)": text}


@pytest.mark.parametrize("fill_time", [h5d.FILL_TIME_IFSET, h5d.FILL_TIME_ALLOC])
def test_elements_with_a_fill_value_are_output(runs, files, fill_time):
    files(0, 0, 7, fill_time=fill_time)
    found = reference(runs, lambda: hdf5_trace("/x")).verify(OutputSet.of(runs[2]), layout=True)
    assert found.status is DIFFERENT


def test_without_a_whole_trace_every_element_counts(runs, files):
    files(0, 0, 7)
    assert reference(runs).verify(OutputSet.of(runs[2]), layout=False).status is DIFFERENT
    other = reference(runs, lambda: hdf5_trace("/another name"))
    assert other.verify(OutputSet.of(runs[2]), layout=True).status is DIFFERENT


def test_a_dataset_that_is_never_written_is_one_hole(runs):
    for run, garbage in zip(runs, (0, 0, 7), strict=True):
        write_hdf5(run / NAME, 0, "/x")
        with h5py.File(run / NAME, "r+") as file:
            creation = h5p.create(h5p.DATASET_CREATE)
            creation.set_fill_time(h5d.FILL_TIME_NEVER)
            creation.set_obj_track_times(False)
            space = h5s.create_simple((EXTENT,))
            made = h5d.create(file.id, b"/dimension", h5t.NATIVE_DOUBLE, space, creation)
            made.write(h5s.ALL, h5s.ALL, np.full(EXTENT, float(garbage)))
    found = reference(runs, lambda: hdf5_trace("/x")).verify(OutputSet.of(runs[2]), layout=False)
    assert found.status is SAME
    assert list(found.not_verifiable) == [f"{NAME} /dimension (holes)"]


def mpiio_trace() -> dict[str, Written]:
    view = FakeView(OUT, [(0, 4, 4, (0, 0), (16, 0, 0))], 16, 64)
    calls = [
        FakeCall(OUT, "MPI_File_write_all", Op.WRITE_COLLECTIVE, IoLayer.MPIIO, 0, 64, shape=1)
    ]
    return written_by(evidence(rank(0, 1, one_thread(*calls, shapes=[view]))), Path(OUT).parent)


@pytest.mark.parametrize("garbage", [(0, 0, 7), (0, 7, 9)])
@pytest.mark.parametrize("value", [1, 2])
def test_holes_of_a_file_view(runs, garbage, value):
    for run, what in zip(runs, garbage, strict=True):
        data = np.full(256, what, np.uint8)
        data.reshape(16, 16)[:, :4] = 1
        data[48] = value if run == runs[2] else 1
        (run / NAME).write_bytes(data.tobytes())
    found = reference(runs, mpiio_trace).verify(OutputSet.of(runs[2]), layout=False)
    assert found.status is (SAME if value == 1 else DIFFERENT)
    if value == 1:
        assert list(found.not_verifiable) == [f"{NAME} (holes)"]
        assert found.not_verifiable[f"{NAME} (holes)"].startswith("192 bytes")


def test_a_file_that_something_else_wrote_too_has_no_known_holes():
    calls = [
        FakeCall(OUT, "MPI_File_write", Op.WRITE, IoLayer.MPIIO, 0, 64),
        FakeCall(OUT, "pwrite", Op.WRITE, IoLayer.POSIX, 100, 4, sequence=2),
    ]
    assert written_by(evidence(rank(0, 1, one_thread(*calls))), Path(OUT).parent) == {}
