# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small traces of parallel programs, made without a program: for tests of what reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stripewise.evidence.containers._join import evidence_of
from stripewise.evidence.trace import (
    Evidence,
    IoLayer,
    MpiFamily,
    Op,
    PluginState,
    ProcessFlag,
    Trace,
)
from support.containers import FakeFile, FakeProcess, build_container, parse_container, sealed
from support.traces import (
    FakeBins,
    FakeCall,
    FakeObject,
    FakeShape,
    FakeThread,
    FakeTrace,
    FakeView,
)

H5, NC, MPI = IoLayer.HDF5, IoLayer.PNETCDF, IoLayer.MPIIO
OUT = "/run/out.h5"


def rank(number: int, size: int, trace: FakeTrace | None, **more: Any) -> FakeProcess:
    """A process of an MPI program that used `OUT`."""
    fields = {
        "rank": number,
        "world_size": size,
        "mpi_family": MpiFamily.MPICH,
        "plugin_state": PluginState.LOADED,
        "flags": ProcessFlag.MPI_INITIALIZED | ProcessFlag.EXITED,
        "start_ns": 10**18 + number * 1000,
        "clock_ns": 10**9 + number * 1000,
        "end_ns": 10**18 + 10**9,
        "outermost_write_bytes": 100,
        "command": "mpiexec\x1f./app",
        **more,
    }
    return FakeProcess(
        fields,
        [FakeFile(OUT, IoLayer(layer)) for layer in (IoLayer.POSIX, MPI)],
        trace=trace,
    )


def one_thread(*log: FakeCall, **more: Any) -> FakeTrace:
    """A trace with one thread and its log."""
    return FakeTrace([FakeThread(log=log)], **more)


def evidence(*processes: FakeProcess, host: str = "node1") -> Evidence:
    """What a container with these processes tells."""
    raw = parse_container(build_container(processes, host=host), events=True)
    return evidence_of([raw])


def trace_of(*processes: FakeProcess) -> Trace:
    """The trace of a container with these processes."""
    found = evidence(*processes).trace
    assert found is not None
    return found


def mixed_container(n_ranks: int = 2) -> bytes:
    """A container with everything in it that a trace can hold, and with its checksums."""
    processes = []
    for number in range(n_ranks):
        objects = [FakeObject(OUT, "/a", (8, 6)), FakeObject(OUT, "/b", (5,), chunk=(2,))]
        shapes: list[FakeShape | FakeView] = [
            FakeShape((8, 6), numbers=(1, 1, 1, 1, 4, 6), elements=24),
            FakeView(OUT, [(0, 8, 4, (0, 0), (64, 0, 0))], 32, 256),
        ]
        calls = [
            FakeCall(
                OUT, "H5Dwrite", Op.WRITE_COLLECTIVE, H5, 24 * number, 192, 1, object=1, shape=1
            ),
            FakeCall(
                OUT,
                "MPI_File_write_at_all",
                Op.WRITE_COLLECTIVE,
                MPI,
                0,
                32,
                2,
                10,
                parent="H5Dwrite",
                depth=1,
                shape=2,
            ),
            FakeCall(
                OUT,
                "pwrite",
                Op.WRITE,
                IoLayer.POSIX,
                0,
                4096,
                3,
                20,
                count=50,
                stride=(4096, 0, 0),
                parent="MPI_File_write_at_all",
                depth=2,
            ),
            FakeCall(
                OUT,
                "read",
                Op.READ,
                IoLayer.POSIX,
                7,
                3,
                90,
                90_000,
                count=4,
                inner=(2, 0),
                stride=(10, 100, 0),
            ),
        ]
        bins = [FakeBins(OUT, MPI, [(0, 24, 3, 0, 96, 5000), (1 << 24, 25, 1, 32, 0, 7)])]
        thread = FakeThread(1, calls[2:3], calls[:2], [calls[3:]])
        processes.append(rank(number, n_ranks, FakeTrace([thread], objects, shapes, bins)))
    return sealed(build_container(processes))


def write_container(directory: Path, name: str, data: bytes) -> Path:
    """A container as a file."""
    directory.mkdir(exist_ok=True)
    (directory / name).write_bytes(data)
    return directory / name
