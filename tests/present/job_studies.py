# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Studies of job scripts, one for each way in which one can end; figures as in ExPBB's slides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from stripewise.core import JobStorage, JobStudy, MpiioFigure, RungRun, Speedup, TrialState, Value

MIB = 2**20
TOTAL_BYTES = 51_200 * MIB
BASE_SECONDS = 75.0
HINTS = (
    "export MPICH_MPIIO_HINTS='wrfi*:cb_nodes=128:striping_unit=4194304,"
    "wrfo*:cb_nodes=256:striping_unit=4194304'"
)


def rung(
    number: int,
    nodes: int,
    io_seconds: float,
    *,
    aggregators: int | None = None,
    unit: int | None = None,
    files: str = "",
    **more: Any,
) -> RungRun:
    settings: dict[str, Value] = {"job.burst_buffer_nodes": nodes} if number else {}
    if files:
        settings["job.burst_buffer_files"] = files
    if aggregators:
        settings["mpiio.cb_nodes"] = aggregators
    if unit:
        settings["mpiio.striping_unit"] = unit
    storage = JobStorage.BURST_BUFFER if nodes else JobStorage.PARALLEL_FILE_SYSTEM
    known: dict[str, Any] = {
        "storage": JobStorage.HYBRID if files else storage,
        "aggregators": aggregators or nodes or 16,
        "striping_unit_bytes": unit or 8 * MIB,
        "buffer_bytes": 16 * MIB,
        "settings": settings,
        "io_seconds": io_seconds,
        "elapsed_seconds": io_seconds + 60,
        "stage_in_seconds": 4.0 if nodes else None,
        "stage_out_seconds": 6.0 if nodes else None,
        "bandwidth_bytes_per_second": TOTAL_BYTES / io_seconds,
        "system_writes": TOTAL_BYTES // (unit or 8 * MIB) + 11,
        "io_ratio": io_seconds / BASE_SECONDS,
        "studied_file": "btio.nc",
        "reason": f"rule of run {number}",
    }
    return RungRun(number=number, nodes=nodes, **{**known, **more})


def without_figure(number: int, nodes: int, state: TrialState, **more: Any) -> RungRun:
    nothing: dict[str, Any] = {
        "io_seconds": math.nan, "elapsed_seconds": math.nan, "system_writes": 0,
        "bandwidth_bytes_per_second": math.nan, "io_ratio": math.inf, "state": state,
    }  # fmt: skip
    return replace(rung(number, nodes, 1.0, **more), **nothing)


def improved() -> JobStudy:
    """Aggregators, then the striping unit, then more nodes."""
    runs = [
        rung(0, 0, BASE_SECONDS),
        rung(1, 1, 70.0),
        *(rung(n, 1, s, aggregators=a) for n, a, s in (
            (2, 8, 40.0), (3, 16, 31.0), (4, 32, 25.0), (5, 64, 17.7), (6, 128, 19.0))),
        *(rung(n, 1, s, aggregators=64, unit=u * MIB) for n, u, s in (
            (7, 4, 16.9), (8, 2, 16.1), (9, 1, 23.6))),
        without_figure(10, 1, TrialState.FAILED, aggregators=256, reason="aggregators doubled"),
        rung(11, 2, 60.0),
        rung(12, 2, 9.0, aggregators=64, unit=2 * MIB),
        rung(13, 64, 20.0, elapsed_seconds=140.0),
        rung(14, 8, 5.5, aggregators=128, unit=2 * MIB),
    ]  # fmt: skip
    return JobStudy(
        script="run.sh",
        step=0,
        runs=tuple(runs),
        speedups={
            "parallel file system": Speedup(13.6, 12.1, 15.0, 6, method="t of log-ratios"),
            "burst buffer, 1 node, defaults": Speedup(
                70 / 5.5, math.nan, math.nan, 0, method="single runs"
            ),
        },
        best=14,
        elapsed_speedup=Speedup(2.06, 1.9, 2.2, 6),
        node_seconds_spent=8 * 1500.0,
        node_seconds_per_run_before=8 * 135.0,
        node_seconds_per_run_after=8 * 75.5,
        n_jobs=5,
        controller_requests=40,
        hints=HINTS,
    )


def no_improvement() -> JobStudy:
    return JobStudy(
        script="run.sh",
        step=1,
        runs=(rung(0, 0, BASE_SECONDS), rung(1, 1, 80.0)),
        node_seconds_spent=500.0,
        node_seconds_per_run_before=135.0,
        n_jobs=1,
        controller_requests=3,
    )


def hybrid() -> JobStudy:
    """More nodes made the whole run slower, as all ranks read a small shared file."""
    runs = (
        rung(0, 2, 30.0, elapsed_seconds=400.0, io_ratio=1.0),
        rung(1, 40, 15.0, elapsed_seconds=600.0, io_ratio=0.5),
        rung(2, 40, 14.0, files="wrfout*", elapsed_seconds=300.0, io_ratio=14 / 30),
    )
    return replace(
        improved(),
        runs=runs,
        best=2,
        speedups={"burst buffer, 2 nodes, defaults": Speedup(30 / 14, 2.0, 2.3, 6)},
        hints="",
    )


def failed() -> JobStudy:
    """Nothing but the baseline gave a figure."""
    runs = (
        rung(0, 0, BASE_SECONDS),
        without_figure(1, 1, TrialState.FAILED),
        without_figure(2, 1, TrialState.REJECTED),
        without_figure(3, 2, TrialState.LOST),
    )
    return replace(no_improvement(), runs=runs)


def nothing() -> JobStudy:
    """Not even the baseline did."""
    return JobStudy("run.sh", 0, (without_figure(0, 0, TrialState.FAILED),))


EVIL = "=cmd|' /C calc'!A0 <script>alert(1)</script>\x1b[31m\u202e\udcff.nc"


def hostile() -> JobStudy:
    """Every text is an attack."""
    study = improved()
    runs = tuple(
        replace(
            run,
            studied_file=EVIL,
            reason=EVIL,
            settings={**run.settings, f"mpiio.cb_nodes@{EVIL}": 4},
        )
        for run in study.runs
    )
    return replace(
        study,
        script=EVIL,
        runs=runs,
        speedups={EVIL: Speedup(2.0, 1.5, 2.5, 6)},
        hints=f"export MPICH_MPIIO_HINTS={EVIL}",
        hints_lost=(EVIL,),
        mpiio=(MpiioFigure(EVIL, EVIL, "B", 4096, None),),
    )


ALL = {
    "improved": improved,
    "no_improvement": no_improvement,
    "hybrid": hybrid,
    "failed": failed,
    "nothing": nothing,
    "hostile": hostile,
}
