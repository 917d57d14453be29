# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a running program to its pattern: the published examples, on both MPIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from capture_harness import captured
from kernel_builds import Kernel
from runtime_harness import FAMILIES, program, require

from stripewise.evidence.patterns import Pattern, PatternKind, find_patterns
from stripewise.evidence.trace import accesses

pytestmark = [pytest.mark.mpi, pytest.mark.parametrize("family", FAMILIES)]
KernelOf = Callable[[str], Kernel]


def found(
    family: str, command: Sequence[str | Path], where: Path, n_ranks: int = 4
) -> tuple[Pattern, ...]:
    require(f"mpicc.{family}", f"mpiexec.{family}", "cmake")
    trace = captured(family, n_ranks, command, where)
    return find_patterns(accesses(trace))


def of_kernel(
    family: str, kernel_of: KernelOf, where: Path, *options: str, n_ranks: int = 4
) -> tuple[Pattern, ...]:
    kernel = kernel_of(family)
    if "hdf5" in options and not kernel.hdf5:
        pytest.skip(f"no parallel HDF5 for {family}")
    return found(family, [kernel.program, *options, "--file", "out", "--keep"], where, n_ranks)


@pytest.mark.extended(keep=1)
def test_two_datasets_of_rows(family: str, tmp_path: Path) -> None:
    require(f"mpicc.{family}")
    patterns = found(family, [program(family, "h5two.c"), "a.h5"], tmp_path)
    assert {p.dataset: (p.notation, p.grid) for p in patterns} == {
        "/Data1": ("<2D, (BLOCK, *), (6, 24)>", (4, 1)),
        "/Data2": ("<2D, (BLOCK, *), (6, 24)>", (4, 1)),
    }
    assert {p.element_bytes for p in patterns} == {4}


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize(
    ("pattern", "options", "n_datasets", "notation"),
    [
        ("blocks", ["--local", "4096"], 1, "<1D, (BLOCK), (4096)>"),
        ("vpic", ["--local", "4096"], 8, "<1D, (BLOCK), (4096)>"),
        ("gcrm", ["--local", "1,26,2048"], 1, "<3D, (*, *, BLOCK), (1, 26, 2048)>"),
        ("vorpal", ["--local", "6,10,30", "--grid", "1,2,2"], 1,
         "<3D, (*, BLOCK, BLOCK), (6, 10, 30)>"),
        ("flash", ["--local", "4,8,8,8", "--halo", "0"], 24,
         "<4D, (BLOCK, *, *, *), (4, 8, 8, 8)>"),
    ],
)  # fmt: skip
def test_published_kernels_through_hdf5(
    family: str,
    kernel_of: KernelOf,
    tmp_path: Path,
    pattern: str,
    options: list[str],
    n_datasets: int,
    notation: str,
) -> None:
    patterns = of_kernel(
        family, kernel_of, tmp_path, "--pattern", pattern, "--backend", "hdf5", *options
    )
    written = [p for p in patterns if p.writing]
    assert {p.notation for p in written} == {notation}
    assert len(written) == n_datasets
    assert {p.active_ranks for p in written} == {4}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["independent", "collective"])
def test_an_array_through_views_of_mpiio(
    family: str, kernel_of: KernelOf, tmp_path: Path, mode: str
) -> None:
    patterns = of_kernel(
        family, kernel_of, tmp_path, "--pattern", "array3d", "--backend", "mpiio", "--mode", mode,
        "--size", "8,12,16", "--grid", "2,2,1",
    )  # fmt: skip
    (written,) = [p for p in patterns if p.writing]
    assert written.notation == "<3D, (BLOCK, BLOCK, *), (4, 6, 16)>" or (
        # Rows that are whole cannot be told from one dimension of longer rows.
        written.notation == "<2D, (BLOCK, BLOCK), (4, 96)>"
    )
    assert written.collective == (1.0 if mode == "collective" else 0.0)
    assert written.source == "view"


@pytest.mark.extended(keep=1)
def test_bt_io_is_a_multipartition(family: str, kernel_of: KernelOf, tmp_path: Path) -> None:
    patterns = of_kernel(
        family, kernel_of, tmp_path, "--pattern", "btio", "--backend", "mpiio", "--size", "8,8,8"
    )
    assert [p.kind for p in patterns if p.writing] == [PatternKind.MULTIPARTITION]


@pytest.mark.extended(keep=1)
def test_rows_through_posix(family: str, kernel_of: KernelOf, tmp_path: Path) -> None:
    patterns = of_kernel(
        family, kernel_of, tmp_path, "--pattern", "array3d", "--backend", "posix",
        "--size", "4,8,16", "--grid", "1,2,2",
    )  # fmt: skip
    (written,) = [p for p in patterns if p.writing]
    assert written.source == "offsets"
    assert [str(part) for part in written.distributions][-2:] == ["BLOCK", "BLOCK"]
    assert written.active_ranks == 4
