# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests out of order, and positioning that costs time itself."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stripewise.diagnosis._usage import DATA
from stripewise.diagnosis._words import count, files_of, percent, seconds, size
from stripewise.diagnosis.findings._base import (
    BULK_BYTES,
    Hit,
    Rule,
    Run,
    Told,
    directions,
    mostly_independent,
    toward,
    word,
)
from stripewise.diagnosis.findings._independent import tune_independent

LEAST_CALLS = 100
MOST_SEQUENTIAL = 0.5


class RandomAccess(Rule):
    """Many small requests whose offsets jump back and forth."""

    code = "random-access"
    group = "requests"
    basis = (
        "time of the slowest rank in these calls, less the time of the same bytes in large "
        "requests (best rate seen in this run, otherwise 1 GiB/s assumed)"
    )
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 100 independent calls below 1 MiB, less than half of them forward."""
        for use in run.files:
            for writing, _, calls in directions(use):
                if calls.count < LEAST_CALLS or not 0 < calls.mean_bytes < BULK_BYTES:
                    continue
                forward = use.order_share("sequential", "write" if writing else "read")
                if forward < MOST_SEQUENTIAL and mostly_independent(use, writing):
                    evidence: dict[str, float | int | str] = {"forward_share": forward}
                    evidence["interface"] = use.top.name.lower()
                    cost = run.loss(use, calls, writing=writing)
                    yield Hit.of_calls(use, calls, cost, writing, evidence)

    def phrase(self, told: Told) -> str:
        """Size, direction, file."""
        writing = bool(told.first.writing)
        return (
            f"random {word(writing)} of {size(told.mean_bytes)} {toward(writing)} "
            f"{files_of(told.files, told.n_files)}"
        )

    def text(self, told: Told) -> str:
        """How many, how few forward."""
        forward = float(told.first.evidence["forward_share"])
        return (
            f"{count(told.calls)} calls of {size(told.mean_bytes)} took {seconds(told.stake)}; "
            f"only {percent(forward)} of them began at or after the end of the one before."
        )

    def remedy(self, told: Told) -> str:
        """Sort."""
        verb = "write" if told.first.writing else "read"
        return (
            f"Sort the requests by offset before the {verb}. Or {verb} whole blocks and pick in "
            "memory. With MPI-IO, describe all pieces by one file view and one collective call."
        )

    def tune_options(self, told: Told) -> str | None:
        """Nothing can be tuned beneath POSIX."""
        return tune_independent(told)


class SeekHeavy(Rule):
    """Positioning takes time of its own."""

    code = "seek-heavy"
    group = "metadata"
    basis = "time of the slowest process in calls that position the file"

    def hits(self, run: Run) -> Iterable[Hit]:
        """From single calls: at least as many seeks as data calls, at least 100."""
        if run.trace is None:
            return
        seeks = [index for index, name in enumerate(run.trace.names) if "seek" in name.lower()]
        rows = run.trace.rows
        mine = rows[np.isin(rows["name"], seeks) & (rows["parent"] < 0)]
        for use in run.files:
            calls = mine[mine["file"] == use.index]
            total = int(calls["count"].sum())
            if total < max(LEAST_CALLS, use.calls(DATA).count):
                continue
            _, inverse = np.unique(calls["process"], return_inverse=True)
            spent = float(np.bincount(inverse, weights=calls["busy_ns"] * 1e-9).max())
            evidence = {"data_calls": use.calls(DATA).count}
            yield Hit(use, spent, spent, total, 0, evidence, None, use.only_rank)

    def phrase(self, told: Told) -> str:
        """How many where."""
        return f"{count(told.calls)} seeks in {files_of(told.files, told.n_files)}"

    def text(self, told: Told) -> str:
        """Seeks against data calls."""
        data = count(int(told.first.evidence["data_calls"]))
        return (
            f"{count(told.calls)} seeks for {data} data calls took {seconds(told.stake)}; with "
            "stdio each one also empties the buffer."
        )

    def remedy(self, told: Told) -> str:
        """Without seeks."""
        return (
            "Use pread and pwrite, which take the offset. With stdio: read in order, or read the "
            "whole part into memory first."
        )
