# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated requests of stacks with several files are the real ones: POSIX and ADIOS2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from capture_harness import captured as captured_there
from kernel_builds import kernel_in_root
from stacks import ADIOS2_2_12

from stripewise.evidence.trace import IoLayer, Op, expand
from stripewise.storage.simulation import workload_from_kernel
from stripewise.storage.stacks import Layout, Setup, Workload, find_stack
from support.real_requests import Cell, captured
from support.stack_workloads import pattern_of

pytestmark = pytest.mark.mpi

Told = tuple[int, int, int, int, bool]
"""Rank, number of the file, offset, size, writing."""

BLOCKS = ((8, 16, 17), (2, 2, 1))
ODD = ((15, 16, 17), (4, 1, 1))
SEVEN = ((14, 16, 17), (7, 1, 1))


def _real(where: Path, size, grid, options) -> list[Told]:
    place = ["--size", ",".join(map(str, size)), "--grid", ",".join(map(str, grid))]
    return _told(where, size, grid, ["array3d", *place, *options])


def _told(where: Path, size, grid, words) -> list[Told]:
    words = ["--halo", "0", "--open-once", "--file", "data.dat", "--pattern", *words]
    if "adios2" in words:
        kernel = kernel_in_root(ADIOS2_2_12)
        ranks = int(np.prod(grid))
        trace = captured_there(kernel.family, ranks, [kernel.program, *words], where, mode="all")
    else:
        trace = captured(Cell("ompio", size, grid), words, where)
    names = {number: _file_number(path) for number, path in enumerate(trace.paths)}
    return sorted(
        (int(row["rank"]), names[int(row["file"])], int(row["offset"]), int(row["bytes"]),
         bool(row["op"] == Op.WRITE))
        for row in expand(trace)
        if row["layer"] == IoLayer.POSIX and row["op"] in (Op.READ, Op.WRITE)
        and names.get(int(row["file"]), -1) >= 0
    )  # fmt: skip


def _file_number(path: str) -> int:
    """data.dat, data.dat.000003, data.dat.node000001, data.dat/data.2; -1: no data file."""
    found = re.search(r"data\.dat(?:\.(?:node)?(\d{6})|/data\.(\d+))?$", path)
    return int(found[1] or found[2] or 0) if found else -1


def _simulated(stack: str, size, grid, node_ranks=0, settings=None, **other) -> list[Told]:
    pattern = pattern_of(size, grid, rule="even", **other)
    ranks = pattern.n_ranks
    per_node = node_ranks or ranks
    patterns = (pattern,)
    work = Workload(patterns, -(-ranks // per_node), per_node)
    return _table(stack, work, settings or {})


def _table(stack: str, work: Workload, settings) -> list[Told]:
    found = find_stack(stack).requests(work, Setup(Layout(1, 1 << 20, 1), settings))
    return sorted(
        (int(row["rank"]), int(row["file"]), int(row["offset"]), int(row["size"]),
         bool(row["writing"]))
        for row in found
    )  # fmt: skip


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("stack", "options", "place", "other"),
    [
        ("posix-process", ["--layout", "per-process", "--steps", "2"], BLOCKS, {"steps": 2}),
        ("posix-node", ["--layout", "per-node", "--node-ranks", "2", "--steps", "2"], BLOCKS,
         {"steps": 2, "node_ranks": 2}),
        ("posix-shared", ["--steps", "2"], BLOCKS, {"steps": 2}),
        ("posix-serial", ["--mode", "serial"], ((4, 512, 640), (1, 2, 2)), {}),
    ],
)  # fmt: skip
def test_posix(stack, options, place, other, tmp_path):
    real = _real(tmp_path, *place, ["--backend", "posix", *options])
    assert real == _simulated(stack, *place, **other)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    ("stack", "nodes", "options"),
    [
        ("posix-node", 2, ["--backend", "posix", "--layout", "per-node", "--node-ranks", "2"]),
        pytest.param("adios2", 1, ["--backend", "adios2"], marks=pytest.mark.roots),
    ],
)
def test_several_variables(stack, nodes, options, tmp_path):
    words = "vpic --local 1000 --steps 2"
    real = _told(tmp_path, (4, 1, 1), (4, 1, 1), [*words.split(), *options])
    work = workload_from_kernel(words, nodes, 4 // nodes)
    assert real == _table(stack, work, {})


@pytest.mark.roots
@pytest.mark.parametrize(
    ("place", "parameters", "steps", "op"),
    [
        (BLOCKS, {}, 1, "write"),
        (SEVEN, {"NumAggregators": 3}, 1, "write"),
        (SEVEN, {"NumAggregators": 5, "NumSubFiles": 2}, 2, "write"),
        (ODD, {"StripeSize": 10000, "NumAggregators": 2}, 2, "write-read"),
        (SEVEN, {"AggregatorRatio": 2, "AggregationType": "EveryoneWrites"}, 2, "write"),
        (((8, 64, 64), (2, 2, 1)), {"MaxShmSize": 70000}, 1, "write"),
    ],
)  # fmt: skip
def test_adios2(place, parameters: Mapping[str, int | str], steps, op, tmp_path):
    options = ["--backend", "adios2", "--engine", "BP5", "--steps", str(steps), "--op", op]
    for name, value in parameters.items():
        options += ["--parameter", f"{name}={value}"]
    real = _real(tmp_path, *place, options)
    settings = {f"adios2.{name}": value for name, value in parameters.items()}
    simulated = []
    for writing in [True, False] if op == "write-read" else [True]:
        simulated += _simulated("adios2", *place, settings=settings, steps=steps, writing=writing)
    assert real == sorted(simulated)
