# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Flattened datatypes, against what the MPI packs and what its views write."""

from __future__ import annotations

from pathlib import Path

import pytest
from runtime_harness import FAMILIES, NATIVE, plugins, program, require, run_plain
from stacks import MPIS, family_of, major_of

pytestmark = pytest.mark.mpi

TYPES = 1000


def check(stack: str, seed: int, where: Path) -> None:
    built = program(stack, "flatten.c", f"-I{NATIVE / 'include'}", "-ldl")
    plugin = plugins(stack) / f"libstripewise-mpi-{family_of(stack)}-{major_of(stack)}.so"
    command = [built, plugin, "view.dat", str(seed), str(TYPES), "fortran"]
    ran = run_plain(stack, 1, command, where)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    types, pieces, views = (int(word) for word in ran.stdout.split()[::2])
    assert types > 0.9 * TYPES
    assert pieces > types
    assert views == 40


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("stack", FAMILIES)
@pytest.mark.parametrize("seed", [1, 20])
def test_datatypes_are_taken_apart_as_the_mpi_does(stack: str, seed: int, tmp_path: Path) -> None:
    require(f"mpicc.{stack}", f"mpiexec.{stack}", "cmake")
    check(stack, seed, tmp_path)


@pytest.mark.roots
@pytest.mark.parametrize("stack", MPIS)
def test_under_other_abis(stack: str, tmp_path: Path) -> None:
    check(stack, 3, tmp_path)
