# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What PnetCDF and ADIOS2 write under layout settings has the baseline's content."""

from __future__ import annotations

from pathlib import Path

import pytest
from io_libraries import FAMILY, library_program
from runtime_harness import flat, run
from stacks import ADIOS2_2_12

from stripewise.core import VerificationStatus
from stripewise.study.verify import BaselineOutputs
from stripewise.study.workspace import OutputSet

pytestmark = pytest.mark.mpi

CASES = {
    "pnetcdf": (FAMILY, "pnwriter.c", "out.nc", "pnetcdf nc_var_align_size 65536"),
    "adios2": (
        ADIOS2_2_12,
        "adwriter.c",
        "out.bp",
        "adios2 AggregationType TwoLevelShm",
        "adios2 NumAggregators 2",
    ),
}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("library", ["pnetcdf", pytest.param("adios2", marks=pytest.mark.roots)])
def test_layout_settings_keep_the_content(library: str, tmp_path: Path) -> None:
    stack, source, output, *settings = CASES[library]
    directories = [tmp_path / name for name in ("first", "second", "candidate")]
    for directory in directories:
        directory.mkdir()
        configuration = flat("file * 0", *settings) if directory.name == "candidate" else ""
        command = [library_program(source, stack), output]
        ran = run(stack, 2, command, directory, configuration=configuration)
        assert (ran.code, ran.err) == (0, "")
        for containers in directory.glob("containers-*"):
            containers.rename(tmp_path / containers.name)
    *baselines, candidate = map(OutputSet.of, directories)
    reference = BaselineOutputs(*baselines)
    assert reference.verify(candidate, layout=True).status is VerificationStatus.SAME_CONTENT
    safe = reference.verify(candidate, layout=False)
    assert "content is the same" in safe.differences[output]
