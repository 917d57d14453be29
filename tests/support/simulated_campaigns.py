# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that were not run but simulated on a described storage, with its noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from random import Random

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import Campaign, DirectoryStriping, Suite, parse_suite
from stripewise.bench.runners import find_runner
from stripewise.bench.running._run import storage_of_place
from stripewise.storage.machines import Storage, find_storage
from stripewise.storage.simulation import noise_factor, simulate

OPERATIONS = {"create": "create", "stat": "stat", "read-file": "open", "remove": "remove"}
STACKS = {"adios2": "adios2", "pnetcdf": "pnetcdf"}


def simulated_campaign(
    storage: Storage | str,
    suite: Suite | str,
    seed: int = 0,
    *,
    noise: float | None = None,
    transport: str = "",
    about: dict[str, object] | None = None,
) -> Campaign:
    """Return what a suite gives on a storage, by its model; noise None: the description's."""
    truth = find_storage(storage) if isinstance(storage, str) else storage
    plan = suite if isinstance(suite, Suite) else parse_suite(suite, "test.toml")
    cv = truth.value("noise.cv") if noise is None else noise
    runs = [
        _run(truth, plan, case, repeat, Random(f"{seed}/{case.key}/{repeat}"), cv, transport)
        for case in plan.cases
        for repeat in range(1, case.repeats + 1)
    ]
    known = {"stack": truth.stack, "targets": int(truth.value("servers.targets"))}
    return Campaign(
        plan.name, plan, tuple(runs), storage=f"{truth.name}, simulated",
        about={**known, **(about or {})},
    )  # fmt: skip


def _run(
    truth: Storage, suite: Suite, case: Case, repeat: int, random: Random, cv: float, way: str
) -> CaseRun:
    place = suite.directories[case.directory]
    samples = tuple(
        replace(one, seconds=one.seconds / noise_factor(random, cv))
        for one in _samples(truth, place, case, way)
    )
    if any(one.seconds == inf for one in samples):
        return CaseRun(case.key, repeat, "timeout")
    return CaseRun(case.key, repeat, "ok", samples, layout=_layout(truth, place))


def _layout(truth: Storage, place: DirectoryStriping) -> dict[str, int]:
    targets = int(truth.value("servers.targets"))
    count = {0: int(truth.value("layout.stripe_count")), -1: targets}
    return {
        "stripe_count": count.get(place.stripe_count, place.stripe_count),
        "stripe_size_bytes": place.stripe_bytes or int(truth.value("layout.stripe_size")),
    }


def _samples(
    truth: Storage, place: DirectoryStriping, case: Case, way: str
) -> Iterator[RunFigure]:
    if case.operation == "metadata":
        yield from _metadata(truth, place, case)
        return
    runner = find_runner(case.runner)
    work = runner.workload(case)
    assert work is not None
    stack = STACKS.get(case.backend) or runner.stack(case, truth.stack)
    layout = _layout(truth, place)
    settings = {
        "mpiio.striping_factor": layout["stripe_count"],
        "mpiio.striping_unit": layout["stripe_size_bytes"],
        **dict(case.settings),
    }
    for operation in ("write", "read")[: 1 + (case.operation == "write-read")]:
        patterns = tuple(replace(one, writing=operation == "write") for one in work.patterns)
        moved = replace(work, patterns=patterns)
        reads = runner.read_settings(case, stack) if operation == "read" else {}
        found = simulate(storage_of_place(truth, place), moved, stack, {**reads, **settings}, way)
        yield RunFigure(operation, found.bytes, found.seconds)


def _metadata(truth: Storage, place: DirectoryStriping, case: Case) -> Iterator[RunFigure]:
    """Yield what one server does: each process waits for its way, and all for the server."""
    stripes = _layout(truth, place)["stripe_count"]
    for operation, figure in OPERATIONS.items():
        service = truth.value(f"metadata.{figure}")
        if figure in ("create", "open"):
            service += truth.value("metadata.object") * stripes
        alone = service + truth.value("metadata.latency")
        seconds = case.files * max(alone, case.ranks * service)
        yield RunFigure(operation, float(case.files * case.ranks), seconds)
