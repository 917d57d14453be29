# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Variations of a run, and what is found when a file is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from kernel_builds import Kernel

KernelOf = Callable[[str], Kernel]
Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

pytestmark = pytest.mark.mpi

SIZES = {"array3d": (13, 7, 11), "btio": (13, 11, 17)}
SHAPES = {"array3d": (13, 7, 11), "btio": (13, 11, 17, 5)}
BACKENDS = {
    "posix-shared": ["--backend", "posix"],
    "mpiio-collective": ["--backend", "mpiio", "--mode", "collective"],
    "hdf5-collective": ["--backend", "hdf5", "--mode", "collective"],
}


def size_words(pattern: str) -> list[str]:
    return ["--pattern", pattern, "--size", ",".join(str(n) for n in SIZES[pattern])]


def formula(pattern: str, step: int) -> Array:
    shape = SHAPES[pattern]
    elements = int(np.prod(shape))
    start = 1 + step * elements
    return np.arange(start, start + elements, dtype=np.int64).reshape(shape)


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize(
    "words",
    [
        ["--grid", "1,1,2", "--halo", "0"],
        ["--grid", "2,1,1", "--halo", "3", "--open-once", "--fsync"],
        ["--seed", "4611686018427387904", "--steps", "3", "--compute", "0.01"],
        ["--size", "1,1,1"],  # one rank owns nothing
        ["--local", "5,3,2", "--compute-kind", "sleep", "--compute", "0.01", "--steps", "2"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("backend", ["posix-shared", "mpiio-collective", "hdf5-collective"])
def test_variations_verify(
    backend: str, words: list[str], kernel_of: KernelOf, tmp_path: Path
) -> None:
    kernel = kernel_of("mpich")
    if backend.startswith("hdf5") and not kernel.hdf5:
        pytest.skip("no parallel HDF5 for mpich")
    size = [] if {"--size", "--local"} & set(words) else ["--size", "7,9,5"]
    done = kernel.run(2, [*BACKENDS[backend], *size, *words, "--verify"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []  # without --keep nothing stays


def corrupt(path: Path, element: int) -> int:
    """Change one byte of an element; return its new value."""
    with path.open("r+b") as file:
        file.seek(element * 8 + 1)
        byte = file.read(1)[0]
        file.seek(element * 8 + 1)
        file.write(bytes([byte ^ 0x40]))
    return int(np.fromfile(path, np.int64)[element])


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("backend", ["posix-shared", "mpiio-collective"])
def test_one_changed_byte_is_found(backend: str, kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    words = [*size_words("btio"), *BACKENDS[backend], "--steps", "2", "--file", "out", "--keep"]
    assert kernel.run(2, words, cwd=tmp_path).returncode == 0
    place = (5, 10, 3, 4)
    index = int(np.ravel_multi_index(place, SHAPES["btio"]))
    expected = int(formula("btio", 1)[place])
    found = corrupt(tmp_path / "out", int(np.prod(SHAPES["btio"])) + index)
    done = kernel.run(2, [*words, "--op", "read", "--verify"], cwd=tmp_path)
    assert done.returncode == 1
    line = f"step 1, variable solution, element (5, 10, 3, 4): expected {expected}, found {found}"
    assert line in done.stderr
    assert "1 wrong" in done.stderr
    assert kernel.run(2, [*words, "--op", "read"], cwd=tmp_path).returncode == 0


def test_the_first_of_many_wrong_elements_is_told(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    words = [*size_words("array3d"), "--backend", "posix", "--file", "out", "--keep"]
    assert kernel.run(2, words, cwd=tmp_path).returncode == 0
    done = kernel.run(
        2, [*words, "--op", "read", "--verify", "--seed", "7"], cwd=tmp_path
    )  # as if the file were of another run
    assert done.returncode == 1
    assert "step 0, variable array, element (0, 0, 0): expected 8, found 1" in done.stderr
    assert f"{13 * 7 * 11} wrong" in done.stderr


def test_a_file_is_replaced_not_overwritten(kernel_of: KernelOf, tmp_path: Path) -> None:
    kernel = kernel_of("mpich")
    (tmp_path / "out").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("out")
    words = ["--size", "3,3,3", "--backend", "posix", "--file", "link", "--keep"]
    assert kernel.run(2, words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").stat().st_size == 27 * 8
