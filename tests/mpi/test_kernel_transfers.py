# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Transfers of the kernel: cut, stopped by a stonewall, direct, past dropped caches."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from kernel_builds import Kernel, compile_kernel
from kernel_drivers import Drivers

KernelOf = Callable[[str], Kernel]

pytestmark = pytest.mark.mpi

CUT = 888  # bytes: 111 int64, 222 floats; no block is a multiple
PATTERNS = {
    "blocks": "--pattern blocks --size 2003",
    "segments": "--pattern blocks --size 2003 --open-once",
    "unequal": "--pattern vpic --size 1009 --distribution BLOCK(700)",  # a rank owns less
    "cyclic": "--pattern vpic --size 1009 --distribution CYCLIC(150)",
    "halo": "--pattern array3d --size 9,7,11 --halo 2",
    "dense": "--pattern array3d --size 9,7,11 --halo 0",
    "cells": "--pattern btio --size 5,7,6",
    "tiny": "--pattern blocks --size 1",  # ranks without elements
}
BACKENDS = {
    "shared": "--backend posix",
    "process": "--backend posix --layout per-process",
    "node": "--backend posix --layout per-node --node-ranks 2",
    "mpiio": "--backend mpiio",
    "no-view": "--backend mpiio --no-view",
    "collective": "--backend mpiio --mode collective",
    "hdf5": "--backend hdf5",
    "hdf5-collective": "--backend hdf5 --mode collective",
}
ONE_DIMENSION = ("blocks", "segments", "unequal", "cyclic", "tiny")
WALLS = ("", "--stonewall 0.000001", "--stonewall 86400")


def lines_of(hdf5: bool) -> Iterator[tuple[str, str, str]]:
    """Pattern, back end and the line for the program."""
    for pattern, what in PATTERNS.items():
        for backend, how in BACKENDS.items():
            if backend.startswith("hdf5") and (not hdf5 or pattern not in ONE_DIMENSION):
                continue
            yield pattern, backend, f"{what} {how} --op write-read --verify --read-shift 1"


def read_all(path: Path) -> list[bytes]:
    """The contents of a run's files; of HDF5 its datasets."""
    parts = sorted(path.parent.glob(path.name + "*"))
    if path.suffix != ".h5":
        return [part.read_bytes() for part in parts]
    with h5py.File(path) as file:
        return [group[name][...].tobytes() for group in file.values() for name in group]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("family", "io", "n_ranks"),
    [("mpich", "", 2), ("openmpi", "ompio", 3), ("openmpi", "romio321", 3)],
)
def test_cut_transfers_make_the_same_files(
    family: str,
    io: str,
    n_ranks: int,
    drivers_of: Callable[[str], Drivers],
    tmp_path: Path,
) -> None:
    drivers = drivers_of(family)
    cases = []
    for pattern, backend, line in lines_of(drivers.hdf5):
        name = f"{pattern}-{backend}" + (".h5" if backend.startswith("hdf5") else "")
        whole = f"{line} --steps 2 --keep --file whole-{name}"
        cut = f"{line} --steps 2 --keep --transfer {CUT} --drop-caches --file cut-{name}"
        cases.append((name, whole, cut))
    lines = [line for _, *both in cases for line in both]
    told = drivers.batch(n_ranks, lines, cwd=tmp_path, io=io)
    assert dict.fromkeys(lines, "0 right") == told
    for name, _, _ in cases:
        assert read_all(tmp_path / f"cut-{name}") == read_all(tmp_path / f"whole-{name}"), name


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(("family", "io", "n_ranks"), [("mpich", "", 2), ("openmpi", "ompio", 3)])
def test_what_was_moved_before_a_stonewall_is_right(
    family: str,
    io: str,
    n_ranks: int,
    drivers_of: Callable[[str], Drivers],
    tmp_path: Path,
) -> None:
    """Also without a read, in the untimed one; and where only whole steps can be stopped."""
    drivers = drivers_of(family)
    cases = []
    for _, _, line in lines_of(drivers.hdf5):
        for wall in WALLS[1:]:
            cases.append(f"{line} --steps 2 --transfer {CUT} {wall}")
            cases.append(f"{line} --steps 3 {wall}".replace("write-read", "write"))
    told = drivers.batch(n_ranks, cases, cwd=tmp_path, io=io)
    assert dict.fromkeys(cases, "0 right") == told
    assert [path.name for path in tmp_path.iterdir() if path.name != "lines"] == []


def test_no_call_is_longer_than_a_transfer(kernel_of: KernelOf, tmp_path: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("no strace")
    kernel = kernel_of("mpich")
    words = "--local 2000 --pattern blocks --transfer 4096 --op write-read --file out".split()
    for backend in (["--backend", "posix"], ["--backend", "mpiio", "--mode", "collective"]):
        trace = ["strace", "-f", "-o", "log", "-P", str(tmp_path / "out")]
        done = subprocess.run(
            [*trace, str(kernel.program), *words, *backend], cwd=tmp_path, capture_output=True
        )
        assert done.returncode == 0
        calls = re.findall(
            r"(p(?:write|read)64)\(.*, (\d+), (\d+)\) = ", (tmp_path / "log").read_text()
        )
        sizes = [("4096", "0"), ("4096", "4096"), ("4096", "8192"), ("3712", "12288")]
        for call in ("pwrite64", "pread64"):
            assert [(size, at) for name, size, at in calls if name == call] == sizes


def run_json(kernel: Kernel, n_ranks: int, words: str, cwd: Path) -> dict[str, Any]:
    done = kernel.run(n_ranks, [*words.split(), "--json", "-"], cwd=cwd)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["independent", "collective"])
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_after_a_stonewall_all_ranks_have_moved_as_much(
    family: str, mode: str, kernel_of: KernelOf, tmp_path: Path
) -> None:
    n, transfer, ranks = 100_000, 4096, 2
    words = f"--pattern blocks --local {n} --backend mpiio --mode {mode} --keep --file out"
    words += f" --transfer {transfer} --stonewall 0.0005 --op write-read --verify"
    found = run_json(kernel_of(family), ranks, words, tmp_path)
    wall = found["stonewall"]["write"]
    assert found["stonewall"]["unit"] == "transfer"
    assert 1 <= wall["least_transfers"] <= wall["most_transfers"] <= -(-n * 8 // transfer)
    each = min(wall["most_transfers"] * transfer, n * 8)
    moved = found["totals"]["write"]["bytes"]
    assert moved == found["steps"][0]["bytes"] == ranks * each
    assert wall["least_transfers"] * transfer * ranks <= wall["bytes"] + transfer
    assert wall["bytes"] <= moved
    assert wall["seconds"] <= wall["whole_seconds"]
    assert wall["reached"] or moved == ranks * n * 8
    assert found["totals"]["read"]["bytes"] <= moved
    data = np.fromfile(tmp_path / "out", np.int64)
    for rank in range(ranks):
        block = data[rank * n : rank * n + each // 8]
        np.testing.assert_array_equal(block, np.arange(rank * n + 1, rank * n + 1 + each // 8))


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", ["posix", "hdf5"])
def test_a_stonewall_between_steps(backend: str, kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    if backend == "hdf5" and not kernel.hdf5:
        pytest.skip("no parallel HDF5 for mpich")
    words = f"--pattern blocks --local 1000 --backend {backend} --keep --file out --open-once"
    words += " --steps 50 --stonewall 0.000001 --op write-read --verify"
    found = run_json(kernel, 2, words, tmp_path)
    wall = found["stonewall"]["write"]
    assert found["stonewall"]["unit"] == "step"
    assert wall["reached"]
    assert wall["most_transfers"] == wall["least_transfers"] == 1
    assert found["totals"]["write"]["bytes"] == wall["bytes"] == 16_000
    assert [step["operation"] for step in found["steps"]] == ["write", "read"]
    if backend == "hdf5":
        with h5py.File(tmp_path / "out") as file:
            assert list(file) == ["step_000000"]


def test_a_stonewall_that_is_not_reached(kernel_of: KernelOf, tmp_path: Path) -> None:
    words = "--pattern blocks --local 1000 --backend posix --transfer 800 --stonewall 86400"
    found = run_json(kernel_of("mpich"), 2, words, tmp_path)
    wall = found["stonewall"]["write"]
    assert not wall["reached"]
    assert wall["bytes"] == found["totals"]["write"]["bytes"] == 16_000
    assert wall["most_transfers"] == 10
    assert found["stonewall"]["read"] is None


@pytest.fixture
def direct_place(tmp_path: Path) -> Path:
    """A directory whose file system takes O_DIRECT."""
    import os

    try:
        os.close(os.open(tmp_path / "try", os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError:
        pytest.skip("no direct I/O in the directory of temporary files")
    return tmp_path


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "words",
    [
        "--pattern blocks --local 2048",
        "--pattern blocks --local 2048 --transfer 4096 --layout per-process --steps 2",
        "--pattern blocks --local 2048 --layout per-node --steps 2 --open-once",
        "--pattern array3d --local 4,16,512 --halo 0 --fsync",
        "--pattern blocks --local 51200 --transfer 8192 --stonewall 0.0001",
    ],
)
def test_direct_transfers(words: str, kernel_of: KernelOf, direct_place: Path) -> None:
    line = f"{words} --backend posix --direct --op write-read --verify --read-shift 1"
    found = run_json(kernel_of("mpich"), 2, line, direct_place)
    assert found["direct"] is True
    assert found["verified"] is True


def test_direct_is_direct(kernel_of: KernelOf, direct_place: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("no strace")
    words = "--pattern blocks --local 512 --backend posix --direct --file out".split()
    done = subprocess.run(
        ["strace", "-f", "-e", "trace=openat", str(kernel_of("mpich").program), *words],
        cwd=direct_place, capture_output=True, text=True,
    )  # fmt: skip
    assert re.search(r'"out", O_WRONLY\|O_CREAT\|O_DIRECT', done.stderr)


def test_one_rank_tells_that_nothing_is_aligned(kernel_of: KernelOf, tmp_path: Path) -> None:
    words = "--pattern blocks --size 1537 --backend posix --direct".split()
    done = kernel_of("mpich").run(2, words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("stripewise-kernel: ") == 1
    assert "--direct: rank 0 would move 6152 bytes at byte 0" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_dropped_caches_are_counted(kernel_of: KernelOf, tmp_path: Path) -> None:
    """In memory all stays, on a disk (almost) nothing."""
    words = "--pattern blocks --local 500000 --op write-read --drop-caches --file out".split()
    text = " ".join(words)
    kernel = kernel_of("mpich")
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout.strip()
    for backend in ("--backend posix --layout per-process", "--backend mpiio"):
        found = run_json(kernel, 2, f"{text} {backend}", tmp_path)
        if kind in ("ext2/ext3", "xfs", "btrfs"):
            assert found["cached_bytes_before_read"] < 4_000_000
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        found = run_json(kernel, 2, f"{text} --backend posix", Path(memory))
        assert found["cached_bytes_before_read"] >= 8_000_000
    found = run_json(kernel, 1, "--size 2,2,2 --backend posix", tmp_path)
    assert found["cached_bytes_before_read"] is None


@pytest.mark.extended
def test_with_address_sanitizer(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel_of("mpich")  # skips without MPICH
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    kernel = compile_kernel("mpich", *flags)
    assert kernel is not None
    before = ["env", "ASAN_OPTIONS=detect_leaks=0"]  # MPI's own
    for pattern, backend, line in lines_of(kernel.hdf5):
        if pattern not in ("segments", "halo", "cyclic") or backend in ("node", "hdf5"):
            continue
        for wall in WALLS[:2]:
            words = f"{line} --steps 2 --transfer {CUT} --drop-caches {wall}".split()
            done = kernel.run(2, words, cwd=tmp_path, before=before)
            assert done.returncode == 0, done.stderr
            assert "ERROR" not in done.stderr
