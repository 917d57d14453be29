# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the first stages: a discarded warm-up that shows what the program does; the baseline."""

from __future__ import annotations

import os
import time
from collections import Counter

from stripewise.core import (
    NOTHING,
    Amount,
    FailureCause,
    Measurement,
    ProgramFacts,
    RunRole,
    RunStatus,
    from_json,
    to_json,
    total,
)
from stripewise.core.errors import ProgramError, RuntimeMissingError
from stripewise.present import printable
from stripewise.run.runtime import program_word
from stripewise.study.plan import RunSlot, resolution_text, spread
from stripewise.study.procedure._context import Baseline, CaseContext
from stripewise.study.runs import REFUSED, FirstLook

BASELINE_RUNS = 3
MOST_BASELINE_RUNS = 5
KEPT_RUNS = 2
"""Number of baselines whose outputs are kept: differences between them are not verifiable."""
LARGE_CV = 0.15
"""Spread of the I/O time above which the baseline is run up to 5 times."""
TIMEOUT_FLOOR_SECONDS = 20.0
TIMEOUT_FACTOR = 5.0
"""Multiple of the baseline's time after which a run is stopped: a deadlock, or hopeless."""


def warm_up(context: CaseContext, written: Amount = NOTHING) -> ProgramFacts:
    """Run the program once to find out what it does; its time is discarded.

    Args:
        context: Context of the case.
        written: Bytes that one run of each earlier case writes.

    Raises:
        ProgramError: The program fails, cannot be observed, or does no I/O.
        PolicyError: The policy's caps are too low for a study of the program.
        RuntimeMissingError: The program cannot be observed because its MPI's plug-in is not built.
    """
    context.budget.check_smallest()
    slot = context.slot(
        "warm-up",
        RunRole.WARM_UP,
        timeout_seconds=context.options.timeout_seconds,
        keep_output=True,
    )
    measurement = context.carry_out(context.attempts(slot, failures=1))
    try:
        _check_it_ran(context, measurement)
        look = _first_look(context, measurement)
        if look.problem:
            kind = RuntimeMissingError if look.no_plugin else ProgramError
            raise kind(context.with_case_name(look.problem))
    except (ProgramError, RuntimeMissingError):
        context.executor.release(measurement)
        raise
    _leave_out_old_outputs(context, look)
    context.executor.release(measurement, evidence=False)
    io_seconds = look.facts.amount("io_seconds")
    if io_seconds.value is None and io_seconds.why:
        raise context.error(
            f"the program's I/O time is not known ({io_seconds.why}): nothing can be compared"
        )
    if not io_seconds.value or measurement.total_amount == NOTHING:
        raise context.error(
            "the program did no I/O that can be seen (no file inside its directory was read "
            "or written); nothing to tune: is it the right command?"
        )
    context.budget.check_smallest(total((written, measurement.amount("write_bytes"))))
    for warning in (*look.warnings, *measurement.bypassed, *_warnings(look.facts)):
        context.warn(warning)
    context.observer.facts_known(look.facts, context.name)
    return look.facts


def measure_baseline(context: CaseContext) -> Baseline:
    """Run the unchanged program three times, up to five if it varies much."""
    warm = context.measurement("warm-up")
    limit = run_timeout(context, [warm] if warm is not None else [])
    done: list[Measurement] = []
    while len(done) < BASELINE_RUNS or _wants_more(context, done):
        number = len(done) + 1
        if number == KEPT_RUNS:
            _wait_between_compared_runs(context, done[-1])
        slot = context.slot(
            f"baseline/{number}",
            RunRole.BASELINE,
            timeout_seconds=limit,
            keep_output=number <= KEPT_RUNS,
        )
        if not done:
            _needs_old_outputs(context, slot)
        done.append(context.carry_out(context.baseline(slot)))
    context.observer.baseline_known(done, resolution_text(context.spread()), context.name)
    kept = _kept_again(context, limit) or done[:KEPT_RUNS]
    return Baseline(
        context=context,
        measurements=tuple(done),
        kept_runs=tuple(m.run_id for m in kept),
        traced=warm.run_id if warm is not None else "",
        timeout_seconds=run_timeout(context, done),
    )


def _kept_again(context: CaseContext, limit: float) -> list[Measurement]:
    """Repeat the baseline runs to compare with, if the outputs of an ended study are gone."""
    kept: list[Measurement] = []
    time_now = context.ledger.reopened
    for number in range(1, KEPT_RUNS + 1 if time_now else 0):
        name = f"kept/{time_now}/{number}"
        if kept and context.measurement(name) is None:
            _wait_for_the_next_second(kept[-1])
        slot = context.slot(name, RunRole.BASELINE, timeout_seconds=limit, keep_output=True)
        kept.append(context.carry_out(context.baseline(slot)))
    return kept


def _leave_out_old_outputs(context: CaseContext, look: FirstLook) -> None:
    """Leave existing outputs out of the inputs, so that every run creates its outputs anew.

    Overwriting a file is faster than creating one, by a factor of two and more.
    """
    old = look.replaced_inputs
    context.tools.workspace.first_run_known(look.written_inputs, look.output_bytes, old)
    if old:
        more = f" and {len(old) - 3} more" if len(old) > 3 else ""
        names = ", ".join(printable(name) for name in old[:3])
        text = f"not copied into the runs, since the program creates it: {names}{more}"
        context.decide("old-outputs", text)


def _needs_old_outputs(context: CaseContext, slot: RunSlot) -> None:
    """Restore the existing outputs as inputs if the first baseline run fails without them."""
    look = _recorded_look(context)
    if not look.replaced_inputs:
        return
    run = context.carry_out(context.attempts(context.patient(slot), failures=1))
    if not run.ok and not run.cause.is_outside:
        context.tools.workspace.first_run_known(look.written_inputs, look.output_bytes)
        context.warn(
            f"the program fails without its old outputs ({run.message}): every run starts with "
            "them and overwrites them, which can be faster than creating them"
        )


def _wait_between_compared_runs(context: CaseContext, before: Measurement) -> None:
    """Wait so that the two runs that are compared write in different seconds.

    HDF5 and others store times in whole seconds inside their files.  Two baselines in the same
    second would be equal bit for bit, and every later run would seem to differ.
    """
    if context.measurement(f"baseline/{KEPT_RUNS}") is None:
        _wait_for_the_next_second(before)


def _wait_for_the_next_second(before: Measurement) -> None:
    time.sleep(max(0.0, min(1.1, before.started_unix_seconds + 1.1 - time.time())))


def _wants_more(context: CaseContext, done: list[Measurement]) -> bool:
    if len(done) >= MOST_BASELINE_RUNS or spread([m.io_seconds for m in done]) <= LARGE_CV:
        return False
    begun = context.measurement(f"baseline/{len(done) + 1}") is not None
    wanted = 1 + _baselines_of_later_cases(context) + context.budget.trial_runs
    seconds = done[-1].elapsed_seconds
    return begun or context.budget.allows(wanted, seconds)


def _baselines_of_later_cases(context: CaseContext) -> int:
    """Return the number of baseline runs that the following cases still need."""
    made = Counter(e.case for e in context.ledger.entries if e.role is RunRole.BASELINE)
    return sum(BASELINE_RUNS - min(BASELINE_RUNS, n) for n in made.values()) + BASELINE_RUNS * (
        context.budget.n_cases - len(made)
    )


def run_timeout(context: CaseContext, runs: list[Measurement]) -> float:
    """Return the time limit of a run: the user's, or a multiple of the runs' longest time."""
    if context.options.timeout_seconds is not None:
        return context.options.timeout_seconds
    return usual_timeout(max((run.elapsed_seconds for run in runs), default=0.0))


def usual_timeout(longest_seconds: float) -> float:
    """Return the default time limit of a run, given the longest run of the program."""
    return max(TIMEOUT_FLOOR_SECONDS, TIMEOUT_FACTOR * longest_seconds)


def _check_it_ran(context: CaseContext, measurement: Measurement) -> None:
    if measurement.status in (RunStatus.OK, RunStatus.UNSEEN):
        return
    if measurement.status is RunStatus.TIMEOUT:
        raise context.error(
            f"the program did not end within {measurement.elapsed_seconds:.3g} s{_limit(context)}"
        )
    if measurement.message.startswith(REFUSED):
        raise context.error(measurement.message)
    if measurement.cause is FailureCause.HOST:
        raise context.error(measurement.message)
    missing = _why_not_found(context)
    if missing:
        for entry in context.ledger.entries:
            if entry.case == context.name:
                context.tools.workspace.forget(entry.measurement.run_id)
    raise context.error(
        f"the program fails unchanged ({measurement.message}){missing}; check first that it runs "
        f"without stripewise, from a copy of this directory{_output_file_of(context, measurement)}"
    )


def _limit(context: CaseContext) -> str:
    """Return who set the time limit of the first run, and how to extend it."""
    own, of_job = context.options.timeout_seconds, context.tools.run_seconds
    if own is not None and (of_job is None or own < of_job):
        return "; give it more with --timeout"
    if of_job is None:
        return "; give it more with --allocation-time"
    return (
        f", and Slurm would end the job after {of_job:g} s, its time limit: give the script more "
        "with #SBATCH --time"
    )


def _why_not_found(context: CaseContext) -> str:
    """Return that the program does not exist, if a launcher's message hides this."""
    word = program_word(context.options.command)
    there = os.path.sep not in word or (context.options.origin / word).exists()
    return "" if there else f"; there is no {word}"


def _output_file_of(context: CaseContext, measurement: Measurement) -> str:
    """Return the name of the file with a failed program's output; empty if it has none."""
    path = context.executor.place(measurement).record_directory / "stderr"
    if not path.is_file() or not path.stat().st_size:
        return ""
    here = context.options.origin
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"; its whole output is in {shown}"


def _first_look(context: CaseContext, measurement: Measurement) -> FirstLook:
    look = context.tools.measure_first_run
    context.remember(
        "first-look", lambda: to_json(look(context.executor.place(measurement), measurement))
    )
    return _recorded_look(context)


def _recorded_look(context: CaseContext) -> FirstLook:
    data = context.recall("first-look")
    assert data is not None
    return from_json(FirstLook, data)


def _warnings(facts: ProgramFacts) -> list[str]:
    cores = len(os.sched_getaffinity(0))
    warnings = []
    if not (seconds := facts.amount("io_seconds")).is_exact:
        warnings.append(
            f"only a part of the I/O time is known, and runs are compared by that: {seconds.why}"
        )
    if facts.mpi_family == "mpich" and facts.n_hosts == 1 and facts.n_ranks > cores:
        warnings.append(
            f"{facts.n_ranks} ranks on {cores} cores: MPICH spins while it waits, so the "
            "ranking of settings may be wrong; use at most as many ranks as cores"
        )
    return warnings
