# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Made-up programs on a burst buffer, with the shape that ExPBB's slides show; nothing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2

from stripewise.core import (
    Configuration,
    Measurement,
    ObservedFile,
    ProgramFacts,
    Proposal,
    RunStatus,
    Trial,
    TrialState,
    Value,
)
from stripewise.settings.tunables import Space, find_space
from stripewise.study.strategies import Strategy, create

NODES, FILES = "job.burst_buffer_nodes", "job.burst_buffer_files"
AGGREGATORS, UNIT, BUFFER = "mpiio.cb_nodes", "mpiio.striping_unit", "mpiio.cb_buffer_size"
MIB = 1 << 20
Settings = Mapping[str, Value]


def facts_of(n_ranks: int, written: int) -> ProgramFacts:
    """Return facts of a program that writes collectively under Cray MPICH on Lustre."""
    return ProgramFacts(
        n_ranks=n_ranks, n_hosts=n_ranks // 32, mpi_family="mpich", mpi_version="CRAY MPICH 7.5",
        mpiio_implementation="romio", collective_bytes=written, write_bytes=written,
        shared_files=1, write_calls=n_ranks * 40, filesystem="lustre",
    )  # fmt: skip


@dataclass
class BtIo:
    """NAS BT I/O of 50 GB by 256 ranks: 40 s of I/O on Lustre, 60 s on one node by default.

    Best: 64 aggregators (3.1 times) and more from 8 nodes on, striping unit of 2 MiB (a tenth),
    a buffer of 32 MiB (a tenth); 64 times the nodes give less than 8 times by default.

    Attributes:
        per_node: Aggregators for each node that are best, where these are more.
        saturates: From so many nodes on, more give nothing.
        unit_best: Striping unit with the least time; calls_grow: calls are a unit each.
    """

    n_ranks: int = 256
    on_lustre: float = 40.0
    compute: float = 30.0
    best_aggregators: int = 64
    unit_best: int = 2 * MIB
    unit_gain: float = 0.1
    per_node: int = 16
    saturates: int = 8
    calls_grow: bool = True
    name: str = "btio.nc"
    written: int = 50 << 30
    cost_of_nodes: float = 0.0
    reported: dict[str, str] = field(default_factory=dict)

    def large(self, settings: Settings) -> float:
        """Return the I/O time on the large file."""
        nodes = int(str(settings.get(NODES, 0)))
        if not nodes:
            return self.on_lustre
        aggregators = int(str(settings.get(AGGREGATORS, nodes)))
        wanted = min(max(self.best_aggregators, self.per_node * nodes), self.n_ranks)
        distance = abs(log2(aggregators / wanted))
        by_aggregators = 1 + 2.1 * min(distance / 6, 1)
        unit = int(str(settings.get(UNIT, 8 * MIB)))
        by_unit = 1 + self.unit_gain * log2(unit / self.unit_best) / 2
        if unit < self.unit_best:
            by_unit = 1 + 0.2 * log2(self.unit_best / unit)
        buffer = int(str(settings.get(BUFFER, 16 * MIB)))
        by_buffer = 1 + 0.1 * abs(log2(buffer / (32 * MIB)))
        over = 0.88 ** log2(min(nodes, self.saturates)) / min(nodes, self.saturates) ** 0.5
        return 17 * over * by_aggregators * by_unit * by_buffer

    def small(self, settings: Settings) -> float:
        """Return the time that the slowest rank spends on the small file."""
        del settings
        return 0.0

    def files(self, settings: Settings) -> tuple[ObservedFile, ...]:
        """Return what is observed of the files."""
        unit = int(str(settings.get(UNIT, 8 * MIB)))
        nodes = int(str(settings.get(NODES, 0)))
        written = self.written
        return (
            ObservedFile(
                self.name, write_bytes=written, io_seconds=self.large(settings),
                interface="mpiio", writers=int(str(settings.get(AGGREGATORS, nodes or 1))),
                system_writes=written // unit if self.calls_grow else 6400,
                system_write_bytes=written, reported=self.reported,
            ),
        )  # fmt: skip

    def seconds(self, settings: Settings) -> tuple[float, float]:
        """Return I/O time and whole time."""
        io = self.large(settings) + self.small(settings)
        nodes = int(str(settings.get(NODES, 0)))
        return io, self.compute + io + self.cost_of_nodes * nodes

    def trial(self, number: int, settings: Settings, baseline: Settings | None = None) -> Trial:
        """Return the trial of a point beside the baseline."""
        script = baseline or {}
        io, run = self.seconds({**script, **settings})
        base_io, base_run = self.seconds(script)
        measurement = Measurement(
            f"run-{number}", RunStatus.OK, 0, run, io, 0, self.written,
            files=self.files({**script, **settings}),
        )  # fmt: skip
        return Trial(
            number, dict(settings), Configuration(), TrialState.COMPLETE, (measurement,),
            io / base_io, run / base_run,
        )  # fmt: skip

    def space(self, rungs: tuple[int, ...], **ladders: tuple[Value, ...]) -> Space:
        """Return the space with rungs of nodes, hybrid runs allowed."""
        given = {NODES: rungs, FILES: (), **ladders}
        facts = replace(self.facts, striping=None)
        return find_space(facts, only=(AGGREGATORS, UNIT, BUFFER), ladders=given)

    @property
    def facts(self) -> ProgramFacts:
        """Facts of the first run."""
        return facts_of(self.n_ranks, self.written)


@dataclass
class Wrf(BtIo):
    """WRF-CHEM by 1280 ranks, which all read a namelist of 22 KiB.

    It takes them 0.67 s on 2 nodes and 36.6 s on 40: it grows with the nodes to the power 1.44.
    """

    n_ranks: int = 1280
    on_lustre: float = 30.0
    compute: float = 40.0
    best_aggregators: int = 8
    per_node: int = 0
    unit_best: int = MIB // 2
    unit_gain: float = 0.64
    saturates: int = 16
    written: int = 12 << 30
    name: str = "wrfout_d01_2007-04-03_01_00_00"

    def small(self, settings: Settings) -> float:
        """Return the time on the namelist: on the burst buffer it grows with the nodes."""
        nodes = int(str(settings.get(NODES, 0)))
        if not nodes or FILES in settings:
            return 0.4
        return float(0.67 * (nodes / 2) ** 1.4405 * 1.0)

    def files(self, settings: Settings) -> tuple[ObservedFile, ...]:
        """Return the large file, a restart file and the small ones."""
        restart = ObservedFile(
            "wrfrst_d01_2007-04-03_02_00_00", write_bytes=3 << 30, io_seconds=0.5, writers=1
        )
        namelist = ObservedFile(
            "namelist.input", read_bytes=22528 * self.n_ranks, io_seconds=self.small(settings),
            readers=self.n_ranks, system_reads=2 * self.n_ranks, interface="posix",
        )  # fmt: skip
        log = ObservedFile("rsl.out.0000", write_bytes=4096, io_seconds=0.01, writers=1)
        return (*super().files(settings), restart, namelist, log)


def nodes_of(proposal: Proposal) -> Value | None:
    """Return the burst-buffer nodes that a proposal sets; None: those of the script."""
    return proposal.settings.get(NODES)


def best(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the least I/O time."""
    return min(trials, key=lambda trial: trial.io_ratio)


def search(
    name: str,
    program: BtIo,
    rungs: tuple[int, ...],
    most: int = 200,
    facts: ProgramFacts | None = None,
    baseline: Measurement | None = None,
    **options: str,
) -> tuple[Strategy, list[Proposal], list[Trial]]:
    """Ask and tell until the strategy has finished."""
    strategy = create(name, program.space(rungs), facts or program.facts, 1, options)
    strategy.baseline = baseline
    proposals: list[Proposal] = []
    trials: list[Trial] = []
    while len(proposals) < most and (asked := strategy.ask(1)):
        proposals += asked
        trials.append(program.trial(len(proposals), asked[0].settings))
        strategy.tell(trials[-1])
    return strategy, proposals, trials
