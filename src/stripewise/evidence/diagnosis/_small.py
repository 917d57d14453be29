# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests of one process that are too small for what each costs."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.core import COPY
from stripewise.evidence.diagnosis._base import WAYS, Hit, Rule, Run, Told
from stripewise.evidence.trace import IoLayer, Op
from stripewise.present import count_text as count
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

SMALL_BYTES = 64 << 10
LEAST_CALLS = 1000
LEAST_CALLS_AN_OPEN = 10
LEAST_CONSECUTIVE = 0.5


class SmallRequests(Rule):
    """Small requests, one after the other, by each process on its own."""

    code = "small-requests"
    group = "requests"
    basis = "the same bytes in requests of 1 MiB, and a copy into a buffer for each call"

    def hits(self, run: Run) -> Iterable[Hit]:
        """System calls of the program, below 64 KiB, each where the one before ended."""
        for use in run.files:
            for writing, ops in WAYS:
                calls = use.calls(ops[:1], layers=[IoLayer.POSIX])
                if calls.count < LEAST_CALLS or not 0 < calls.mean_bytes < SMALL_BYTES:
                    continue
                if not use.order_share("consecutive", writing) >= LEAST_CONSECUTIVE:
                    continue
                if calls.count < LEAST_CALLS_AN_OPEN * use.calls([Op.OPEN]).count:
                    continue  # no buffer would ever fill
                ranks = max(calls.ranks, 1)
                after = run.storage.bulk(calls.bytes / ranks, writing=writing)
                after = after.plus(COPY.scaled(calls.count / ranks))
                yield Hit.of_calls(use, calls, run.now(calls.elapsed).minus(after), writing)

    def phrase(self, told: Told) -> str:
        return f"{size(told.mean_bytes)} {told.way_files} without a buffer"

    def text(self, told: Told) -> str:
        return (
            f"{count(told.calls)} {told.way} of {size(told.mean_bytes)} on average, one after the "
            f"other, took {seconds(told.stake)}; each is a system call of its own."
        )

    def remedy(self, told: Told) -> str:
        if told.writing:
            return (
                "Collect the pieces in a buffer of 1 MiB and write that. In C fwrite does so "
                "after setvbuf(file, NULL, _IOFBF, 1 << 20), in Python open(name, 'wb', "
                "buffering=1 << 20)."
            )
        return (
            "Read 1 MiB at once and take the pieces from memory. In C fread does so after "
            "setvbuf(file, NULL, _IOFBF, 1 << 20), in Python open(name, 'rb', buffering=1 << 20)."
        )
