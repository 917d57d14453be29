# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5's own answers on its transfers, as the program itself gets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_harness import FAMILIES, program, require, run
from stacks import CASE_OF_HDF5_2, tool

from stripewise.evidence.trace import N_CAUSES, N_MODES

pytestmark = pytest.mark.mpi

CALLS, RANKS = 4, 2
ELEMENTS = 8 * 64
CASES = (
    "plain",
    "independent",
    "mixed",
    "floats",
    "swapped",
    "members",
    "points",
    "chunks",
    "deflate",
    "compact",
    "transform",
)


@pytest.fixture(params=[*FAMILIES, CASE_OF_HDF5_2])
def stack(request: pytest.FixtureRequest) -> str:
    require("cmake")
    tool(request.param, "mpicc")
    tool(request.param, "mpiexec")
    return str(request.param)


def answers(text: str) -> tuple[list[int], list[int], list[int]]:
    """Numbers of modes, and of local and global causes, that the program printed.

    Transfers that it did not request to be collective do not count.
    """
    rows = np.array([line.split() for line in text.splitlines()], np.int64)
    rows = rows[(rows[:, 3] & 1) == 0]
    bits = np.arange(N_CAUSES)
    modes = np.bincount(rows[:, 2], minlength=N_MODES).tolist()
    local, every = (((rows[:, at, None] >> bits) & 1).sum(axis=0).tolist() for at in (3, 4))
    return modes, local, every


def total(rows: Any, name: str) -> Any:
    return rows[name].sum(axis=0).tolist()


@pytest.mark.extended(keep=3)
@pytest.mark.parametrize("case", CASES)
def test_answers_are_the_programs(stack: str, case: str, tmp_path: Path) -> None:
    ran = run(stack, RANKS, [program(stack, "h5answers.c"), "out.h5", case], tmp_path)
    assert (ran.code, ran.err) == (0, "")
    rows = ran.profile.transfers
    assert sorted(rows["rank"].tolist()) == [0, 1]
    assert {ran.profile.datasets[row["dataset"]] for row in rows} == {"/q"}
    assert {Path(ran.profile.paths[row["file"]]).name for row in rows} == {"out.h5"}
    assert rows["writes"].all()
    calls = CALLS * RANKS
    share = {"independent": 0, "mixed": calls // 2}.get(case, calls)
    assert total(rows, "count") == total(rows, "compared") == calls
    assert total(rows, "collective") == total(rows, "answered") == share
    modes, local, every = answers(ran.out)
    assert total(rows, "modes") == modes
    assert total(rows, "local_causes") == local
    assert total(rows, "global_causes") == every
    assert (total(rows, "independent_seconds") > 0) == (modes[0] + modes[1] > 0)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("case", ["plain", "floats", "swapped", "members"])
def test_types_are_compared(stack: str, case: str, tmp_path: Path) -> None:
    ran = run(stack, RANKS, [program(stack, "h5answers.c"), "out.h5", case], tmp_path)
    rows, calls = ran.profile.transfers, CALLS * RANKS
    moved = calls * ELEMENTS * (4 if case == "floats" else 8)
    assert total(rows, "bytes") == moved
    values, members = case in ("floats", "swapped"), case == "members"
    assert total(rows, "converted") == (calls if values else 0)
    assert total(rows, "converted_bytes") == (moved if values else 0)
    assert total(rows, "members") == (calls if members else 0)
    assert total(rows, "members_bytes") == (moved if members else 0)
    assert set(rows["element_bytes"].tolist()) == {24 if members else 8}
    assert (total(rows, "converted_seconds") > 0) == values
    assert (total(rows, "members_seconds") > 0) == members


@pytest.mark.extended(keep=1)
def test_many_datasets_share_a_record(stack: str, tmp_path: Path) -> None:
    """At most 32 records of a process have the name of a dataset."""
    ran = run(stack, 1, [program(stack, "h5many.c"), "out.h5", "50"], tmp_path)
    assert (ran.code, ran.err) == (0, "")
    rows = ran.profile.transfers
    names = [ran.profile.datasets[row["dataset"]] for row in rows]
    assert len(names) == 33
    assert names.count("") == 1
    assert total(rows, "count") == 50
    assert rows["count"][names.index("")] == 50 - 32


@pytest.mark.extended(keep=1)
def test_what_nested_calls_cost_is_measured(stack: str, tmp_path: Path) -> None:
    ran = run(stack, RANKS, [program(stack, "h5answers.c"), "out.h5", "scattered"], tmp_path)
    ranks = ran.profile.processes[ran.profile.processes["rank"] >= 0]
    samples = ranks["own_samples"].sum(axis=1)
    assert (samples > 0).all()
    assert (ranks["own_ns"].sum(axis=1) <= 10_000 * samples).all()
    assert (ranks["own_ns"].sum(axis=1) > 0).all()
