# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Describes the decisions of a job script's study and the conclusions from them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stripewise.core import JobStorage, JobStudy, RungRun, Speedup
from stripewise.present import (
    count_text,
    known,
    plural,
    printable,
    rate_text,
    ratio_text,
    seconds_text,
    size_text,
)
from stripewise.study.job_scripts import span_text
from stripewise.study.report._job_rungs import (
    AGGREGATORS,
    DEFAULT_SERIES,
    FILES,
    STRIPING_UNIT,
    TUNED_SERIES,
    Sweep,
    name,
    place,
    series,
    settings_but,
    state_word,
    sweeps,
    what_was_set,
)
from stripewise.study.report._verdict import faster, speedup_text

_CLEAR = 0.05
"""Share below which differences of single runs are not reported as differences.

Source: Markomanolis (KAUST), ExPBB, CUG 2017: the threshold of its converted scripts.
"""


def decisions(study: JobStudy) -> list[str]:
    """Return a line for every rung in order: settings, result, and the rule that created it."""
    return [_decision(run) for run in study.runs]


def _decision(run: RungRun) -> str:
    text = f"{name(run)}: {place(run)}, {what_was_set(run)}: "
    text = text[:1].upper() + text[1:]
    if not run.ok:
        text += state_word(run)
    else:
        text += f"I/O {seconds_text(run.io_seconds)} ({speedup_text(run.io_ratio)})"
        text += f", whole run {known(run.elapsed_seconds)}"
        if run.system_writes:
            text += f", {plural(run.system_writes, 'system write')}"
    reason = printable(run.reason).rstrip(".")
    return f"{text}. {reason[:1].upper()}{reason[1:]}." if reason else f"{text}."


def against(study: JobStudy) -> list[str]:
    """Return a line for each default with the speed-up of the best run over it."""
    return [f"{printable(one)}: {speedup_words(s)}" for one, s in study.speedups.items()]


def speedup_words(speedup: Speedup) -> str:
    """Return an I/O speed-up with its evidence: pairs with an interval, or single runs."""
    if speedup.n_pairs:
        return f"I/O {faster(speedup)}"
    kind = "slower" if speedup.median < 1 else "faster"
    return f"I/O {ratio_text(speedup.median)}x {kind} [single runs: no interval]"


def conclusions(study: JobStudy) -> list[str]:
    """Return the conclusions from the rungs, with the runs that support them."""
    every = (
        _best,
        _rungs_left,
        _fewer_nodes,
        _scaling,
        _aggregators,
        _striping,
        _hybrid,
        _staging,
        _failed,
    )
    return [text for one in every for text in one(study)]


def _best(study: JobStudy) -> Iterator[str]:
    best, first = study.best_run, study.runs[0] if study.runs else None
    if best is None:
        tried = plural(
            max(len(study.runs) - 1, 0), "combination of settings", "combinations of settings"
        )
        if study.left_open:
            yield f"Nothing was decided: {printable(study.left_open)}. Keep the job as it is."
        elif first is None or not first.ok:
            yield "The unchanged job could not be measured, so there is nothing to compare with."
        else:
            yield f"{tried} tried; none was confirmed to be faster. Keep the job as it is."
    elif best.ok and first is not None and first.ok:
        yield (
            f"The best is {name(best)}: {place(best)}, {what_was_set(best)}. Its I/O takes"
            f" {seconds_text(best.io_seconds)} instead of {seconds_text(first.io_seconds)},"
            f" the whole run {known(best.elapsed_seconds)} instead of"
            f" {known(first.elapsed_seconds)}."
        )


def _rungs_left(study: JobStudy) -> Iterator[str]:
    """Yield which numbers of burst-buffer nodes were not tried for lack of trials."""
    left = study.rungs_left
    if not left:
        return
    nodes = ", ".join(str(rung.nodes) for rung in left)
    more = span_text(left[-1].fewest_trials, left[-1].most_trials)
    which = "it" if len(left) == 1 else "the last of them"
    trials = "trial" if more == "1" else "trials"
    yield (
        f"Rungs not reached: {nodes} burst-buffer nodes ({printable(study.stopped_because)})."
        f" Reaching {which} takes {more} more {trials}: continue with --resume and larger limits."
    )


def _fewer_nodes(study: JobStudy) -> Iterator[str]:
    """Yield whether few nodes with settings are faster than many without."""
    found = series(study)
    for tuned in found.get(TUNED_SERIES, ()):
        beaten = [
            run
            for run in found.get(DEFAULT_SERIES, ())
            if run.nodes > tuned.nodes
            and tuned.bandwidth_bytes_per_second > run.bandwidth_bytes_per_second
        ]
        if beaten:
            most = max(beaten, key=lambda run: run.nodes)
            yield (
                f"{plural(tuned.nodes, 'burst-buffer node')} with tuned settings"
                f" ({name(tuned)}, {rate_text(tuned.bandwidth_bytes_per_second)}) moved"
                f" data faster than {most.nodes} with defaults ({name(most)},"
                f" {rate_text(most.bandwidth_bytes_per_second)})."
            )
            return


def _scaling(study: JobStudy) -> Iterator[str]:
    """Yield the effect of more nodes without other settings."""
    runs = series(study).get(DEFAULT_SERIES, [])
    if len(runs) < 2:
        return
    few, many = runs[0], runs[-1]
    nodes = many.nodes / few.nodes
    gain = many.bandwidth_bytes_per_second / few.bandwidth_bytes_per_second
    text = (
        f"With default settings, {nodes:.3g} times the burst-buffer nodes"
        f" ({few.nodes} to {many.nodes}) gave {ratio_text(gain)}x the bandwidth,"
        f" {_percent(gain / nodes)} of perfect scaling"
    )
    longer = many.elapsed_seconds / few.elapsed_seconds - 1
    if longer > _CLEAR:
        text += f", and the whole run took {_percent(longer)} longer"
    yield f"{text}."


def _aggregators(study: JobStudy) -> Iterator[str]:
    for sweep in list(sweeps(study.runs, AGGREGATORS))[:1]:
        best = sweep.fastest
        figures = ", ".join(
            f"{run.aggregators}: {seconds_text(run.io_seconds)}" for run in sweep.runs
        )
        if not _differs(sweep):
            yield f"The aggregators made no clear difference ({sweep.where}): {figures}."
        elif best is sweep.runs[0]:
            yield f"More aggregators did not make the I/O faster ({sweep.where}): {figures}."
        else:
            yield (
                f"{best.aggregators} aggregators gave the fastest I/O ({sweep.where}): {figures}."
            )


def _striping(study: JobStudy) -> Iterator[str]:
    for sweep in list(sweeps(study.runs, STRIPING_UNIT))[:1]:
        small, large = sweep.runs[0], sweep.runs[-1]
        figures = ", ".join(f"{_unit(r)}: {seconds_text(r.io_seconds)}" for r in sweep.runs)
        plain = _without_unit(study, sweep.fastest)
        if plain < sweep.fastest.io_seconds:
            yield (
                "No striping unit that was tried was faster than the default "
                f"({seconds_text(plain)}) ({sweep.where}): {figures}."
            )
        elif _differs(sweep):
            yield (
                f"A striping unit of {_unit(sweep.fastest)} gave the fastest I/O"
                f" ({sweep.where}): {figures}."
            )
        else:
            yield f"The striping unit made no clear difference ({sweep.where}): {figures}."
        few, many = large.system_writes, small.system_writes
        if few and many and many > few * (1 + _CLEAR):
            yield (
                f"A striping unit of {_unit(small)} instead of {_unit(large)} raised the number"
                f" of system writes from {count_text(few)} to {count_text(many)}"
                f" ({ratio_text(many / few)}x)."
            )


def _without_unit(study: JobStudy, like: RungRun) -> float:
    """Return the I/O time with the same settings but no unit; infinite if it was not run."""
    return min(
        (
            run.io_seconds
            for run in study.runs
            if run.ok
            and not run.striping_unit_bytes
            and (run.storage, run.nodes) == (like.storage, like.nodes)
            and settings_but(run, STRIPING_UNIT) == settings_but(like, STRIPING_UNIT)
        ),
        default=math.inf,
    )


def _differs(sweep: Sweep) -> bool:
    times = [run.io_seconds for run in sweep.runs]
    return max(times) > min(times) * (1 + _CLEAR)


def _unit(run: RungRun) -> str:
    return size_text(run.striping_unit_bytes or 0)


def _hybrid(study: JobStudy) -> Iterator[str]:
    """Yield whether keeping the small files off the burst buffer made the whole run faster."""
    every = [run for run in study.runs if run.ok and math.isfinite(run.elapsed_seconds)]
    for run in sorted((r for r in every if r.storage == JobStorage.HYBRID), key=_whole):
        same = [
            r
            for r in every
            if (r.storage, r.nodes) == (JobStorage.BURST_BUFFER, run.nodes)
            and settings_but(r, FILES) == settings_but(run, FILES)
        ]
        if not same:
            continue
        other = min(same, key=_whole)
        change = 1 - run.elapsed_seconds / other.elapsed_seconds
        if abs(change) < _CLEAR:
            verb = "made no clear difference to the whole run"
        else:
            verb = f"made the whole run {_percent(abs(change))}"
            verb += " shorter" if change > 0 else " longer"
        files = printable(str(run.settings.get(FILES, "some files")))
        yield (
            f"The hybrid run ({name(run)}, only {files} on the burst buffer) {verb}:"
            f" {seconds_text(run.elapsed_seconds)} against"
            f" {seconds_text(other.elapsed_seconds)} ({name(other)})."
        )
        return


def _percent(share: float) -> str:
    """Return a share from single runs, without more digits than they support."""
    return f"{100 * share:.0f} %"


def _whole(run: RungRun) -> float:
    return run.elapsed_seconds


def _staging(study: JobStudy) -> Iterator[str]:
    best = study.best_run
    if best is None or not best.staging_seconds > 0 or not best.elapsed_seconds > 0:
        return
    both = best.elapsed_seconds + best.staging_seconds
    yield (
        f"Staging takes {seconds_text(best.staging_seconds)} of the {seconds_text(both)} of"
        f" {name(best)}, {_percent(best.staging_seconds / both)}."
    )


def _failed(study: JobStudy) -> Iterator[str]:
    was_run = [run for run in study.runs if run.number or not study.left_open]
    without = [run for run in was_run if not run.ok]
    if without:
        which = ", ".join(f"{run.number} ({state_word(run)})" for run in without)
        yield f"{plural(len(without), 'run')} could not be measured: {which}."
