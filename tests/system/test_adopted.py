# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A real MPI program, run with --auto again and again on an emulated storage."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from system_cli import mpiexec, require_mpi, run
from test_emulated import describe

from stripewise.runtime import built_program, find_runtime

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_a_program_nobody_tuned_gets_what_its_storage_needs(
    family: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_mpi(family)
    monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", str(work.parent / "knowledge.sqlite"))
    describe(work, process=40, target=4)
    _, kernel = built_program(find_runtime(), find_runtime().kernels, "kernel", family)
    words = "--pattern vpic --backend mpiio --mode collective --local 131072 --file out.dat --keep"
    program = [*mpiexec(family), str(kernel), *words.split()]
    found, outputs = [], []
    for _ in range(3):
        (work / "out.dat").unlink(missing_ok=True)
        found.append(run("--auto", "--on", "site.toml", "--", *program, cwd=work))
        outputs.append(hashlib.sha256((work / "out.dat").read_bytes()).hexdigest())
    assert [one["auto"]["level"] for one in found] == ["default", "model", "model"]
    assert found[1]["auto"]["settings"]["mpiio.striping_factor"] != 1
    gain = found[0]["io_seconds"] / found[1]["io_seconds"]
    assert gain == pytest.approx(found[1]["auto"]["expected_ratio"], rel=0.5)
    assert gain > 1.15
    assert "x as fast" in found[1]["auto"]["outcome"]
    assert len(set(outputs)) == 1, "settings change no byte"
