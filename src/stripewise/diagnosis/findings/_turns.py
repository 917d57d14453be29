# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that write a shared file one after the other; needs single calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._usage import SYSTEM, FileUse
from stripewise.diagnosis._words import files_of, percent, seconds, size
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.model import IoLayer, Op
from stripewise.readers import expand

LEAST_RANKS = 4
MOST_SPREAD = 4
LEAST_CHAIN = 0.8
MOST_OVERLAP = 0.1
LEAST_CLIMB = 0.6
LEAST_STEP = 0.3
MOST_CALLS = 200_000
_ORDERED = np.dtype([("who", "<i8"), ("start", "<f8"), ("end", "<f8"), ("bytes", "<i8")])


class SerialisedWriters(Rule):
    """One rank writes at a time although all write the same file."""

    code = "serialised-writers"
    group = "balance"
    basis = (
        "time in which the ranks wrote in turns, if as many wrote at once as there are hosts, at "
        "most 4 (4 on one host; assumed)"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 4 ranks; a chain of writes without gap, or rounds that end in steps."""
        if run.trace is None:
            return
        for use in run.files:
            if use.data_ranks < LEAST_RANKS or not use.calls([Op.WRITE]).count:
                continue
            calls = _writes(run, use)
            if len(np.unique(calls["who"])) < LEAST_RANKS:
                continue
            for kind, spent in (("turns", _turns(calls)), ("steps", _steps(calls))):
                if spent > 0:
                    spread = min(MOST_SPREAD, run.n_hosts if run.n_hosts > 1 else MOST_SPREAD)
                    evidence: dict[str, float | int | str] = {
                        "ranks": len(np.unique(calls["who"])),
                        "kind": kind,
                        "share": spent / max(float(np.ptp(calls["end"])), spent),
                    }
                    cost = spent * (1 - 1 / spread)
                    moved = int(calls["bytes"].sum())
                    yield Hit(use, cost, spent, len(calls), moved, evidence, None)
                    break

    def phrase(self, told: Told) -> str:
        """Who waits for whom."""
        name = files_of(told.files, told.n_files)
        return f"{told.first.evidence['ranks']} ranks writing {name} one after the other"

    def text(self, told: Told) -> str:
        """How it was seen."""
        evidence = told.first.evidence
        seen = (
            "the next rank began when the one before had ended, and hardly two wrote at once"
            if evidence["kind"] == "turns"
            else "they began together and ended one after the other, in equal steps"
        )
        return (
            f"{evidence['ranks']} ranks wrote {size(told.bytes)} in {told.calls} independent "
            f"calls: {seen}. That took {seconds(told.stake)}, "
            f"{percent(float(evidence['share']))} of the time from the first write to the last."
        )

    def remedy(self, told: Told) -> str:
        """Without turns."""
        if told.first.evidence["kind"] == "turns":
            return (
                "Let all ranks write at once, each at its own offset. Barriers or tokens between "
                "their writes, and the shared file pointer, put them in a row."
            )
        return (
            "Make the calls collective, so that few aggregators write whole stripes. Ranks that "
            "write inside the same stripe or block wait for its lock: align each part to it."
        )


def _writes(run: Run, use: FileUse) -> NDArray[Any]:
    """Independent writes of a file nearest to the system, by start: (n,) `_ORDERED`."""
    assert run.trace is not None
    rows = run.trace.rows
    mine = rows[(rows["file"] == use.index) & (rows["op"] == Op.WRITE) & (rows["bytes"] > 0)]
    for layers in (SYSTEM, (IoLayer.MPIIO,), (IoLayer.HDF5, IoLayer.PNETCDF)):
        chosen = mine[np.isin(mine["layer"], layers)]
        if len(chosen):
            break
    chosen = chosen[np.cumsum(chosen["count"]) <= MOST_CALLS]
    calls = expand(run.trace, chosen)
    found = np.zeros(len(calls), _ORDERED)
    found["who"] = np.where(calls["rank"] >= 0, calls["rank"], calls["process"])
    found["start"] = calls["start_ns"] * 1e-9
    found["end"] = found["start"] + calls["duration_ns"] * 1e-9
    found["bytes"] = calls["bytes"]
    return np.sort(found, order="start")


def _turns(calls: NDArray[Any]) -> float:
    """Seconds of a chain of writes that hardly overlap and leave hardly a gap; 0: none."""
    span = float(calls["end"].max() - calls["start"].min())
    reached = np.maximum.accumulate(calls["end"])
    begins = np.concatenate([calls["start"][:1], np.maximum(calls["start"][1:], reached[:-1])])
    covered = float(np.maximum(reached - begins, 0.0).sum())
    spent = float((calls["end"] - calls["start"]).sum())
    if not span or covered < LEAST_CHAIN * span or spent - covered > MOST_OVERLAP * covered:
        return 0.0
    return covered


def _steps(calls: NDArray[Any]) -> float:
    """Seconds of rounds (the k-th call of each rank) that end in steps; 0: less than half."""
    order = np.lexsort((calls["start"], calls["who"]))
    ordered = calls[order]
    _, first, counts = np.unique(ordered["who"], return_index=True, return_counts=True)
    n_rounds = int(counts.min())
    places = first[:, None] + np.arange(n_rounds)
    start, end, moved = (ordered[name][places] for name in ("start", "end", "bytes"))
    begun = start.max(axis=0)
    ends = np.sort(end, axis=0) - begun
    n_ranks = len(first)
    steps = np.diff(ends, axis=0, prepend=0.0)
    together = (ends[0] > 0) & (moved.min(axis=0) >= 0.5 * moved.max(axis=0))
    climbing = ends[-1] >= LEAST_CLIMB * n_ranks * ends[0]
    even = steps.min(axis=0) >= LEAST_STEP * np.median(steps, axis=0)
    length = end.max(axis=0) - start.min(axis=0)
    chosen = together & climbing & even
    spent = float(length[chosen].sum())
    return spent if spent >= 0.5 * float(length.sum()) else 0.0
