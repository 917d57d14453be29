# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns with rates of known laws and known noise, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from stripewise.bench import Campaign, Case, CaseRun, Place, Sample, Suite

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
                samples.append(Sample(operation, amount, amount / speed))
            runs.append(
                CaseRun(case.key, repeat, "ok", tuple(samples), started_unix_seconds=started)
            )
    places = {one.directory: Place() for one in cases}
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
