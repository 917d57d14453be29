# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program that removes its own output can be verified all the same."""

from __future__ import annotations

import shlex

import pytest
from system_cli import as_words, mpiexec, tune

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("kept", [False, True])
def test_a_program_that_removes_its_output(work, compiled, mpich, kept):
    words = as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "64", "4096")
    command = ("sh", "-c", f"{shlex.join(words)} && rm out.dat")
    short = ("--only", "mpiio.romio_cb_write", "--trials", "1", "--no-sync", "--no-memory")
    document = tune(*(("--keep-removed",) if kept else ()), *short, "--", *command, cwd=work)
    told = [text for text in document["warnings"] if "give --keep-removed" in text]
    assert len(told) == (0 if kept else 1)
