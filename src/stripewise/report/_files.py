# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings per file: requested, applied, reported by MPI, and what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.model import Measurement, ObservedFile, StudyResult, TrialState
from stripewise.report._digest import baseline_runs, best_runs
from stripewise.report._text import format_bytes, format_seconds

MOST_FILES = 20


@dataclass(frozen=True)
class HintRow:
    """One hint of one file in both runs; "" where it was not set or not reported.

    Attributes:
        key: Name of the hint.
        baseline / best: (requested by the program, applied by Stripewise, reported by MPI).
    """

    key: str
    baseline: tuple[str, str, str]
    best: tuple[str, str, str]


@dataclass(frozen=True)
class FileComparison:
    """One file in the baseline and in the best run.

    Attributes:
        path: As the run saw it.
        observed: (what, in the baseline, in the best run).
        hints: Rows of the settings table.
    """

    path: str
    observed: tuple[tuple[str, str, str], ...]
    hints: tuple[HintRow, ...]


@dataclass(frozen=True)
class FilesSection:
    """What the page shows of files.

    Attributes:
        files: Compared files, largest first.
        n_left_out: Files that are not shown.
        compared: Whether there is a best run beside the baseline.
        observed_of: Names of the two columns.
    """

    files: tuple[FileComparison, ...]
    n_left_out: int
    compared: bool
    observed_of: tuple[str, str]


def files_section(result: StudyResult) -> FilesSection:
    """Compare the files of one baseline run with those of one run of the best."""
    before = _last_with_files(baseline_runs(result)) or _last_with_files(
        [run.measurement for run in result.runs]
    )
    after, name = _other_run(result)
    first = {file.path: file for file in (before.files if before else ())}
    second = {file.path: file for file in (after.files if after else ())}
    paths = list(dict.fromkeys([*first, *second]))
    shown = paths[:MOST_FILES]
    return FilesSection(
        files=tuple(_compare(path, first.get(path), second.get(path)) for path in shown),
        n_left_out=len(paths) - len(shown),
        compared=bool(second),
        observed_of=("Baseline", name),
    )


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


def _compare(path: str, first: ObservedFile | None, second: ObservedFile | None) -> FileComparison:
    before, after = _observed(first), _observed(second)
    keys = list(dict.fromkeys([*before, *after]))
    return FileComparison(
        path=path,
        observed=tuple((key, before.get(key, "–"), after.get(key, "–")) for key in keys),
        hints=_hints(first, second),
    )


def _observed(file: ObservedFile | None) -> dict[str, str]:
    if file is None:
        return {}
    moved = [
        f"{format_bytes(size)} {verb}"
        for size, verb in ((file.write_bytes, "written"), (file.read_bytes, "read"))
        if size
    ]
    rows = {
        "Interface of the program": file.interface or "unknown",
        "Program asked for": ", ".join(moved) or "nothing",
        "I/O time (slowest rank)": format_seconds(file.io_seconds),
    }
    if file.system_writes:
        rows["Ranks that issued system writes"] = str(file.writers)
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


def _hints(first: ObservedFile | None, second: ObservedFile | None) -> tuple[HintRow, ...]:
    keys: set[str] = set()
    for file in (first, second):
        if file is not None:
            keys |= {*file.requested, *file.applied, *file.reported}

    def cells(file: ObservedFile | None, key: str) -> tuple[str, str, str]:
        if file is None:
            return ("", "", "")
        return (
            file.requested.get(key, ""),
            file.applied.get(key, ""),
            file.reported.get(key, ""),
        )

    rows = [HintRow(key, cells(first, key), cells(second, key)) for key in sorted(keys)]
    return tuple(sorted(rows, key=lambda row: not (row.best[1] or row.best[0] or row.baseline[0])))
