# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A buffer with a halo makes HDF5 cut its requests; the replay's are cut alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_builds import Kernel
from replay_harness import replayed
from runtime_harness import FAMILIES, require

from stripewise.model import IoLayer, Op, ShapeKind, Trace
from stripewise.readers import expand

pytestmark = pytest.mark.mpi


def system_writes(trace: Trace) -> Counter[tuple[int, int, int]]:
    calls = expand(trace)
    wanted = (calls["layer"] == IoLayer.POSIX) & (calls["op"] == Op.WRITE)
    columns = (calls[name][wanted].tolist() for name in ("rank", "offset", "bytes"))
    return Counter(zip(*columns, strict=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_halo_in_memory(family: str, kernel_of: Callable[[str], Kernel], tmp_path: Path) -> None:
    require(f"mpicc.{family}", f"mpiexec.{family}", "cmake")
    kernel = kernel_of(family)
    if not kernel.hdf5:
        pytest.skip(f"no parallel HDF5 for {family}")
    options = ["--pattern", "flash", "--backend", "hdf5", "--local", "4,8,8,8", "--halo", "2"]
    done = replayed(family, [kernel.program, *options, "--file", "f.h5"], tmp_path)
    assert not done.differences, done.differences.texts
    holed = [s for s in done.trace.shapes if s.memory >= 0]
    assert holed
    buffers = {done.trace.shapes[s.memory] for s in holed if s.boxes is None}
    assert {(b.kind, b.extents, b.count) for b in buffers} == {
        (ShapeKind.REGULAR, (4, 12, 12, 12), (4, 8, 8, 8))
    }
    data = 8 * 8  # a row of a block, its halo left out
    first, again = system_writes(done.trace), system_writes(done.again)
    rows = {key: n for key, n in first.items() if key[2] == data}
    assert len(rows) == 2 * 24 * 4 * 8 * 8
    assert rows == {key: n for key, n in again.items() if key[2] == data}
