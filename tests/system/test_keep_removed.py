# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A program that removes its own output can be verified all the same."""

from __future__ import annotations

import shlex

import pytest
from system_cli import SHORT, as_words, mpiexec, tune

pytestmark = pytest.mark.mpi


@pytest.mark.extended
@pytest.mark.parametrize("kept", [False, True])
def test_a_program_that_removes_its_output(work, compiled, mpich, planted, kept):
    """Any value of the one setting is faster than none; what it writes is right."""
    words = as_words(mpiexec(mpich), compiled("blocks.c", mpich), "out.dat", "64", "4096")
    command = ("sh", "-c", f"{shlex.join(words)} && rm out.dat")
    fast = {
        "LD_PRELOAD": str(planted(mpich)),
        "PLANTED_KEY": "romio_cb_write",
        "PLANTED_SLEEP": "enable=0,disable=0,=800",
    }
    options = (*(("--keep-removed",) if kept else ()), *SHORT, "--no-sync", "--no-memory")
    document = tune(*options, "--", *command, cwd=work, more=fast)
    told = [text for text in document["warnings"] if "give --keep-removed" in text]
    assert len(told) == (0 if kept else 1)
    assert document["verified"] == (True if kept else "not verifiable")
    assert document["verification"]["compared"] == (
        [".stripewise-removed/out.dat"] if kept else []
    )
