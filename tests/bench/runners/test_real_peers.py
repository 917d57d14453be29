# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the runners, carried out: the programs take them, and their output is read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stripewise.bench import Case
from stripewise.bench.runners import Printed, find_runner
from support.peers import FAMILIES, peer

pytestmark = pytest.mark.mpi

BLOCKS = {
    "runner": "ior", "operation": "write-read", "ranks_per_node": 2, "local": "131072",
    "transfer_bytes": 262144,
}  # fmt: skip
METADATA = {"runner": "mdtest", "operation": "metadata", "files": 50, "ranks_per_node": 2}
ARRAY = {
    "runner": "benchio", "pattern": "array3d", "local": "32,64,48", "sync": False,
    "ranks_per_node": 2,
}  # fmt: skip
COLLECTIVE = {"mode": "collective"}
CASES = {
    "ior-file-per-process": {**BLOCKS, "layout": "per-process"},
    "ior-shared-direct": {**BLOCKS, "cache": "direct"},
    "ior-shared-segments": {**BLOCKS, "steps": 3, "operation": "write"},
    "ior-mpiio": {**BLOCKS, **COLLECTIVE, "backend": "mpiio"},
    "ior-mpiio-independent": {**BLOCKS, "backend": "mpiio"},
    "ior-hdf5": {**BLOCKS, **COLLECTIVE, "backend": "hdf5"},
    "ior-stonewall": {**BLOCKS, "layout": "per-process", "stonewall_seconds": 1.0},
    "mdtest-own": METADATA,
    "mdtest-shared": {**METADATA, "sharing": "shared"},
    "mdtest-tree": {**METADATA, "sharing": "shared", "depth": 2, "width": 2},
    "mdtest-small-files": {**METADATA, "file_bytes": 100, "cache": "none"},
    "mdtest-stonewall": {**METADATA, "files": 1_000_000, "stonewall_seconds": 1.0},
    "benchio-serial": {**ARRAY, "mode": "serial"},
    "benchio-proc": {**ARRAY, "layout": "per-process"},
    "benchio-node": {**ARRAY, "layout": "per-node"},
    "benchio-mpiio": {**ARRAY, **COLLECTIVE, "backend": "mpiio"},
    "benchio-hdf5": {**ARRAY, **COLLECTIVE, "backend": "hdf5"},
}


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", CASES)
def test_a_real_run(
    name: str, family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case("x", **CASES[name])  # type: ignore[arg-type]
    printed, left = run(case, family, tmp_path, monkeypatch)
    work = find_runner(case.runner).workload(case)
    for sample in printed.samples:
        assert sample.seconds > 0
        if work is not None and not sample.worn_out:
            assert sample.amount == pytest.approx(work.bytes)
    expected = {"write": {"write"}, "write-read": {"write", "read"}}.get(case.operation)
    found = {sample.operation for sample in printed.samples}
    assert found == expected if expected else found >= {"create", "stat", "read-file", "remove"}
    assert not left, "the program removes its files itself"
    if case.backend == "mpiio" and family == "mpich" and case.runner == "ior":
        assert printed.hints["romio_cb_write"]


def run(
    case: Case, family: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Printed, list[Path]]:
    """Return what was read, and the files that are left on the storage."""
    program, launcher = peer(case.runner, family)
    monkeypatch.setenv(f"STRIPEWISE_{case.runner.upper()}", str(program))
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    runner = find_runner(case.runner)
    assert runner.why_not(case) == ""
    data, record = folder / "data of the case", folder / "record"
    data.mkdir()
    record.mkdir()
    words = [launcher, "-n", str(case.ranks), *runner.command(case, data, record)]
    made = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert made.returncode == 0, made.stdout[-500:] + made.stderr[-500:]
    printed = runner.printed(case, record, made.stdout)
    return printed, [path for path in data.rglob("*") if path.is_file()]
