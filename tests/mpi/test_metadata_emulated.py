# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The metadata kernel on emulated storage finds the server that is described."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from metadata_builds import metadata_kernel
from runtime_harness import run

from emulated_machine import Machine, counters
from stripewise.storage.simulation import metadata_rate
from support.storages import described

pytestmark = pytest.mark.mpi

SERVER = {
    "metadata.open": 0.006,
    "metadata.create": 0.008,
    "metadata.stat": 0.004,
    "metadata.remove": 0.005,
    "metadata.object": 0.001,
    "metadata.latency": 0.02,
}
FILES = 12
NAMES = ("create-directory", "stat-directory", "remove-directory",
         "create", "stat", "read-file", "remove")  # fmt: skip


def measured(ranks: int, tmp_path: Path, *words: str) -> tuple[dict[str, Any], dict[str, int]]:
    """What ranks find; the storage's counters."""
    kernel = metadata_kernel("openmpi")
    work = tmp_path / f"work-{ranks}"
    work.mkdir()
    mapping = tmp_path / f"mapping-{ranks}"
    Machine(SERVER).write(mapping, work)
    command = [kernel.program, "--directory", str(work), "--files", str(FILES), "--json",
               str(tmp_path / "told.json"), *words]  # fmt: skip
    extra = {"STRIPEWISE_EMULATE": str(mapping)}
    ran = run("openmpi", ranks, command, tmp_path, extra=extra)
    assert (ran.code, ran.err) == (0, "")
    told = json.loads((tmp_path / "told.json").read_text())
    return told, counters(mapping)


@pytest.mark.extended
@pytest.mark.parametrize("ranks", [1, 8])
def test_rates_are_those_of_the_description(ranks: int, tmp_path: Path) -> None:
    """One rank waits for its way to the server; eight keep the server busy."""
    told, _ = measured(ranks, tmp_path)
    storage = described({**SERVER, "layout.stripe_count": 1.0})
    assert [one["operation"] for one in told["phases"]] == list(NAMES)
    for phase in told["phases"]:
        seconds = phase["operations"] / metadata_rate(storage, phase["operation"], ranks)
        # Never sooner; the way there and back comes once, and a busy host is late.
        assert seconds * 0.97 <= phase["seconds"] <= seconds * 1.25 + 0.3
        assert phase["percentiles_seconds"]["50"] >= 0.97 * storage.value("metadata.latency")


def test_every_operation_is_asked_of_the_server(tmp_path: Path) -> None:
    operations = ("create", "stat", "read-file", "rename", "remove", "create-directory",
                  "stat-directory", "remove-directory")  # fmt: skip
    kinds = ("--sharing", "own", "--depth", "1", "--width", "2")
    _, alone = measured(1, tmp_path, "--phases", "create-directory,remove-directory", *kinds)
    _, found = measured(2, tmp_path, "--phases", ",".join(operations), *kinds)
    around = alone["metadata"] - 2 * FILES  # the marked directory, and a rank's root and tree
    of_the_other = 2 * 3 + 1  # root and two directories, made and removed; a look at the job's
    assert found["metadata"] == 2 * FILES * len(operations) + around + of_the_other
