# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A real MPI program, run with --auto again and again on an emulated storage."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import pytest
from system_cli import counted, mpiexec, require_mpi, run
from test_emulated import describe

from stripewise.run.runtime import built_program, find_runtime

pytestmark = pytest.mark.mpi


@pytest.mark.extended
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_a_program_nobody_tuned_gets_what_its_storage_needs(
    family: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_mpi(family)
    describe(work, process=20, target=2)
    _, kernel = built_program(find_runtime(), find_runtime().kernels, "kernel", family)
    words = "--pattern vpic --backend mpiio --mode collective --local 131072 --file out.dat --keep"
    program = [*mpiexec(family), str(kernel), *words.split()]

    def three_runs() -> list[tuple[dict[str, Any], str]]:
        """What is told of each and its output; nothing is known before the first one."""
        knowledge = tempfile.mkdtemp(dir=work.parent)
        monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", f"{knowledge}/knowledge.sqlite")
        made = []
        for _ in range(3):
            (work / "out.dat").unlink(missing_ok=True)
            told = run("--auto", "--on", "site.toml", "--", *program, cwd=work)
            made.append((told, hashlib.sha256((work / "out.dat").read_bytes()).hexdigest()))
        return made

    made = counted(three_runs, lambda runs: [told for told, _ in runs])
    found, outputs = [told for told, _ in made], [output for _, output in made]
    assert [one["auto"]["level"] for one in found] == ["default", "model", "model"]
    assert found[1]["auto"]["settings"]["mpiio.striping_factor"] != 1
    gain = found[0]["io_seconds"] / found[1]["io_seconds"]
    assert gain == pytest.approx(found[1]["auto"]["expected_ratio"], rel=0.5)
    assert gain > 1.15
    assert "x as fast" in found[1]["auto"]["outcome"]
    assert len(set(outputs)) == 1, "settings change no byte"
