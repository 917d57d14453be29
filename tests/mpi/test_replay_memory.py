# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A buffer with a halo makes HDF5 and OMPIO cut their requests; the replay's are cut alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_builds import Kernel
from replay_harness import replayed
from runtime_harness import FAMILIES, program, require

from stripewise.evidence.trace import IoLayer, Op, ShapeKind, Trace, expand

pytestmark = pytest.mark.mpi


def system_writes(trace: Trace) -> Counter[tuple[int, int, int]]:
    calls = expand(trace)
    wanted = (calls["layer"] == IoLayer.POSIX) & (calls["op"] == Op.WRITE)
    columns = (calls[name][wanted].tolist() for name in ("rank", "offset", "bytes"))
    return Counter(zip(*columns, strict=True))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_halo_in_memory(family: str, kernel_of: Callable[[str], Kernel], tmp_path: Path) -> None:
    require(f"mpicc.{family}", f"mpiexec.{family}", "cmake")
    kernel = kernel_of(family)
    if not kernel.hdf5:
        pytest.skip(f"no parallel HDF5 for {family}")
    options = ["--pattern", "flash", "--backend", "hdf5", "--local", "4,8,8,8", "--halo", "2"]
    done = replayed(family, [kernel.program, *options, "--file", "f.h5"], tmp_path)
    assert not done.differences, done.differences.texts
    assert set(done.trace.rows["memory"]) == {-1}  # what HDF5 hands to MPI-IO is its own affair
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


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mode", ["independent", "collective"])
def test_a_halo_in_a_datatype(
    family: str, mode: str, kernel_of: Callable[[str], Kernel], tmp_path: Path
) -> None:
    """4 MiB a rank: OMPIO makes pieces of 1 MiB of what has holes in memory."""
    require(f"mpicc.{family}", f"mpiexec.{family}", "cmake")
    options = ["--pattern", "array3d", "--backend", "mpiio", "--mode", mode, "--halo", "1"]
    words = [kernel_of(family).program, *options, "--local", "32,128,128", "--file", "a.dat"]
    done = replayed(family, words, tmp_path)
    assert not done.differences, done.differences.texts
    calls = done.trace.rows[done.trace.rows["memory"] >= 0]
    assert set(calls["layer"]) == {IoLayer.MPIIO}
    assert set(calls["op"]) == {Op.WRITE if mode == "independent" else Op.WRITE_COLLECTIVE}
    (layout,) = set(calls["memory"].tolist())  # both ranks have the same
    buffer = done.trace.views[layout]
    assert (buffer.filetype_bytes, buffer.extent) == (32 * 128**2 * 8, 34 * 130**2 * 8)
    assert (buffer.total_pieces, buffer.pieces[0]["bytes"]) == (32 * 128, 128 * 8)
    assert system_writes(done.trace) == system_writes(done.again)


def noise(n_bytes: int) -> bytes:
    """What rank 0 of a replay writes (native/replay/buffers.c)."""
    state, words = 0x9E3779B97F4A7C15, []
    for _ in range(n_bytes // 8):
        for way in (13, -7, 17):
            state ^= (state << way if way > 0 else state >> -way) & (1 << 64) - 1
        words.append(state.to_bytes(8, "little"))
    return b"".join(words)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("io", ["", "romio321"])
def test_a_datatype_with_a_lower_bound(family: str, io: str, tmp_path: Path) -> None:
    if io and family != "openmpi":
        pytest.skip("a choice of Open MPI")
    words = [program(family, "lowered.c"), "a.dat"]
    done = replayed(family, words, tmp_path, n_ranks=1, io=io)
    assert not done.differences, done.differences.texts
    (layout,) = set(done.again.rows["memory"].tolist()) - {-1}
    assert (done.again.views[layout].lower, done.again.views[layout].extent) == (100, 200)
    places = [at + turn for turn in (0, 200) for at in (100, 180, 260)]
    room = 512  # of a call, in whole cache lines
    given = noise(3 * room)
    written = (done.directory / "a.dat").read_bytes()
    for call in range(3):
        for at in places:  # ROMIO may write what it likes between them
            there, here = call * 400 + at, call * room + at
            assert written[there : there + 40] == given[here : here + 40], (call, at)
