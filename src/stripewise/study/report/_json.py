# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the result of a study, and of a job script's study, as one JSON document."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from stripewise.core import (
    Configuration,
    JobStudy,
    RunEntry,
    RungRun,
    Speedup,
    StudyResult,
    Trial,
    to_json,
    with_unknown,
)
from stripewise.present import finite, printable
from stripewise.settings import configuration_document
from stripewise.study.report._digest import (
    Digest,
    baseline_figures,
    best_figures,
    case_results,
    digest,
    is_verified,
    unsynced_figures,
)
from stripewise.study.report._job_conclusions import conclusions
from stripewise.study.report._job_cost import payback

FORMAT_VERSION = 2
_SURROGATE = re.compile("[\ud800-\udfff]")


def result_to_json(result: StudyResult, job: JobStudy | None = None) -> dict[str, Any]:
    r"""Convert a study's result to plain data that is always valid JSON.

    Unknown or infinite numbers are null; bytes that are not UTF-8 are shown as `\xNN`.  If nothing
    improved, `best` equals `baseline` and the speed-up is 1 without an interval.  `job` is only
    present for the study of a job script.
    """
    winner = result.winner if result.improved else None
    document = {
        "version": FORMAT_VERSION,
        "command": list(result.command),
        "directory": result.directory,
        "result": result.outcome,
        **_outcome(result),
        "configuration": configuration_document(
            winner.configuration if winner else Configuration()
        ),
        "settings": dict(winner.settings) if winner else {},
        "trials": [_trial(trial) for trial in result.trials],
        "verification": {
            **to_json(result.verification),
            "rejected": [
                {"trial": number, **to_json(found)} for number, found in result.rejected.items()
            ],
        },
        "stopped_because": result.stopped_because,
        "left_open": result.left_open,
        "price": {**asdict(result.price), "ratio": result.price.ratio},
        "decisions": [asdict(decision) for decision in result.decisions],
        "warnings": list(result.warnings),
        "searched": {name: list(values) for name, values in result.searched.items()},
        "left_out": dict(result.left_out),
        "runs": [_run(entry) for entry in result.runs],
        "provenance": dict(result.provenance),
        "storage": {
            "name": result.emulated
            or result.provenance.get("described", "")
            or result.provenance.get("storage", ""),
            "emulated": bool(result.emulated),
        },
        "cases": [
            {
                "name": case.name,
                "command": list(case.command),
                "weight": case.weight,
                "outcome": case.outcome.value,
                **_outcome(view),
                "verification": to_json(case.verification),
                "tunables": list(case.tunables),
            }
            for case, view in zip(result.cases, case_results(result), strict=False)
        ],
    }
    if job is not None:
        document["job"] = job_to_json(job)
    clean: dict[str, Any] = _plain(document)
    return clean


def _figures(figures: Digest) -> dict[str, Any]:
    known = figures.n_runs > 0
    return {
        "seconds": figures.seconds,
        "io_seconds": figures.amount("io_seconds").value,
        "bytes": figures.amount("total_bytes").value if known else None,
        "bandwidth_bytes_per_second": figures.bandwidth_bytes_per_second,
        "missing": dict(figures.missing),
        "runs": figures.n_runs,
        "spread": {
            "io_seconds_minimum": figures.io_seconds_minimum,
            "io_seconds_maximum": figures.io_seconds_maximum,
            "coefficient_of_variation": figures.coefficient_of_variation,
        },
    }


def _speedup(speedup: Speedup | None) -> dict[str, Any]:
    """Return a speed-up; None means that the answer is the baseline, with speed-up 1."""
    if speedup is None:
        same = Speedup(1.0, 1.0, 1.0, 0, method="identity: nothing is changed")
        return {**asdict(same), "confidence": None}
    return asdict(speedup)


def _outcome(view: StudyResult) -> dict[str, Any]:
    """Return the result of a study or of one case; without improvement `best` is `baseline`."""
    improved, unsynced = view.improved, unsynced_figures(view)
    return {
        "baseline": _figures(baseline_figures(view)),
        "best": _figures(best_figures(view)),
        "speedup": _speedup(view.speedup if improved else None),
        "whole_program_speedup": _speedup(view.elapsed_speedup if improved else None),
        "candidate": _candidate(view),
        "verified": is_verified(view),
        "unsynced": unsynced and {name: _figures(one) for name, one in unsynced.items()},
        "resolution": view.resolution,
        "facts": with_unknown(asdict(view.facts), view.facts),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    figures = digest(trial.measurements)
    return {
        "number": trial.number,
        "settings": dict(trial.settings),
        "state": trial.state.value,
        "io_seconds": figures.amount("io_seconds").value,
        "seconds": figures.seconds,
        "speedup": _times_faster(trial.io_ratio),
        "message": trial.message,
        "runs": len(trial.measurements),
        "case_speedups": {name: _times_faster(ratio) for name, ratio in trial.case_ratios.items()},
        "class_speedups": {
            name: _times_faster(ratio) for name, ratio in trial.class_ratios.items()
        },
    }


def _times_faster(ratio: float) -> float | None:
    """Return the speed-up of an I/O time that is `ratio` of the baseline's; None if unknown."""
    return 1 / ratio if math.isfinite(ratio) and ratio > 0 else None


def _candidate(result: StudyResult) -> dict[str, Any] | None:
    if result.winner is None or result.speedup is None:
        return None
    return {
        "trial": result.winner.number,
        "settings": dict(result.winner.settings),
        "speedup": _speedup(result.speedup),
        "whole_program_speedup": (
            _speedup(result.elapsed_speedup) if result.elapsed_speedup is not None else None
        ),
    }


def _run(entry: RunEntry) -> dict[str, Any]:
    found: dict[str, Any] = to_json(replace(entry.measurement, files=(), mpiio=()))
    del found["files"], found["mpiio"]
    return {
        "seconds": found.pop("elapsed_seconds"),
        **with_unknown(found, entry.measurement),
        "role": entry.role.value,
        "trial_number": entry.trial_number,
        "pair_number": entry.pair_number,
        "case": entry.case,
    }


def _plain(value: object) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return printable(value) if _SURROGATE.search(value) else value
    if isinstance(value, Mapping):
        return {str(_plain(str(key))): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


# The study of a job script as the key `job` of the document.


def job_to_json(study: JobStudy) -> dict[str, Any]:
    """Convert to plain data; unknown or infinite numbers are null."""
    paid = payback(study)
    document = {
        "script": study.script,
        "step": study.step,
        "best": study.best,
        "speedups": {name: asdict(speedup) for name, speedup in study.speedups.items()},
        "node_seconds": {
            "spent": study.node_seconds_spent,
            "per_run_before": study.node_seconds_per_run_before,
            "per_run_after": study.node_seconds_per_run_after,
        },
        "paid_after": {
            "runs": paid.runs,
            "low": paid.fewest_runs,
            "high": paid.most_runs,
            "text": paid.text,
        },
        "jobs": study.n_jobs,
        "queue_seconds": None,  # part of the schema, but never measured
        "controller_requests": study.controller_requests,
        "hints": study.hints,
        "hints_lost": list(study.hints_lost),
        "mpiio": [asdict(figure) for figure in study.mpiio],
        "conclusions": conclusions(study),
        "runs": [_rung(run) for run in study.runs],
    }
    clean: dict[str, Any] = finite(document)
    return clean


def _rung(run: RungRun) -> dict[str, Any]:
    names = {"elapsed_seconds": "seconds", "io_ratio": "speedup"}
    found = {names.get(name, name): value for name, value in to_json(run).items()}
    return found | {"speedup": _times_faster(run.io_ratio)}
