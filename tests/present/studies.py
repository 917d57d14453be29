# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Realistic study results, one for each way in which a study can end."""

from __future__ import annotations

from dataclasses import replace

from study_parts import (
    COMMAND,
    EVIL,
    FACTS,
    LEFT_OUT,
    MIB,
    POINTS,
    PROVENANCE,
    SEARCHED,
    START,
    Clock,
    configuration,
    search,
)

from stripewise.core import (
    CaseOutcome,
    CaseResult,
    Decision,
    ProgramFacts,
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
        stopped_because="every tunable that can act has been climbed",
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
    """A program that no tunable affects."""
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
        stopped_because="no tunable can act on this program",
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
                tunables=("mpiio.cb_nodes",),
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
