# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns as data: of the model where the figures matter, made up where only the form does."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from stripewise.bench import Case, CaseRun, RunFigure
from stripewise.bench.campaign import (
    Campaign,
    CaseFigures,
    Flag,
    Suite,
    figures_of,
    find_suite,
    parse_suite,
)
from stripewise.bench.limits import Law, Limit, Limits, Predicted
from stripewise.bench.runners import find_runner
from stripewise.storage.machines import Storage, find_storage
from stripewise.storage.simulation import simulate

START = 1_790_000_000.0
MIB, GIB = float(1 << 20), float(1 << 30)


def campaign(suite: Suite, runs: Iterable[CaseRun], **more) -> Campaign:
    about = {
        "launcher": "local", "system": "Linux 6.1", "stripewise": "0.9", "memory_bytes": 2**38,
        "versions": {"MPI": "Cray MPICH 8.1"},
    }  # fmt: skip
    given = {"storage": "/work (lustre)", "started_unix_seconds": START, "about": about,
             "ended_because": "all runs are made", "name": "test"}  # fmt: skip
    return Campaign(suite=suite, runs=tuple(runs), **{**given, **more})


def run(case: Case, repeat: int, rates: dict[str, float], place: int = 0, **more) -> CaseRun:
    """One run with given rates, bytes or operations a second."""
    samples = []
    for operation, rate in rates.items():
        data = operation in ("write", "read")
        amount = 256 * MIB * case.ranks if data else float(max(case.files, 1) * case.ranks)
        percentiles = {} if data else _percentiles(case.ranks / rate)
        phases = {"open": 0.01, "transfer": amount / rate, "close": 0.002} if data else {}
        samples.append(RunFigure(operation, amount, amount / rate, phases, percentiles))
    given = {
        "started_unix_seconds": START + 30 * place, "elapsed_seconds": 20.0,
        "node_seconds": 20.0 * case.nodes, "written_bytes": int(256 * MIB * case.ranks),
        "circumstances": {"load": 0.5 + place % 3},
    }  # fmt: skip
    return CaseRun(case.key, repeat, "ok", tuple(samples), **{**given, **more})


def _percentiles(seconds: float) -> dict[str, float]:
    return {"50": seconds, "90": 2 * seconds, "99": 6 * seconds, "100": 31 * seconds}


def modelled(suite: Suite, machine: str, seed: int = 1) -> Campaign:
    """A campaign as the description of a storage predicts it, with the noise that it describes."""
    storage = find_storage(machine)
    dice = random.Random(seed)
    runs = []
    for repeat in range(1, max(case.repeats for case in suite.cases) + 1):
        cases = list(suite.cases)
        dice.shuffle(cases)
        runs += [_modelled(case, repeat, storage, suite, dice, len(runs) + n)
                 for n, case in enumerate(cases)]  # fmt: skip
    about = {"launcher": "simulated", "stack": storage.stack, "targets": 12,
             "versions": {}, "stripewise": "0.9"}  # fmt: skip
    return campaign(
        suite, runs, name=suite.name, storage=f"{machine}: {storage.title}", machine=machine,
        about=about,
    )  # fmt: skip


def _modelled(
    case: Case, repeat: int, storage: Storage, suite: Suite, dice: random.Random, place: int
) -> CaseRun:
    runner = find_runner(case.runner)
    directory = suite.directories[case.directory]
    settings = dict(case.settings)
    if directory.stripe_count:
        settings.setdefault("mpiio.striping_factor", directory.stripe_count)
    if directory.stripe_bytes:
        settings.setdefault("mpiio.striping_unit", directory.stripe_bytes)
    found = simulate(storage, runner.workload(case), runner.stack(case, storage.stack), settings)
    cv = storage.value("noise.cv")
    rate = found.bandwidth_bytes_per_second * dice.lognormvariate(0, cv)
    if dice.random() < 0.01:
        rate *= 0.3
    rates = {"write": rate, "read": 1.05 * rate}
    if case.operation == "write":
        del rates["read"]
    targets = int(storage.value("servers.targets"))
    count = directory.stripe_count if directory.stripe_count > 0 else targets
    used = [dice.randrange(targets)] if count == 1 else list(range(count))
    layout = {"stripe_count": count, "stripe_size_bytes": 1 << 20, "targets": used}
    hints = {"romio_cb_write": "enable", "cb_nodes": str(count)} if case.backend != "posix" else {}
    return run(case, repeat, rates, place, layout=layout, hints=hints)


def array3d(repeats: int = 5, nodes=(1, 2, 4, 8, 16, 32)) -> Campaign:
    """What the built-in suite gives on ARCHER2's disks, predicted."""
    suite = find_suite("array3d").narrowed(
        nodes=nodes, ranks_per_node=8, repeats=repeats,
        series=("serial", "file per process", "file per node", "MPI-IO", "HDF5", "NetCDF"),
    )  # fmt: skip
    suite = replace(suite, cases=tuple(replace(one, operation="write-read", local="256,256,256")
                                       for one in suite.cases))  # fmt: skip
    return modelled(suite, "archer2-hdd")


TRANSFER = """
version = 1
name = "transfer-size"
title = "Transfer size and stripe size"
repeats = 5
[directories]
"stripe-1m" = { stripe_count = -1, stripe_size = "1 MiB" }
"stripe-4m" = { stripe_count = -1, stripe_size = "4 MiB" }
"stripe-16m" = { stripe_count = -1, stripe_size = "16 MiB" }
"stripe-64m" = { stripe_count = -1, stripe_size = "64 MiB" }
[all]
rank_size = "256 MiB"
nodes = 4
ranks_per_node = 4
operation = "write-read"
directory = ["stripe-1m", "stripe-4m", "stripe-16m", "stripe-64m"]
transfer = ["1 MiB", "2 MiB", "4 MiB", "16 MiB", "64 MiB", "256 MiB"]
[[case]]
series = "MPI-IO collective"
backend = "mpiio"
mode = "collective"
[[case]]
series = "POSIX"
"""


def transfer_size(seed: int = 3) -> Campaign:
    """Two series over transfer size and stripe size; the figures are made up."""
    suite, dice = parse_suite(TRANSFER, "transfer.toml"), random.Random(seed)
    runs = []
    for repeat in range(1, 6):
        for case in suite.cases:
            stripe = suite.directories[case.directory].stripe_bytes
            base = 4 * GIB if case.backend == "posix" else 2 * GIB
            fit = min(case.transfer_bytes, 4 * stripe) / (case.transfer_bytes + 4 * MIB)
            rate = base * (0.1 + fit) * dice.lognormvariate(0, 0.07)
            runs.append(run(case, repeat, {"write": rate, "read": 1.3 * rate}, len(runs)))
    return campaign(suite, runs, name="transfer-size")


def metadata(nodes=(1, 2, 4, 8)) -> Campaign:
    """Metadata operations of own and shared directories; the figures are made up."""
    cases = tuple(
        Case(f"{sharing} directories", "metadata", "metadata", nodes=n, ranks_per_node=4,
             files=1000, sharing=sharing, repeats=4)
        for sharing in ("own", "shared") for n in nodes
    )  # fmt: skip
    dice = random.Random(5)
    base = {"create": 6000.0, "stat": 16_000.0, "read-file": 12_000.0, "remove": 8000.0}
    runs = []
    for repeat in range(1, 5):
        for case in cases:
            gain = min(case.nodes, 4) ** 0.9 * (1 if case.sharing == "own" else 0.45)
            rates = {name: rate * gain * dice.lognormvariate(0, 0.05)
                     for name, rate in base.items()}  # fmt: skip
            runs.append(run(case, repeat, rates, len(runs)))
    return campaign(suite_of(cases, "mdtest"), runs, name="mdtest")


def suite_of(cases: Iterable[Case], name: str = "own") -> Suite:
    from stripewise.bench.campaign import DirectoryStriping

    cases = tuple(cases)
    places = {case.directory: DirectoryStriping() for case in cases}
    return Suite(name, f"Suite {name}", "", places, cases)


def one_cell(repeats: int = 1) -> Campaign:
    case = Case("file per process", layout="per-process", ranks_per_node=2, repeats=repeats)
    runs = [run(case, n, {"write": GIB * (1 + 0.01 * n)}, n) for n in range(1, repeats + 1)]
    return campaign(suite_of([case]), runs)


def many_cells(cells: int = 10_000) -> Campaign:
    """As many cells as a suite may have."""
    cases = [
        Case("shared", nodes=1 << (n % 10), ranks_per_node=1 + (n // 10) % 10,
             transfer_bytes=(1 + (n // 100) % 10) << 20, settings=(("mpiio.cb_nodes", n // 1000),))
        for n in range(cells)
    ]  # fmt: skip
    runs = [run(case, repeat, {"write": GIB * (1 + (n * 7919 + repeat) % 97)}, n)
            for repeat in (1, 2) for n, case in enumerate(cases)]  # fmt: skip
    return campaign(suite_of(cases), runs)


def failed_only() -> Campaign:
    cases = [Case("HDF5", backend="hdf5", nodes=n) for n in (1, 2)]
    runs = [
        CaseRun(cases[0].key, 1, "failed", message="exit 139: signal 11", elapsed_seconds=3.0),
        CaseRun(cases[1].key, 1, "no-nodes", message="the job asks for 2 nodes, there is 1"),
    ]
    return campaign(suite_of(cases), runs, ended_because="")


HOSTILE = "<script>alert('x')</script>\x1b[2J\u202e=cmd|'/C calc'!A0"


def hostile() -> Campaign:
    """Every text that comes from outside is one that tries to act."""
    case = Case(HOSTILE, directory=HOSTILE, settings=(("mpiio.cb_nodes", HOSTILE),))
    other = Case(HOSTILE, directory="</style>", settings=(("mpiio.cb_nodes", "'\"`"),), nodes=2)
    more = {
        "hints": {HOSTILE: HOSTILE}, "layout": {"stripe_count": HOSTILE, "targets": HOSTILE},
        "circumstances": {HOSTILE: HOSTILE, "load": HOSTILE, "node_list": HOSTILE},
    }  # fmt: skip
    runs = [
        run(case, 1, {"write": GIB}, 1, **more), run(case, 2, {HOSTILE: 1.0}, 2),
        run(other, 1, {"write": 2 * GIB}, 3),
        CaseRun(other.key, 2, HOSTILE, message=HOSTILE), CaseRun("unknown", 1, "failed"),
    ]  # fmt: skip
    about = {"launcher": HOSTILE, "versions": {HOSTILE: HOSTILE}, HOSTILE: {HOSTILE: [HOSTILE]}}
    return campaign(suite_of([case, other], HOSTILE), runs, name=HOSTILE, storage=HOSTILE,
                    machine=HOSTILE, ended_because=HOSTILE, about=about)  # fmt: skip


def mixed() -> Campaign:
    """Data and metadata in one suite, one of them beside the other, one of them failed."""
    cases = [
        Case("checkpoint", operation="write-read", nodes=2, ranks_per_node=4),
        Case("checkpoint", operation="write-read", nodes=2, ranks_per_node=4,
             beside="small files"),
        Case("small files", "metadata", "metadata", nodes=2, ranks_per_node=4, files=500),
    ]  # fmt: skip
    runs = []
    for repeat in (1, 2, 3):
        runs += [
            run(cases[0], repeat, {"write": 8 * GIB + repeat, "read": 9 * GIB}, len(runs)),
            run(cases[1], repeat, {"write": 5 * GIB + repeat, "read": 6 * GIB}, len(runs) + 1),
            run(cases[2], repeat, {"create": 900.0 + repeat, "stat": 4000.0}, len(runs) + 2),
        ]
    runs.append(CaseRun(cases[1].key, 4, "no-space", message="42 GiB were needed, 3 were left"))
    return campaign(suite_of(cases), runs)


ALL = {
    "array3d": array3d, "transfer-size": transfer_size, "metadata": metadata,
    "one cell": one_cell, "failed only": failed_only, "hostile": hostile, "mixed": mixed,
}  # fmt: skip


def flagged(found: Campaign) -> tuple[CaseFigures, ...]:
    """The figures, some of them doubted as the statistics may do it."""
    figures = []
    for place, one in enumerate(figures_of(found)):
        flags: tuple[Flag, ...] = ()
        outliers: tuple[int, ...] = ()
        if place % 7 == 2:
            text = "1.9 TiB/s are 16 times what the targets can take: reads came from memory"
            flags = (Flag("caching", text),)
        if len(one.rates) > 2 and min(one.rates) < 0.6 * one.median:
            outliers = (one.rates.index(min(one.rates)),)
            flags = (*flags, Flag("outlier", "one run of 5 has less than half of the median"))
        figures.append(replace(one, outliers=outliers, flags=flags))
    return tuple(figures)


def limits_of(found: Campaign) -> Limits:
    """Limits as a fit may tell them."""
    storage = find_storage("archer2-hdd")
    told = ("client.process_write", "client.file_write", "client.node_write",
            "servers.target_write", "client.process_read", "servers.target_read")  # fmt: skip
    keys = tuple(case.key for case in found.suite.cases[:3])
    limits = tuple(
        Limit(name, value := storage.value(name), 0.93 * value, 1.08 * value, keys,
              f"{name}: seen with file per process")
        for name in told
    )  # fmt: skip
    laws = (
        Law("stripes", "parallel bandwidth = serial bandwidth x min(stripes, nodes)", True, 0.06,
            keys),
        Law("libraries", "HDF5 is as fast as MPI-IO", False, 0.31, keys),
    )  # fmt: skip
    cells = tuple(
        Predicted(one.case.key, one.operation, 1.05 * one.median, one.median, n % 5 == 0)
        for n, one in enumerate(figures_of(found)) if one.of_data
    )  # fmt: skip
    undetermined = {"servers.whole_write": "no series stopped growing below twelve targets"}
    return Limits(storage, limits, laws, undetermined, cells, 0.05)
