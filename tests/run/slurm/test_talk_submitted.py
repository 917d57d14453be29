# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The script of ExPBB's talk, converted, before a real Slurm with nodes as large as its own."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from support.job_scripts import written_cases

pytestmark = [pytest.mark.slurm, pytest.mark.mpi]
STRIPEWISE = (sys.executable, "-c", "from stripewise.cli import main; main()")


def test_the_converted_script_is_valid_for_sbatch(large_cluster: Any) -> None:
    large = large_cluster
    content = next(case.data for case in written_cases() if case.name == "expbb-slide")
    (large.scratch / "run.sh").write_bytes(content)
    for name in ("input", "results"):
        large.run("mkdir", str(large.scratch / name), check=True)
    places = (f"--stage-in={large.scratch}/input", f"--stage-out={large.scratch}/results")
    made = large.run(*STRIPEWISE, "settings", "script", "run.sh", "--bb-nodes", "4", *places)
    assert made.returncode == 0, made.stderr
    text = (large.scratch / "run.bb.sh").read_text()
    assert "#DW jobdw type=scratch access_mode=striped capacity=" in text
    for script in ("run.sh", "run.bb.sh"):
        said = large.run("sbatch", "--test-only", script)
        assert said.returncode == 0, said.stderr
        assert "using 256 processors on nodes n[1-8] in partition workq" in said.stderr
    back = large.run(*STRIPEWISE, "settings", "script", "--revert", "run.bb.sh", "--print")
    assert back.stdout.encode() == content
