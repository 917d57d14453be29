# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings per file: requested, applied, reported by MPI, and what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stripewise.model import Measurement, ObservedFile, StudyResult, TrialState
from stripewise.report._digest import baseline_runs, best_runs
from stripewise.report._text import format_bytes, format_count, format_seconds

MOST_FILES = 20


def files_section(result: StudyResult) -> dict[str, Any] | None:
    """Compare the files of one baseline run with those of one run of the best.

    Returns:
        `files` (each with `path`, `observed`: rows of what, before, after, and `hints`: rows of
        key, then requested by the program, applied by Stripewise and reported by MPI, before and
        after), largest first; `n_left_out`; `runs`: names of the one or two runs.  None without
        files.
    """
    before = _last_with_files(baseline_runs(result)) or _last_with_files(
        [run.measurement for run in result.runs]
    )
    after, name = _other_run(result)
    first = {file.path: file for file in (before.files if before else ())}
    second = {file.path: file for file in (after.files if after else ())}
    paths = list(dict.fromkeys([*first, *second]))
    if not paths:
        return None
    return {
        "files": [
            _compare(path, first.get(path), second.get(path)) for path in paths[:MOST_FILES]
        ],
        "n_left_out": max(len(paths) - MOST_FILES, 0),
        "runs": ["Baseline", name] if second else ["Baseline"],
    }


def _other_run(result: StudyResult) -> tuple[Measurement | None, str]:
    if result.improved:
        return _last_with_files(best_runs(result)), "Best"
    if result.winner is not None:
        runs = [second for _, second in result.pairs] or list(result.winner.measurements)
        return _last_with_files(runs), "Candidate (not kept)"
    complete = [trial for trial in result.trials if trial.state is TrialState.COMPLETE]
    if not complete:
        return None, ""
    fastest = min(complete, key=lambda trial: trial.io_ratio)
    return _last_with_files(fastest.measurements), f"Trial {fastest.number} (not kept)"


def _last_with_files(runs: Sequence[Measurement]) -> Measurement | None:
    return next((run for run in reversed(runs) if run.ok and run.files), None)


def _compare(path: str, first: ObservedFile | None, second: ObservedFile | None) -> dict[str, Any]:
    before, after = _observed(first), _observed(second)
    keys = dict.fromkeys([*before, *after])
    observed = [(key, before.get(key, "–"), after.get(key, "–")) for key in keys]
    return {"path": path, "observed": observed, "hints": _hints(first, second)}


def _observed(file: ObservedFile | None) -> dict[str, str]:
    if file is None:
        return {}
    amounts = ((file.amount("write_bytes"), "written"), (file.amount("read_bytes"), "read"))
    moved = [
        f"{amount.words(format_bytes)} {verb}"
        for amount, verb in amounts
        if amount.value or not amount.is_exact
    ]
    rows = {
        "Interface of the program": file.interface or "unknown",
        "Program asked for": ", ".join(moved) or "nothing",
        "I/O time (slowest rank)": file.amount("io_seconds").words(format_seconds),
    }
    if file.readers:
        rows["Ranks that issued system reads"] = str(file.readers)
    if file.system_writes:
        rows["Ranks that issued system writes"] = file.amount("writers").words(format_count)
        rows["System writes"] = (
            f"{file.system_writes:,}".replace(",", " ")
            + f" ({format_bytes(file.system_write_bytes)})"
        )
        rows["Size of a system write"] = (
            f"about {format_bytes(file.median_write_bytes)} (median),"
            f" {format_bytes(file.largest_write_bytes)} (largest)"
        )
        if file.aligned_fraction:
            rows["Aligned system writes"] = ", ".join(
                f"{100 * fraction:.0f} % to {format_bytes(alignment)}"
                for alignment, fraction in sorted(file.aligned_fraction.items())
            )
    return rows


def _hints(
    first: ObservedFile | None, second: ObservedFile | None
) -> list[tuple[str, list[str], list[str]]]:
    """Rows of the settings table: what Stripewise applied first, then what was asked for."""
    nothing = ObservedFile("")
    before, after = (
        (file.requested, file.applied, file.reported)
        for file in (first or nothing, second or nothing)
    )
    rows = [
        (key, [told.get(key, "") for told in before], [told.get(key, "") for told in after])
        for key in sorted({key for told in (*before, *after) for key in told})
    ]
    return sorted(rows, key=lambda row: not (row[2][1] or row[2][0] or row[1][0]))
