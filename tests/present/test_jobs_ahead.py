# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stripewise.core import RungAhead
from stripewise.study.job_scripts import JobsAhead
from stripewise.study.report import job_plan_lines, job_plan_to_json

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


RUNGS = (RungAhead(2, 1, 1), RungAhead(4, 6, 23))


def test_how_many_rungs_the_trials_reach() -> None:
    lines = list(job_plan_lines(replace(PLAN, trials=10, rungs=RUNGS)))
    assert lines[2] == (
        " rungs           10 trials are likely to reach 1 to 2 of 2 rungs (2, 4 burst-buffer "
        "nodes); the last one begins with trial 6 to 23"
    )
    assert list(job_plan_lines(replace(PLAN, trials=10, rungs=RUNGS[:1]))) == [
        *lines[:2],
        *lines[3:],
    ]
    document = job_plan_to_json(replace(PLAN, trials=10, rungs=RUNGS))
    assert document["trials"] == 10
    assert document["rungs"][1] == {"nodes": 4, "fewest_trials": 6, "most_trials": 23}


@pytest.mark.parametrize(
    ("more", "runs", "cost"),
    [
        (
            {"most_runs": None, "node_hours": 40.0},
            "14 or more, as many as fit into the budget",
            "at most 40 node-hours, the budget; a run takes at most 2 node-hours",
        ),
        (
            {"node_hours": 40.0},
            "14 to 50",
            "at most 40 node-hours, the budget; a run takes at most 2 node-hours",
        ),
        (
            {"most_runs": None, "node_hours": 40.0, "run_seconds": None},
            "14 or more, as many as fit into the budget",
            "at most 40 node-hours, the budget",
        ),
        (
            {"most_runs": None, "node_hours": None, "budget": None},
            "14 or more, as many as fit into the time limit",
            "not known before the baseline; a run takes at most 2 node-hours",
        ),
        (
            {"node_hours": None, "budget": None, "run_seconds": None},
            "14 to 50",
            "not known: the script has no time limit",
        ),
    ],
)
def test_what_limits_runs_and_cost(more, runs, cost) -> None:
    lines = list(job_plan_lines(replace(PLAN, **more)))
    assert lines[3:5] == [f" runs            {runs}", f" cost            {cost}"]


def test_a_budget_holds_trials_that_nobody_knows_yet() -> None:
    lines = list(job_plan_lines(replace(PLAN, rungs=RUNGS)))
    assert lines[2].startswith(" rungs           2 rungs; the last one begins with trial 6 to 23;")
    assert "how many trials the budget holds is not known" in lines[2]


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
