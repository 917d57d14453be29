# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes what the study of a job script would submit, and when it has paid for itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from stripewise.core import JobStudy, Speedup
from stripewise.present import line, number_text, plural, printable, ratio_text, seconds_text
from stripewise.study.job_scripts import JobsAhead, last_text, reach_text
from stripewise.study.plan import OutsideUse, use_text


@dataclass(frozen=True)
class Payback:
    """Cost of a study and savings by its settings.

    Attributes:
        spent_node_seconds: Node-seconds of the study.
        saved_node_seconds: Node-seconds saved by one run with the best settings; NaN if unknown,
            negative if it costs more.
        runs: Number of runs after which the study has paid for itself; None if never or unknown.
        fewest_runs / most_runs: Interval of `runs`; None if unknown or without end.
        text: The same figures in whole sentences.
    """

    spent_node_seconds: float
    saved_node_seconds: float
    runs: int | None
    fewest_runs: int | None
    most_runs: int | None
    text: str


def payback(study: JobStudy) -> Payback:
    """Compare what the study spent with what a run saves, including staging.

    The interval is based on that of the elapsed time's speed-up from pairs.  Nodes of the burst
    buffer are not counted, because they are not nodes of the job.
    """
    spent, before = study.node_seconds_spent, study.node_seconds_per_run_before
    after = study.node_seconds_per_run_after
    saved = before - after if study.best is not None else math.nan
    sentences = [f"The study spent {node_time(spent)}."]
    runs = fewest = most = None
    if study.best is None:
        found = "decided nothing" if study.left_open else "found nothing faster"
        sentences.append(f"It {found}, so its cost cannot be recovered.")
    elif not math.isfinite(saved):
        sentences.append(
            "The cost of a run is not known, so it is not known when the study pays for itself."
        )
    elif saved <= 0:
        sentences.append(_costs_more(before, after))
    elif (whole := study.elapsed_speedup) is not None and whole.low <= study.node_share:
        sentences.append(_noise(whole, saved))
    else:
        runs = _runs(spent, saved)
        fewest, most = _interval(study, saved)
        sentences.append(
            f"One run of the job takes {node_time(after)} instead of {node_time(before)}."
        )
        sentences.append(_paid(runs, fewest, most, study.elapsed_speedup))
    sentences += _staging(study)
    return Payback(spent, saved, runs, fewest, most, " ".join(sentences))


def node_time(node_seconds: float) -> str:
    """Format the use of nodes: "12.3 node-hours", below a tenth of an hour "41 node-seconds"."""
    if not math.isfinite(node_seconds):
        return "an unknown number of node-hours"
    if abs(node_seconds) < 360:
        return f"{number_text(node_seconds)} node-seconds"
    return f"{number_text(node_seconds / 3600)} node-hours"


def _runs(spent: float, saved: float) -> int:
    return max(1, math.ceil(spent / saved - 1e-9)) if spent > 0 else 0


def _interval(study: JobStudy, saved: float) -> tuple[int | None, int | None]:
    """Return the fewest and the most runs, from the ends of the elapsed time's speed-up."""
    speedup = study.elapsed_speedup
    if speedup is None or not (math.isfinite(speedup.low) and math.isfinite(speedup.high)):
        return None, None
    share = 1.0
    if study.runs and study.runs[0].ok:  # settings do not make staging faster
        first = study.runs[0]
        whole = first.elapsed_seconds + first.staging_seconds
        share = first.elapsed_seconds / whole if 0 < whole < math.inf else 1.0
    step = study.node_seconds_per_run_before * share * study.node_share
    most_saved, least_saved = (
        saved + step * (1 / speedup.median - 1 / bound) for bound in (speedup.high, speedup.low)
    )
    fewest = _runs(study.node_seconds_spent, most_saved) if most_saved > 0 else None
    most = _runs(study.node_seconds_spent, least_saved) if least_saved > 0 else None
    return fewest, most


def _paid(runs: int, fewest: int | None, most: int | None, speedup: Speedup | None) -> str:
    text = f"The study pays for itself after {plural(runs, 'run')}"
    if fewest is None or speedup is None:
        return f"{text}; this comes from single runs, so it has no interval."
    level = f"{100 * speedup.confidence:.0f} %"
    if most is None:
        return f"{text}; at the lower end of the {level} interval it never does."
    if fewest == most:
        return f"{text}, at both ends of the {level} interval."
    return f"{text} ({fewest} to {most}, from the {level} interval of the speed-up)."


def _costs_more(before: float, after: float) -> str:
    return (
        f"One run of the job with the best settings takes {node_time(after)}, without them"
        f" {node_time(before)}: its I/O is faster, but no node-hours are saved, and the study does"
        " not pay for itself."
    )


def _noise(speedup: Speedup, saved: float) -> str:
    bounds = f"{ratio_text(speedup.low)}x and {ratio_text(speedup.high)}x"
    return (
        f"One run of the job saves {node_time(saved)}, which is less than the noise: the speed-up"
        f" of the whole run lies between {bounds}, so it cannot be said whether the study pays"
        " for itself."
    )


def _staging(study: JobStudy) -> list[str]:
    best = study.best_run
    if best is None or (best.stage_in_seconds is None and best.stage_out_seconds is None):
        return []
    parts = [
        f"{name} {seconds_text(seconds)}"
        for name, seconds in (
            ("stage-in", best.stage_in_seconds),
            ("stage-out", best.stage_out_seconds),
        )
        if seconds is not None
    ]
    return [f"Staging is counted as part of the run ({', '.join(parts)})."]


# The jobs that a study of a job script would submit, as text and as JSON.


def job_plan_to_json(plan: JobsAhead) -> dict[str, Any]:
    """Return the plan as a JSON document."""
    return {"dry_run": True, **asdict(plan)}


def job_plan_lines(plan: JobsAhead) -> Iterator[str]:
    """Yield the lines of the plan."""
    yield line("job script", f"{plan.script}, launch line {plan.step}: {_one_line(plan.line)}")
    yield line("burst buffer", _burst_buffer(plan))
    if len(plan.rungs) > 1:
        yield line("rungs", _reach(plan))
    how = "many runs in each allocation" if plan.shared else "a job for each run"
    limit = _minutes(plan.allocation_seconds)
    yield line("jobs", f"{plural(plan.nodes, 'compute node')}, {how}, time limit {limit}")
    runs = f"{plan.least_runs} to {plan.most_runs}"
    if plan.most_runs is None:
        limit = "time limit" if plan.budget is None else "budget"
        runs = f"{plan.least_runs} or more, as many as fit into the {limit}"
    yield line("runs", runs)
    yield line("cost", _cost(plan))
    if plan.budget is not None:
        yield line("budget", f"{plan.budget:g} node-hours")
    yield from outside_lines(plan.outside, plan.allow, plan.warnings, "tune")
    yield " nothing was submitted"


def _burst_buffer(plan: JobsAhead) -> str:
    if not plan.bb_nodes or plan.tier == "none":
        return "none here; the settings of MPI-IO are tried"
    where = f" in pool {plan.pool}" if plan.pool else ""
    numbers = ", ".join(map(str, plan.bb_nodes))
    return f"{plan.tier}{where}; numbers of nodes to try: {numbers}"


def outside_lines(
    uses: Iterable[OutsideUse], allow: str, warnings: Iterable[str], command: str
) -> Iterator[str]:
    """Yield lines on what runs would do to the user's own files, and what is unknown about it.

    Args:
        uses: Known effects.
        allow: Options that would allow all of them; empty if they are allowed.
        warnings: Warnings for the user.
        command: Stripewise command that accepts the options.
    """
    for use in uses:
        yield line("outside", f"{use_text(use)}{', as allowed' if use.allowed else ''}")
    if allow:
        yield line("to allow this", f"{allow}; {command} refuses to begin without it")
    yield from (line("warning", text) for text in warnings)


def _cost(plan: JobsAhead) -> str:
    """Return what the runs cost at most, and how this was computed."""
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
    """Return how many numbers of burst-buffer nodes the trials reach, if it is known."""
    if plan.trials is not None:
        return reach_text(plan.rungs, plan.trials)
    how_many = "how many trials the budget holds is not known before the baseline"
    return f"{plural(len(plan.rungs), 'rung')}; {last_text(plan.rungs)}; {how_many}"


def _one_line(text: str) -> str:
    """Return a multi-line text of a script on one line."""
    return printable(" ".join(text.replace("\\\n", " ").split()))


def _minutes(seconds: float | None) -> str:
    return "as the partition has it" if seconds is None else f"{seconds / 60:g} min"
