# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A/A studies: where no tunable acts, luck must not be sold as an improvement."""

from __future__ import annotations

import pytest
from system_cli import as_words, mpiexec, tune

from support.amounts import share_of

pytestmark = [pytest.mark.mpi, pytest.mark.long, pytest.mark.timeout(1500)]

STUDIES = share_of(10, 2)
MOST_STUDIES = 3 * STUDIES
INERT = ("mpiio.romio_ds_write", "mpiio.ind_wr_buffer_size")
"""Data sieving: collective buffering hands it pieces without holes."""


@pytest.mark.extended
@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), id="synced"),
        pytest.param(("--no-sync",), id="cached"),
    ],
)
def test_ten_studies_in_which_nothing_can_help(compiled, family, tmp_path, options):
    romio = ("--mca", "io", "romio321") if family == "openmpi" else ()
    program = compiled("blocks.c", family)
    command = as_words(mpiexec(family), romio, program, "out.dat", "4096", "256")
    only = [word for name in INERT for word in ("--only", name)]
    results: list[str] = []
    for seed in range(MOST_STUDIES):
        work = tmp_path / f"study-{seed}"
        work.mkdir()
        words = ("--strategy", "random", "--trials", "4", "--seed", str(seed), *options)
        document = tune(*words, *only, "--", *command, cwd=work)
        assert document["searched"].keys() <= set(INERT)
        if not document["trials"]:  # a busy host: nothing could be told, and it says so
            assert "on a quieter machine" in document["stopped_because"]
            continue
        results.append(document["result"])
        if len(results) == STUDIES:
            break
    assert len(results) == STUDIES, "nothing was tried"
    assert results.count("no improvement") >= STUDIES - 1, results
