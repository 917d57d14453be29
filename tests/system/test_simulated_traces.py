# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is simulated of a program's trace takes what the program takes on the emulated storage."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from system_cli import as_words, mpiexec, run, stripewise

from stripewise.run.runtime import built_program, find_runtime

DESCRIPTION = """
version = 1
name = "site"
title = "A small storage with a slow metadata server"
kind = "lustre"
stack = "romio"
[machine]
nodes = {{ value = 64, {by} }}
ranks_per_node = {{ value = 8, {by} }}
[client]
process_write = {{ value = "20 MB/s", {by} }}
process_read = {{ value = "20 MB/s", {by} }}
request = {{ value = "2 ms", {by} }}
[servers]
targets = {{ value = 4, {by} }}
target_write = {{ value = "40 MB/s", {by} }}
target_read = {{ value = "40 MB/s", {by} }}
target_request = {{ value = "4 ms", {by} }}
[locks]
revoke = {{ value = "8 ms", {by} }}
[metadata]
create = {{ value = "3 ms", {by} }}
open = {{ value = "3 ms", {by} }}
stat = {{ value = "2 ms", {by} }}
remove = {{ value = "3 ms", {by} }}
latency = {{ value = "4 ms", {by} }}
[layout]
stripe_count = {{ value = 1, {by} }}
stripe_size = {{ value = "1 MiB", {by} }}
"""

SLOWDOWN = 24
"""Slow motion, in which what a host with other work is late by is little: ranks that wait for one
another are, by 10 ms in each request."""
ATTEMPTS, COUNTED = 8, 3
"""Runs at most, and those that have to count: a host with other work may be too slow for a moment.
The least disturbed one is compared: where ranks wait for a processor or for the host's own disk,
they come in another order, in which locks change hands more often, and never less."""

MANY_FILES = """
import os
for i in range(12):
    fd = os.open(f"small{i}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, bytes(1000)); os.fsync(fd); os.close(fd); os.stat(f"small{i}")
fd = os.open("large", os.O_CREAT | os.O_RDWR)
for i in range(40): os.write(fd, bytes(4096))
for i in range(40): os.pread(fd, 16384, 4096 * (i * 7 % 36))
"""


def agreed(work: Path, program: list[str], ranks: int) -> None:
    by = 'kind = "assumed", source = "a test"'
    (work / "site.toml").write_text(DESCRIPTION.format(by=by))
    (work / "traced").mkdir()
    stripewise("run", "--trace", work / "its.trace", "--", *program, cwd=work / "traced")
    told = stripewise(
        "simulate", "--on", "site.toml", "--nodes", str(ranks), "--pattern", "its.trace", "--json",
        cwd=work,
    )  # fmt: skip
    simulated = json.loads(told.out)
    runs = _that_count(work, program) if ranks > 1 else [_rehearsed(work, program, 0, 1)]
    requests = {one["writes"] + one["reads"] for one in runs}
    assert requests == {simulated["requests"]["requests"]}
    # Of each process, without what this host was late, which a process alone does not mind.
    emulated = min(one["model_seconds"] / one["slowdown"] for one in runs) / ranks
    assert simulated["seconds"] == pytest.approx(emulated, rel=0.15)


def _that_count(work: Path, program: list[str]) -> list[dict[str, Any]]:
    runs = (_rehearsed(work, program, number, SLOWDOWN) for number in range(ATTEMPTS))
    found = list(islice((one for one in runs if one["counted"]), COUNTED))
    assert len(found) == COUNTED, "this host was too slow for the storage"
    return found


def _rehearsed(work: Path, program: list[str], number: int, slowdown: int) -> dict[str, Any]:
    place = work / f"rehearsed{number}"
    place.mkdir()
    storage = f"{work / 'site.toml'}@1/{slowdown}"
    return dict(run("--on", storage, "--", *program, cwd=place)["emulated"])


def test_many_files_and_small_records_without_mpi(work: Path) -> None:
    agreed(work, [sys.executable, "-c", MANY_FILES], 1)


@pytest.mark.extended
@pytest.mark.mpi  # ranks that wait for a processor meet otherwise at a shared file
def test_a_kernel_through_posix(work: Path, family: str) -> None:
    layout = {"mpich": "shared", "openmpi": "per-process"}[family]
    _, kernel = built_program(find_runtime(), find_runtime().kernels, "kernel", family)
    words = as_words(
        mpiexec(family), kernel, "--pattern", "array3d", "--backend", "posix", "--layout", layout,
        "--size", "16,16,64", "--steps", "8", "--op", "write-read", "--file", "out.dat",
    )  # fmt: skip
    agreed(work, words, 2)
