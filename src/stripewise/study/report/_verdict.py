# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes the conclusion of a study and its evidence."""

from __future__ import annotations

import math
import statistics
from collections import Counter

from stripewise.core import (
    CaseOutcome,
    Measurement,
    ProgramFacts,
    RunStatus,
    Speedup,
    StudyResult,
    Trial,
    TrialState,
    Verification,
)
from stripewise.present import (
    amount_words,
    interval_text,
    plural,
    printable,
    ratio_text,
    seconds_text,
    size_text,
)
from stripewise.settings.tunables import format_settings
from stripewise.study.report._digest import (
    baseline_figures,
    baseline_runs,
    best_figures,
    best_runs,
)


def headline(result: StudyResult) -> str:
    """Return the conclusion in a few words."""
    where = f" on emulated {result.emulated}" if result.emulated else ""
    if result.left_open:
        return f"{result.outcome.capitalize()}{where}"
    if not result.improved:
        return f"No improvement found{where}"
    if result.speedup is None:
        return f"I/O is faster{where}"
    return f"I/O {ratio_text(result.speedup.median)}x faster{where}"


def conclusion(result: StudyResult) -> str:
    """Return the conclusion in one or two sentences with the evidence."""
    return _evidence(result) if result.improved else _why_not(result)


def storage_phrase(result: StudyResult) -> str:
    """Return which storage was emulated, and what that means; empty if none was."""
    if not result.emulated:
        return ""
    return f"emulated: {result.emulated}; results apply to that storage, not to this host's"


def limits_phrase(result: StudyResult) -> str:
    """Return what requests on an emulated storage waited for, before and after; may be empty."""
    before, after = (
        next((run.limits for run in runs if run.limits), "")
        for runs in (baseline_runs(result), best_runs(result))
    )
    if not before or not result.improved or before == after:
        return before
    return f"{before} → {after or 'nothing'}"


def traffic(result: StudyResult) -> str:
    """Return the change of what reaches the storage with the best settings; empty if none."""
    before, after = (
        statistics.median([_system_bytes(run) for run in runs]) if runs else 0
        for runs in (baseline_runs(result), best_runs(result))
    )
    if not result.improved or min(before, after) <= 0 or 0.8 < after / before < 1.25:
        return ""
    more = "more" if after > before else "less"
    return (
        f"the system writes {more} with these settings: {size_text(after)} instead of"
        f" {size_text(before)}"
    )


def _system_bytes(run: Measurement) -> int:
    return sum(file.system_write_bytes for file in run.files)


def wide(speedup: Speedup) -> str:
    """Return advice if an improvement is certain but not its size; empty otherwise."""
    if not speedup.high > 3 * speedup.low:
        return ""
    return (
        "the size of the gain is uncertain, because run times vary widely; a larger problem "
        "or a quieter machine would narrow it down"
    )


def faster(speedup: Speedup) -> str:
    """Return a speed-up with its interval: "5.2x faster [4.6–5.7, 95 %, 6 paired runs]".

    A median below 1 is written as "0.43x, slower".
    """
    kind = ", slower" if speedup.median < 1 else " faster" if speedup.median > 1 else ""
    return f"{ratio_text(speedup.median)}x{kind} {interval_text(speedup)}"


def speedup_text(ratio: float) -> str:
    """Return the speed-up of a time that is `ratio` of the baseline's: 3.8x; "–" without one."""
    return f"{ratio_text(1 / ratio)}x" if 0 < ratio < math.inf else "–"


def whole_program(speedup: Speedup | None) -> str:
    """Return the whole program's speed-up; empty if unknown."""
    if speedup is None or not math.isfinite(speedup.median):
        return ""
    return f"whole program {ratio_text(speedup.median)}x"


def _evidence(result: StudyResult) -> str:
    before, after = baseline_figures(result), best_figures(result)
    whose = f"Over {len(result.cases)} cases, I/O" if result.is_ensemble else "The program's I/O"
    text = (
        f"{whose} takes {amount_words(after, 'io_seconds')} instead of"
        f" {amount_words(before, 'io_seconds')}"
    )
    if result.speedup is not None:
        text += f": {faster(result.speedup)}"
        if result.is_ensemble:
            text += " (geometric mean of the cases)"
    text += "."
    if result.elapsed_speedup is not None:
        text += (
            f" The whole program takes {seconds_text(after.seconds)} instead of"
            f" {seconds_text(before.seconds)}"
            f" ({ratio_text(result.elapsed_speedup.median)}x)."
        )
    return text


def _why_not(result: StudyResult) -> str:
    if result.left_open:
        more = "give the study a larger limit, or tune a case whose runs are shorter"
        tried = more if not result.trials else "the settings that you have stay as they are"
        return f"{printable(result.left_open)}. {tried.capitalize()}."
    if not result.trials:
        why = result.stopped_because or "no tunable acts on this program"
        return f"No configuration was tried: {printable(why)}. The settings stay as they are."
    if result.speedup is not None and result.winner is not None:
        return _not_confirmed(result, result.speedup)
    tried = plural(len(result.trials), "configuration")
    complete = any(trial.state is TrialState.COMPLETE for trial in result.trials)
    if result.rejected and not complete:
        return f"Of {tried} tried, none could be kept: see the rejected ones below."
    return (
        f"{tried[:1].upper() + tried[1:]} tried; none was faster in fresh pairs of runs by more"
        " than the noise. Keep the settings that you have."
    )


def _not_confirmed(result: StudyResult, speedup: Speedup) -> str:
    settings = format_settings(result.winner.settings) if result.winner else ""
    measured = f"{ratio_text(speedup.median)}x {interval_text(speedup)}"
    tried = len(result.trials)
    which = (
        f"The most promising of {tried} configurations" if tried > 1 else "The only configuration"
    )
    text = f"{which} ({settings}) reached a speed-up of {measured} in fresh runs"
    losses = _slower_phrase(result)
    if speedup.low > 1 and losses:
        return (
            f"{text} over all cases, but {losses}. A configuration must not make any case "
            "slower, so it is not kept. To use it for the other cases, tune that case "
            "separately."
        )
    if speedup.low > 1 and any(case.outcome is CaseOutcome.OPEN for case in result.cases):
        names = ", ".join(printable(c.name) for c in result.cases if c.outcome is CaseOutcome.OPEN)
        return (
            f"{text} over all cases, but the budget ran out before the effect on {names} was "
            "clear."
        )
    if speedup.low > 1:
        return f"{text}, but the whole program got slower with it, so it is not kept."
    if math.isfinite(speedup.low):
        return (
            f"{text}. The interval includes 1, so the difference may be noise: keep the settings"
            f" that you have.{_more_would_help(speedup)}"
        )
    return (
        f"{text}; more pairs were unlikely to show an improvement. Keep the settings"
        " that you have."
    )


def _slower_phrase(result: StudyResult) -> str:
    """Return which cases got slower, with their intervals; empty if none did."""
    losses = []
    for case in result.cases if result.is_ensemble else ():
        if case.outcome is not CaseOutcome.SLOWER:
            continue
        io, whole = case.speedup, case.elapsed_speedup
        figures = [
            f"{name} {ratio_text(speedup.median)}x {interval_text(speedup)}"
            for name, speedup in (("I/O", io), ("whole program", whole))
            if speedup is not None and speedup.median < 1
        ]
        losses.append(f"{printable(case.name)} got slower ({'; '.join(figures)})")
    return ", and ".join(losses)


def _more_would_help(speedup: Speedup) -> str:
    """Return how to learn more, if the interval is too wide to be informative."""
    if speedup.high < 2 * speedup.low:
        return ""
    return (
        " Run times vary widely: a larger problem (more I/O in a run) or a"
        " quieter machine would narrow the interval."
    )


def trials_phrase(result: StudyResult) -> str:
    """Return how the trials ended: "12 tried, 1 failed, 2 stopped early"."""
    counts = Counter(trial.state for trial in result.trials)
    parts = [f"{len(result.trials)} tried"]
    for state, words in (
        (TrialState.HOPELESS, "stopped early as clearly slower"),
        (TrialState.FAILED, "failed"),
        (
            TrialState.LOST,
            "unknown (ended from outside, or with an output that differs by chance)",
        ),
        (TrialState.REJECTED, "REJECTED"),
    ):
        if counts[state]:
            parts.append(f"{counts[state]} {words}")
    timeouts = sum(run.measurement.status is RunStatus.TIMEOUT for run in result.runs)
    if timeouts:
        parts.append(f"{plural(timeouts, 'run')} stopped by the time limit")
    return ", ".join(parts)


def rejections(result: StudyResult) -> list[str]:
    """Return warnings on which configurations were rejected, and why."""
    return [_rejection(result, number, found) for number, found in result.rejected.items()]


def _rejection(result: StudyResult, number: int, verification: Verification) -> str:
    settings = next((t.settings for t in result.trials if t.number == number), {})
    files = "; ".join(
        f"{printable(path)}: {printable(text)}"
        for path, text in list(verification.differences.items())[:3]
    )
    more = len(verification.differences) - 3
    if more > 0:
        files += f"; and {plural(more, 'more file')}"
    name = f"trial {number} ({format_settings(settings) or 'no settings'})"
    return f"{name} CHANGED THE OUTPUT and is not used: {files or 'output differs'}"


def outcome_word(case: StudyResult) -> str:
    """Return the outcome of a case: "faster", "SLOWER", "no significant change"."""
    outcome = case.cases[0].outcome
    return "SLOWER" if outcome is CaseOutcome.SLOWER else outcome.value


def part_ratios(trial: Trial) -> str:
    """Return speed-ups per case or class of files: "plt*.h5 3.1x, chk*.h5 0.4x"."""
    return ", ".join(
        f"{printable(name)} {speedup_text(ratio)}"
        for name, ratio in (trial.case_ratios or trial.class_ratios).items()
        if ratio > 0
    )


def facts_phrase(facts: ProgramFacts) -> str:
    """Return one line on what the first run showed."""
    mpiio = facts.mpiio_implementation
    how = {
        {"romio": "ROMIO", "ompio": "OMPIO"}.get(mpiio, mpiio): mpiio,
        "collective": facts.collective_bytes,
        "independent": facts.independent_bytes,
    }
    interfaces = {
        "ADIOS2": facts.uses_adios2,
        "netCDF-4": facts.uses_netcdf4,
        "parallel HDF5" if facts.uses_parallel_hdf5 else "HDF5": facts.uses_hdf5,
        "PnetCDF": facts.uses_pnetcdf,
        f"MPI-IO ({', '.join(name for name, used in how.items() if used)})": mpiio,
        "POSIX": facts.posix_bytes,
    }
    parts = [
        plural(facts.n_ranks, "rank"),
        " + ".join(name for name, used in interfaces.items() if used),
        _mpi_name(facts.mpi_version),
        f"pattern {printable(facts.pattern)}" if facts.pattern else "",
    ]
    return ", ".join(part for part in parts if part)


def _mpi_name(version: str) -> str:
    """Shorten the version text of an MPI: "Open MPI v4.1.4", "MPICH 4.0.2"."""
    words = version.strip().partition(",")[0].split()
    return printable(" ".join(word for word in words if word != "Version:"))
