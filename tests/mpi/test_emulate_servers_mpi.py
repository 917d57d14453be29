# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Servers of an emulated storage under MPI programs: each byte of each rank is counted once."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from runtime_harness import FAMILIES, program, require, run

from emulated_machine import LUSTRE, Machine, counters
from stripewise.storage.emulation import read_servers

pytestmark = pytest.mark.mpi

BLOCK, BLOCKS = 48 << 10, 8
TARGETS, STRIPE = 5, 64 << 10


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    require(f"mpicc.{request.param}", f"mpiexec.{request.param}", "cmake")
    return str(request.param)


def of_targets(first: int, size: int) -> dict[int, int]:
    """Bytes at each target of a file of three stripes that is written once."""
    found: Counter[int] = Counter()
    for offset in range(0, size, STRIPE):
        found[(first + offset // STRIPE % 3) % TARGETS] += min(STRIPE, size - offset)
    return dict(found)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("mode", ["independent", "collective", "at", "nonblocking"])
def test_each_target_has_the_bytes_of_its_stripes(family: str, tmp_path: Path, mode: str) -> None:
    machine = Machine({}, targets=TARGETS, stripe_count=3, stripe_size=STRIPE, flags=LUSTRE)
    work = tmp_path / "work"
    work.mkdir()
    mapping = tmp_path / "mapping"
    machine.write(mapping, work)
    for job in ("100", "101"):
        once = "romio_ds_write=disable"  # sieving writes what lies between as well
        words = [f"out.{job}", mode, str(BLOCK), str(BLOCKS), once]
        extra = {"STRIPEWISE_EMULATE": str(mapping), "SLURM_JOB_ID": job}
        assert run(family, 3, [program(family, "strided.c"), *words], work, extra=extra).code == 0
    servers = read_servers(mapping)
    assert {"100", "101"} <= servers.jobs.keys()
    size = 3 * BLOCK * BLOCKS
    for job in ("100", "101"):
        text = os.getxattr(work / f"out.{job}", "user.stripewise.layout").decode()
        first = int(text.split()[2])
        found = {
            number: one.writes.size_bytes.total
            for number, one in servers.jobs[job].targets.items()
            if one.writes.samples
        }
        assert found == of_targets(first, size), f"{job}: {text}"
    written = sum(one.writes.size_bytes.total for one in servers.targets)
    read = sum(one.reads.size_bytes.total for one in servers.targets)
    seen = counters(mapping)
    assert (written, read) == (seen["written_bytes"], seen["read_bytes"])
    assert read >= 2 * size
