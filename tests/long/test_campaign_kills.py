# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign that is killed again and again loses no case, repeats none, and leaves nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from stripewise.bench.campaign import find_suite
from stripewise.bench.running import read_directory
from stripewise.run.runtime import find_runtime
from support.amounts import share_of

KILLS = 20
REPEATS = share_of(24, 6)
"""So many that a fast host is still at work at the last kill."""
SUITE = f"""
version = 1
name = "kills"
title = "Small cases"
repeats = {REPEATS}

[directories]
one = {{ stripe_count = 1 }}
all = {{ stripe_count = -1 }}

[all]
rank_size = "1 MiB"
directory = ["one", "all"]
operation = "write-read"

[[case]]
series = "file per process"
layout = "per-process"
ranks_per_node = [1, 2]

[[case]]
series = "shared"
ranks_per_node = [1, 2]
"""


@pytest.mark.long
@pytest.mark.mpi
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_kills_lose_and_repeat_no_case(tmp_path: Path, seed: int) -> None:
    if not find_runtime().kernels:
        pytest.fail("no kernel is built: install an MPI, then `stripewise doctor build`")
    (tmp_path / "kills.toml").write_text(SUITE)
    chance = random.Random(seed)
    words = ["kills.toml", "--on", "archer2-hdd@1/128", "--seed", str(seed)]
    kills = share_of(KILLS, 3)
    for _ in range(kills):
        process = _begin(tmp_path, *words)
        time.sleep(chance.uniform(0.4, 2.2))
        assert process.poll() is None, "it ended before it was killed: make more repeats"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if (tmp_path / "kills.campaign" / "journal.jsonl").exists():
            words = ["--resume"]
    done = _begin(tmp_path, *words)
    assert done.wait(600) == 0
    campaign = read_directory(tmp_path / "kills.campaign")
    planned = {(case.key, n) for case in campaign.suite.cases for n in range(1, REPEATS + 1)}
    made = Counter((run.key, run.repeat) for run in campaign.runs)
    assert campaign.ended_because == "all runs are made"
    assert set(made) == planned
    assert set(made.values()) == {1}
    assert {run.status for run in campaign.runs} == {"ok"}
    assert len(campaign.suite.cases) == len(find_suite(str(tmp_path / "kills.toml")).cases)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kills.campaign", "kills.toml"]


def _begin(directory: Path, *words: str) -> subprocess.Popen[bytes]:
    program = "from stripewise.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, "bench", "run", *words],
        cwd=directory,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
