# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Realistic study results, one for each way in which a study can end."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace

from stripewise.model import (
    CaseOutcome,
    CaseResult,
    Configuration,
    Decision,
    FileRule,
    JobSettings,
    Measurement,
    ObservedFile,
    ProgramFacts,
    RunEntry,
    RunRole,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    Value,
    Verification,
    VerificationStatus,
)

START = 1_790_000_000.0
COMMAND = ("mpiexec", "-n", "16", "./flash_io", "out.h5")
EVIL = "<script>alert('x')</script>.h5"
MIB = 2**20


class Clock:
    """Lays runs one after the other."""

    def __init__(self, seed: int = 7) -> None:
        self.now = START
        self.random = random.Random(seed)
        self.runs: list[RunEntry] = []

    def run(
        self,
        role: RunRole,
        io_seconds: float,
        *,
        trial: int | None = None,
        pair: int | None = None,
        status: RunStatus = RunStatus.OK,
        settings: Mapping[str, Value] | None = None,
        message: str = "",
        noise: float = 0.05,
    ) -> Measurement:
        io_seconds *= math.exp(self.random.gauss(0, noise))
        elapsed = io_seconds + 28.0
        ok = status is RunStatus.OK
        measurement = Measurement(
            run_id=f"00000000-0000-4000-8000-{len(self.runs):012d}",
            status=status,
            exit_code=0 if ok else (None if status is RunStatus.TIMEOUT else 1),
            elapsed_seconds=elapsed,
            io_seconds=io_seconds if ok else 0.0,
            write_bytes=12_850 * MIB if ok else 0,
            started_unix_seconds=self.now,
            files=observed(settings or {}, io_seconds) if ok else (),
            message=message,
        )
        self.now += elapsed + 3.0
        self.runs.append(RunEntry(role, measurement, trial, pair))
        return measurement


def observed(settings: Mapping[str, Value], io_seconds: float) -> tuple[ObservedFile, ...]:
    hints = {
        name.partition(".")[2]: str(value)
        for name, value in settings.items()
        if name.startswith("mpiio.")
    }
    tuned = bool(hints)
    big = ObservedFile(
        path="out.h5",
        write_bytes=12_840 * MIB,
        io_seconds=io_seconds * 0.98,
        interface="hdf5",
        writers=4 if tuned else 16,
        system_writes=3_210 if tuned else 98_304,
        system_write_bytes=12_840 * MIB,
        median_write_bytes=4 * MIB if tuned else 131_072,
        largest_write_bytes=16 * MIB if tuned else 262_144,
        aligned_fraction=(
            {4096: 0.99, 65_536: 0.98, MIB: 0.97}
            if tuned
            else {4096: 0.08, 65_536: 0.02, MIB: 0.0}
        ),
        requested={"romio_ds_write": "disable"},
        applied=hints,
        reported={"romio_ds_write": "disable", "cb_buffer_size": "16777216", **hints},
    )
    small = ObservedFile(
        path=EVIL,
        write_bytes=10 * MIB,
        io_seconds=0.4,
        interface="posix",
        writers=1,
        system_writes=12,
        system_write_bytes=10 * MIB,
        median_write_bytes=MIB,
        largest_write_bytes=MIB,
        aligned_fraction={4096: 1.0, 65_536: 1.0, MIB: 0.5},
    )
    return (big, small)


def configuration(settings: Mapping[str, Value]) -> Configuration:
    def layer(name: str) -> dict[str, Value]:
        return {
            key.partition(".")[2]: value
            for key, value in settings.items()
            if key.startswith(name + ".")
        }

    rule = FileRule("*", layer("mpiio"), layer("hdf5"), override=True)
    return Configuration((rule,), JobSettings(mca=layer("mca")))


POINTS: tuple[tuple[dict[str, Value], float], ...] = (
    ({"mpiio.romio_cb_write": "enable"}, 0.52),
    ({"mpiio.romio_cb_write": "disable"}, 1.04),
    ({"mpiio.romio_cb_write": "enable", "mpiio.cb_nodes": 2}, 0.43),
    ({"mpiio.romio_cb_write": "enable", "mpiio.cb_nodes": 4}, 0.24),
    ({"mpiio.romio_cb_write": "enable", "mpiio.cb_nodes": 8}, 0.29),
    (
        {
            "mpiio.romio_cb_write": "enable",
            "mpiio.cb_nodes": 4,
            "mpiio.cb_buffer_size": 4 * MIB,
        },
        0.27,
    ),
    (
        {
            "mpiio.romio_cb_write": "enable",
            "mpiio.cb_nodes": 4,
            "hdf5.alignment": (MIB, MIB),
        },
        0.19,
    ),
    (
        {
            "mpiio.romio_cb_write": "enable",
            "mpiio.cb_nodes": 4,
            "hdf5.alignment": (4 * MIB, 4 * MIB),
        },
        0.2,
    ),
)

SEARCHED = {
    "mpiio.romio_cb_write": ("enable", "disable"),
    "mpiio.cb_nodes": ("2", "4", "8"),
    "mpiio.cb_buffer_size": ("4194304", "33554432"),
    "hdf5.alignment": ("1048576,1048576", "4194304,4194304"),
}
LEFT_OUT = {
    "mca.io": "the program runs under MPICH, which has one MPI-IO implementation",
    "mpiio.striping_factor": "the storage is not Lustre",
}
FACTS = ProgramFacts(
    n_ranks=16,
    mpi_family="mpich",
    mpi_version="MPICH Version:\t4.0.2",
    mpiio_implementation="romio",
    uses_hdf5=True,
    uses_parallel_hdf5=True,
    independent_bytes=12_840 * MIB,
    posix_bytes=10 * MIB,
    write_bytes=12_850 * MIB,
    shared_files=1,
    write_calls=98_304,
    io_seconds=41.2,
    elapsed_seconds=69.2,
)
PROVENANCE = {
    "stripewise": "0.1.0",
    "host": "node0042",
    "storage": "ext4 on /scratch",
    "started": "2026-09-21T14:13:20+00:00",
    "seed": "1",
    "strategy": "auto",
}


def search(
    clock: Clock,
    points: tuple[tuple[dict[str, Value], float], ...] = POINTS,
    io_seconds: float = 41.2,
) -> tuple[Trial, ...]:
    trials = []
    for number, (settings, ratio) in enumerate(points, 1):
        runs = tuple(
            clock.run(RunRole.TRIAL, io_seconds * ratio, trial=number, settings=settings)
            for _ in range(2 if ratio < 0.5 else 1)
        )
        state = TrialState.HOPELESS if ratio > 1 else TrialState.COMPLETE
        trials.append(
            Trial(
                number,
                settings,
                configuration(settings),
                state,
                runs,
                ratio,
                0.4 + ratio * 0.6,
                "ladder of mpiio.cb_nodes",
                {"observed": "4 writer(s)", "observed without": "16 writer(s)"},
            )
        )
    return tuple(trials)


def improved() -> StudyResult:
    """The study of the README: five times faster."""
    clock = Clock()
    clock.run(RunRole.WARM_UP, 80.0)
    baseline = tuple(clock.run(RunRole.BASELINE, 41.2) for _ in range(3))
    trials = search(clock)
    winner = trials[6]
    pairs = []
    for number in range(1, 7):
        first = clock.run(RunRole.PAIR_BASELINE, 41.2, pair=number)
        second = clock.run(
            RunRole.PAIR_WINNER, 7.9, trial=7, pair=number, settings=winner.settings
        )
        pairs.append((first, second))
    unsynced = (
        clock.run(RunRole.UNSYNCED_BASELINE, 35.0),
        clock.run(RunRole.UNSYNCED_WINNER, 4.0, trial=7, settings=winner.settings),
    )
    return StudyResult(
        command=COMMAND,
        directory="/scratch/me/flash_io.stripewise",
        runs=tuple(clock.runs),
        trials=trials,
        baseline=baseline,
        winner=winner,
        improved=True,
        speedup=Speedup(5.2, 4.6, 5.7, 6),
        elapsed_speedup=Speedup(1.8, 1.7, 1.95, 6),
        pairs=tuple(pairs),
        unsynced=unsynced,
        verification=Verification(VerificationStatus.IDENTICAL, ("out.h5", "out2.h5", EVIL)),
        stopped_because="every knob that can act has been climbed",
        resolution="at a spread of 5 %, six pairs resolve differences of about 8 %",
        decisions=(
            Decision(START + 1, "16 ranks wrote independently: collective buffering first"),
            Decision(START + 900, "cb_nodes 8 is slower than 4: the ladder ends"),
            Decision(START + 1800, "trial 7 is confirmed with fresh pairs"),
        ),
        facts=FACTS,
        searched=SEARCHED,
        left_out=LEFT_OUT,
        provenance=PROVENANCE,
    )


def no_improvement() -> StudyResult:
    """A program that no knob affects."""
    clock = Clock(11)
    clock.run(RunRole.WARM_UP, 12.0)
    baseline = tuple(clock.run(RunRole.BASELINE, 8.0, noise=0.2) for _ in range(3))
    points = tuple((settings, 1.0) for settings, _ in POINTS[:4])
    trials = tuple(replace(t, state=TrialState.COMPLETE) for t in search(clock, points, 8.0))
    pairs = tuple(
        (
            clock.run(RunRole.PAIR_BASELINE, 8.0, pair=n, noise=0.2),
            clock.run(RunRole.PAIR_WINNER, 7.9, trial=1, pair=n, noise=0.2),
        )
        for n in range(1, 7)
    )
    return StudyResult(
        command=COMMAND,
        directory="/scratch/me/flash_io.stripewise",
        runs=tuple(clock.runs),
        trials=trials,
        baseline=baseline,
        winner=trials[0],
        speedup=Speedup(1.04, 0.87, 1.19, 6),
        elapsed_speedup=Speedup(1.01, 0.97, 1.05, 6),
        pairs=pairs,
        stopped_because="the budget of 4 trials is spent",
        resolution="six pairs resolve about 33 % here; 24 pairs would resolve 16 %",
        warnings=("16 ranks on 2 cores: MPICH spins, so timings of this machine mean little",),
        facts=FACTS,
        searched=SEARCHED,
        left_out=LEFT_OUT,
        provenance=PROVENANCE,
    )


def rejected() -> StudyResult:
    """The fastest candidate changed the output; the next one won."""
    result = improved()
    bad = replace(
        result.trials[7],
        state=TrialState.REJECTED,
        message="output differs from the baseline's",
    )
    difference = Verification(
        VerificationStatus.DIFFERENT,
        compared=("log.txt",),
        differences={EVIL: "byte 4096 of 10485760: 0x00 in the baseline, 0x01 here"},
    )
    return replace(result, trials=(*result.trials[:7], bad), rejected={8: difference})


def troubles() -> StudyResult:
    """Failures and time-outs among the trials."""
    result = improved()
    clock = Clock(3)
    clock.now = START + 4000
    failed = clock.run(
        RunRole.TRIAL, 2.0, trial=9, status=RunStatus.FAILED, message="exit code 1 <b>bold</b>"
    )
    stuck = clock.run(
        RunRole.TRIAL, 200.0, trial=10, status=RunStatus.TIMEOUT, message="stopped after 200 s"
    )
    settings: dict[str, Value] = {"mpiio.cb_nodes": 8, "mpiio.cb_buffer_size": 32 * MIB}
    trials = (
        *result.trials,
        Trial(9, settings, configuration(settings), TrialState.FAILED, (failed,)),
        Trial(
            10,
            {"mpiio.cb_buffer_size": 32 * MIB},
            configuration({}),
            TrialState.FAILED,
            (stuck,),
            message="stopped by its time limit: a deadlock looks like this",
        ),
    )
    verification = Verification(
        VerificationStatus.SAME_CONTENT, ("out.h5",), {"log\udcff.txt": "holds the date"}
    )
    return replace(
        result,
        command=("mpiexec", "-n", "16", "./flash\udcff", "a b"),
        runs=(*result.runs, *clock.runs),
        trials=trials,
        verification=verification,
        warnings=("cb_buffer_size was asked for and not honoured on <out.h5>",),
    )


def one_run() -> StudyResult:
    """Nothing to try: the study ends after the first run."""
    clock = Clock()
    clock.run(RunRole.WARM_UP, 3.0)
    return StudyResult(
        command=("./serial",),
        directory="/home/me/serial.stripewise",
        runs=tuple(clock.runs),
        stopped_because="no knob can act on this program",
        left_out={"mpiio.cb_nodes": "the program does not use MPI-IO"},
        facts=ProgramFacts(posix_bytes=10, io_seconds=3.0, elapsed_seconds=30.0),
    )


def ensemble(*, improved_too: bool = True) -> StudyResult:
    """Two cases: both gained, or the second got slower."""
    clock = Clock(5)
    factors = {"small.nml": 0.5, "<large>.nml": 0.25 if improved_too else 1.2}
    settings: dict[str, Value] = {"mpiio.cb_nodes": 4}
    cases, mine = [], []
    for name, factor in factors.items():
        begin = len(clock.runs)
        clock.run(RunRole.WARM_UP, 9.0)
        baseline = tuple(clock.run(RunRole.BASELINE, 8.0) for _ in range(3))
        mine.append(clock.run(RunRole.TRIAL, 8.0 * factor, trial=1, settings=settings))
        pairs = tuple(
            (
                clock.run(RunRole.PAIR_BASELINE, 8.0, pair=n),
                clock.run(RunRole.PAIR_WINNER, 8.0 * factor, trial=1, pair=n, settings=settings),
            )
            for n in range(1, 7)
        )
        clock.runs[begin:] = [replace(entry, case=name) for entry in clock.runs[begin:]]
        cases.append(
            CaseResult(
                name=name,
                command=("mpiexec", "./app", name),
                facts=FACTS,
                knobs=("mpiio.cb_nodes",),
                baseline=baseline,
                outcome=CaseOutcome.FASTER if factor < 1 else CaseOutcome.SLOWER,
                speedup=Speedup(1 / factor, 0.95 / factor, 1.05 / factor, 6),
                elapsed_speedup=Speedup(1.0, 0.98, 1.02, 6),
                pairs=pairs,
                verification=Verification(VerificationStatus.IDENTICAL, ("out.h5",)),
                resolution="runs vary by 5 %",
            )
        )
    trial = Trial(
        1,
        settings,
        configuration(settings),
        measurements=tuple(mine),
        io_ratio=0.35,
        elapsed_ratio=0.9,
        case_ratios=factors,
    )
    return StudyResult(
        command=("mpiexec", "./app", "{case}"),
        directory="/scratch/me/app.stripewise",
        runs=tuple(clock.runs),
        trials=(trial,),
        winner=trial,
        improved=improved_too,
        speedup=Speedup(2.8, 2.6, 3.0, 6),
        elapsed_speedup=Speedup(1.0, 0.98, 1.02, 6),
        verification=Verification(VerificationStatus.IDENTICAL, ("small.nml: out.h5",)),
        stopped_because="the budget of 1 trial is spent",
        resolution="rounds vary by 4 %",
        facts=FACTS,
        searched={"mpiio.cb_nodes": ("4",)},
        cases=tuple(cases),
    )


ALL = {
    "ensemble": ensemble,
    "trade-off": lambda: ensemble(improved_too=False),
    "improved": improved,
    "no-improvement": no_improvement,
    "rejected": rejected,
    "troubles": troubles,
    "one-run": one_run,
    "empty": lambda: StudyResult(("true",), "/tmp/true.stripewise"),
}
