# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

from stripewise.evidence.trace import Evidence, RunProfile, relocated, relocated_profile

BUFFER, WORK = Path("/bb/run-1"), Path("/home/u/runs/1")


def test_names_are_as_if_the_run_had_worked_elsewhere() -> None:
    paths = ("/bb/run-1/out.dat", "/bb/run-1", "/bb/run-10/x", "/etc/bb/run-1/x", "")
    profile = RunProfile("test", paths=paths, directories=("/bb/run-1/d\udce9", ""))
    moved = relocated_profile(profile, BUFFER, WORK)
    assert moved.paths == (f"{WORK}/out.dat", str(WORK), *paths[2:])
    assert moved.directories == (f"{WORK}/d\udce9", "")
    assert relocated_profile(moved, WORK, BUFFER).paths == paths


def test_evidence_without_a_trace() -> None:
    evidence = Evidence(RunProfile("test", paths=("/bb/run-1/a",)))
    moved = relocated(evidence, BUFFER, WORK)
    assert moved.profile.paths == (f"{WORK}/a",)
    assert (moved.trace, moved.accesses) == (None, ())
