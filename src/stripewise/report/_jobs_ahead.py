# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a study of a job script would submit, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from stripewise.strategies import last_text, reach_text
from stripewise.study import JobsAhead, OutsideUse, use_text
from stripewise.text import plural, printable


def job_plan_to_json(plan: JobsAhead) -> dict[str, Any]:
    """Return the plan as a JSON document."""
    return {"dry_run": True, **asdict(plan)}


def job_plan_lines(plan: JobsAhead) -> Iterator[str]:
    """Yield the lines of the plan."""
    yield f" job script      {plan.script}, launch line {plan.step}: {_one_line(plan.line)}"
    where = f" in pool {plan.pool}" if plan.pool else ""
    if plan.bb_nodes and plan.tier != "none":
        numbers = ", ".join(map(str, plan.bb_nodes))
        yield f" burst buffer    {plan.tier}{where}; numbers of nodes to try: {numbers}"
    else:
        yield " burst buffer    none here; the settings of MPI-IO are tried"
    if len(plan.rungs) > 1:
        yield f" rungs           {_reach(plan)}"
    how = "many runs in each allocation" if plan.shared else "a job for each run"
    limit = _minutes(plan.allocation_seconds)
    yield f" jobs            {plural(plan.nodes, 'compute node')}, {how}, time limit {limit}"
    if plan.most_runs is not None:
        yield f" runs            {plan.least_runs} to {plan.most_runs}"
    else:
        limit = "time limit" if plan.budget is None else "budget"
        yield f" runs            {plan.least_runs} or more, as many as fit into the {limit}"
    yield f" cost            {_cost(plan)}"
    if plan.budget is not None:
        yield f" budget          {plan.budget:g} node-hours"
    yield from outside_lines(plan.outside, plan.allow, plan.warnings, "tune")
    yield " nothing was submitted"


def outside_lines(
    uses: Iterable[OutsideUse], allow: str, warnings: Iterable[str], command: str
) -> Iterator[str]:
    """Yield the lines on what runs would do to the user's own files, and on what is not known.

    Args:
        uses: As far as it is known.
        allow: Options that would allow all of it; "": it is allowed.
        warnings: For the user.
        command: Of Stripewise, that asks for the options.
    """
    for use in uses:
        yield f" outside         {use_text(use)}{', as allowed' if use.allowed else ''}"
    if allow:
        yield f" to allow this   {allow}; {command} refuses to begin without it"
    for text in warnings:
        yield f" warning         {text}"


def _cost(plan: JobsAhead) -> str:
    """Say what the runs cost at most, and where that is from."""
    one = None
    if plan.run_seconds is not None:
        one = f"{plan.nodes * plan.run_seconds / 3600:.3g} node-hours"
    if plan.node_hours is None:
        return (
            "not known: the script has no time limit"
            if one is None
            else (f"not known before the baseline; a run takes at most {one}")
        )
    most = f"at most {plan.node_hours:.3g} node-hours"
    if plan.most_runs is None or plan.node_hours == plan.budget:
        return f"{most}, the budget" + ("" if one is None else f"; a run takes at most {one}")
    return f"{most}, if each run took its limit ({one})"


def _reach(plan: JobsAhead) -> str:
    """Say how many numbers of burst-buffer nodes the trials reach, as far as that is known."""
    if plan.trials is not None:
        return reach_text(plan.rungs, plan.trials)
    how_many = "how many trials the budget holds is not known before the baseline"
    return f"{plural(len(plan.rungs), 'rung')}; {last_text(plan.rungs)}; {how_many}"


def _one_line(text: str) -> str:
    """Return what a script says over several lines, for people."""
    return printable(" ".join(text.replace("\\\n", " ").split()))


def _minutes(seconds: float | None) -> str:
    return "as the partition has it" if seconds is None else f"{seconds / 60:g} min"
