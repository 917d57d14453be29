# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from dataclasses import replace

from stripewise.report import job_plan_lines, job_plan_to_json
from stripewise.study import JobsAhead

PLAN = JobsAhead(
    script="run.sh",
    step=2,
    line="srun ./solve",
    nodes=4,
    tier="datawarp",
    pool="wlm_pool",
    bb_nodes=(2, 4),
    shared=True,
    allocation_seconds=5400.0,
    run_seconds=1800.0,
    most_runs=50,
    least_runs=14,
    node_hours=100.0,
    budget=40.0,
)


def test_lines() -> None:
    assert list(job_plan_lines(PLAN)) == [
        " job script      run.sh, launch line 2: srun ./solve",
        " burst buffer    datawarp in pool wlm_pool; numbers of nodes to try: 2, 4",
        " jobs            4 compute nodes, many runs in each allocation, time limit 90 min",
        " runs            14 to 50",
        " cost            at most 100 node-hours, if each run took its limit (2 node-hours)",
        " budget          40 node-hours",
        " nothing was submitted",
    ]


def test_what_is_not_known() -> None:
    plan = replace(
        PLAN, tier="none", pool="", bb_nodes=(), shared=False, allocation_seconds=None,
        run_seconds=None, node_hours=None, budget=None, warnings=("no limit",),
    )  # fmt: skip
    lines = list(job_plan_lines(plan))
    assert lines[1:] == [
        " burst buffer    none here; the settings of MPI-IO are tried",
        " jobs            4 compute nodes, a job for each run, time limit as the partition has it",
        " runs            14 to 50",
        " cost            not known: the script has no time limit",
        " warning         no limit",
        " nothing was submitted",
    ]


def test_json() -> None:
    found = json.loads(json.dumps(job_plan_to_json(PLAN)))
    assert found["dry_run"] is True
    assert found["bb_nodes"] == [2, 4]
    assert set(found) == {"dry_run", *JobsAhead.__dataclass_fields__}


def test_a_launch_line_of_several_lines_stays_one() -> None:
    first = next(job_plan_lines(replace(PLAN, line="srun \\\n  ./a\x1b[31m")))
    assert first == " job script      run.sh, launch line 2: srun ./a\\x1b[31m"
