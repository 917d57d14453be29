# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns with rates of known laws and known noise, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, DirectoryStriping, Suite

GIB = float(1 << 30)
Rate = Callable[[Case, str], float]


def made_campaign(
    cases: Sequence[Case],
    rate: Rate,
    *,
    noise: float = 0.04,
    seed: int = 0,
    name: str = "made",
    started: float = 1.78e9,
) -> Campaign:
    """A campaign whose runs have `rate`, times noise that is independent from run to run."""
    chance = np.random.default_rng(seed)
    runs = []
    for case in cases:
        ways = {"write": ("write",), "write-read": ("write", "read")}
        operations = ways.get(case.operation, ("create", "stat", "read-file", "remove"))
        for repeat in range(1, case.repeats + 1):
            samples = []
            for operation in operations:
                amount = GIB if operation in ("write", "read") else 1000.0
                speed = rate(case, operation) * float(np.exp(chance.normal(0, noise)))
                samples.append(RunFigure(operation, amount, amount / speed))
            runs.append(
                CaseRun(case.key, repeat, "ok", tuple(samples), started_unix_seconds=started)
            )
    places = {one.directory: DirectoryStriping() for one in cases}
    suite = Suite("made", "A suite of a test", "", places, tuple(cases))
    return Campaign(name, suite, tuple(runs), "made", started_unix_seconds=started)


def usual_cases(repeats: int = 5) -> list[Case]:
    """Cells of data and metadata on one node and on many."""
    one = Case("file per process", operation="write-read", layout="per-process",
               ranks_per_node=4, repeats=repeats)  # fmt: skip
    shared = replace(one, series="MPI-IO", backend="mpiio", mode="collective", layout="shared")
    metadata = Case("metadata", runner="metadata", operation="metadata", ranks_per_node=4,
                    files=250, repeats=repeats)  # fmt: skip
    return [replace(base, nodes=n) for base in (one, shared, metadata) for n in (1, 2, 4, 8)]


def usual_rate(case: Case, operation: str) -> float:
    """Rates that grow with the nodes, as those of a small storage."""
    if operation in ("write", "read"):
        return (1 if operation == "write" else 1.3) * GIB * min(case.nodes, 4)
    return 3000.0 * min(case.nodes, 2)


def target_campaign(
    seed: int,
    slow: dict[int, float] | None = None,
    *,
    noise: float = 0.03,
    repeats: int = 6,
    targets: int = 8,
    per_file: bool = False,
    started: float = 1.78e9,
) -> Campaign:
    """A campaign with a case for each target, and cases whose files lie on four of them.

    Args:
        seed: Of the noise.
        slow: Target -> share of its rate that is lost.
        noise: Deviation of logs, from run to run.
        repeats: Of each case.
        targets: Of the storage.
        per_file: One case alone, of one file per process on a target each; each file is timed.
        started: When it began.
    """
    chance = np.random.default_rng(seed)
    lost = slow or {}

    def rate(touched: Sequence[int]) -> float:
        return (
            min(1 - lost.get(one, 0.0) for one in touched)
            * GIB
            * float(np.exp(chance.normal(0, noise)))
        )

    if per_file:
        case = Case("file per process", layout="per-process", ranks_per_node=targets,
                    repeats=repeats)  # fmt: skip
        runs = []
        for repeat in range(1, repeats + 1):
            files = [
                {"targets": [one], "operation": "write", "bytes_per_second": rate([one])}
                for one in range(targets)
            ]
            slowest = min(float(one["bytes_per_second"]) for one in files)  # type: ignore[arg-type]
            sample = RunFigure("write", targets * GIB, GIB / slowest)
            layout = {"targets": list(range(targets)), "by_file": files}
            runs.append(CaseRun(case.key, repeat, "ok", (sample,), layout=layout))
        suite = Suite("made", "t", "", {"default": DirectoryStriping(1)}, (case,))
        return Campaign("made", suite, tuple(runs), started_unix_seconds=started)
    single = [
        Case("one target", directory=f"target{one}", repeats=repeats) for one in range(targets)
    ]
    striped = [
        Case("MPI-IO", backend="mpiio", directory="striped", nodes=n, repeats=repeats)
        for n in (1, 2)
    ]
    runs = []
    for place, case in enumerate([*single, *striped]):
        for repeat in range(1, repeats + 1):
            drawn = chance.choice(targets, 4, replace=False).tolist()
            touched = [place] if place < targets else drawn
            sample = RunFigure("write", GIB, GIB / rate(touched))
            layout = {"targets": touched, "stripe_count": len(touched)}
            runs.append(CaseRun(case.key, repeat, "ok", (sample,), layout=layout))
    places = {f"target{one}": DirectoryStriping(1, 0, one) for one in range(targets)} | {
        "striped": DirectoryStriping(4)
    }
    suite = Suite("made", "t", "", places, (*single, *striped))
    return Campaign("made", suite, tuple(runs), started_unix_seconds=started)
