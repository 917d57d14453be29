# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A training by real runs: killed, gone on with, and a model at its end."""

from __future__ import annotations

import json
import signal

import pytest
from system_cli import start, stripewise, wait_until

from stripewise.study.training import Surface, SurfaceRole

pytestmark = pytest.mark.mpi
TRAIN = (
    "knowledge", "train", "--here", "-o", "t", "--mpi", "mpich", "--ranks", "2", "--patterns",
    "gcrm",
    "--size", "64KiB", "--repeats", "1", "--vary", "mpiio.romio_cb_write=enable,disable",
    "--vary", "mpiio.cb_nodes=2",
)  # fmt: skip


def points(directory) -> list:
    paths = [path for path in directory.glob("t/*.jsonl") if path.read_text().count("\n")]
    runs = [run for path in paths for run in Surface.load(path).runs]
    return [run for run in runs if run.role is not SurfaceRole.WARM_UP]


@pytest.mark.extended
def test_killed_and_gone_on_with(work, mpich):
    child = start(*TRAIN, cwd=work)
    wait_until(lambda: len(points(work)) >= 1, "a run")
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=60)
    child.stdout.close()
    child.stderr.close()
    known = points(work)

    done = stripewise(*TRAIN, "--json", cwd=work, more={"STRIPEWISE_MODELS": str(work / "m")})
    document = done.json()
    assert "first run" not in done.err
    assert points(work)[: len(known)] == known
    assert len(points(work)) == document["surfaces"][0]["configurations"] == 5
    assert document["way"] == "real"
    assert document["evidence"][0]["ground"].endswith("with romio")
    assert document["unfinished"] == []
    (cell,) = json.loads((work / "t" / "training.json").read_text())["cells"]
    limit = Surface.load(next(work.glob("t/*.jsonl"))).provenance["timeout_seconds"]
    assert float(limit) == pytest.approx(max(5 * cell["first_seconds"], 5), rel=1e-4)
