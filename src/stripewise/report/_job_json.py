# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The study of a job script as the key `job` of the result's document."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from stripewise.model import JobStudy, RungRun
from stripewise.report._job_payback import payback
from stripewise.report._job_words import conclusions
from stripewise.text import finite


def job_to_json(study: JobStudy) -> dict[str, Any]:
    """Convert to plain data; numbers that are unknown or infinite are null."""
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
        "queue_seconds": study.queue_seconds,
        "controller_requests": study.controller_requests,
        "hints": study.hints,
        "hints_lost": list(study.hints_lost),
        "mpiio": [asdict(figure) for figure in study.mpiio],
        "conclusions": conclusions(study),
        "runs": [_run(run) for run in study.runs],
    }
    clean: dict[str, Any] = finite(document)
    return clean


def _run(run: RungRun) -> dict[str, Any]:
    known = 0 < run.io_ratio < math.inf
    return {
        "number": run.number,
        "storage": str(run.storage),
        "nodes": run.nodes,
        "aggregators": run.aggregators,
        "striping_unit_bytes": run.striping_unit_bytes,
        "buffer_bytes": run.buffer_bytes,
        "ranks": run.ranks,
        "threads": run.threads,
        "settings": dict(run.settings),
        "io_seconds": run.io_seconds,
        "seconds": run.elapsed_seconds,
        "stage_in_seconds": run.stage_in_seconds,
        "stage_out_seconds": run.stage_out_seconds,
        "bandwidth_bytes_per_second": run.bandwidth_bytes_per_second,
        "system_writes": run.system_writes,
        "speedup": 1 / run.io_ratio if known else None,
        "state": str(run.state),
        "reason": run.reason,
        "studied_file": run.studied_file,
    }
