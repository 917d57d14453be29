# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents the settings of each file with their effects, and how to apply the best ones."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from stripewise.core import (
    Configuration,
    Measurement,
    ObservedFile,
    StudyResult,
    TrialState,
)
from stripewise.core.errors import StripewiseError
from stripewise.present import (
    command_line,
    count_text,
    percent_text,
    plural,
    printable,
    seconds_text,
    size_text,
    value_text,
)
from stripewise.present.blocks import Block, Column, Lines, Notice, Section, Table
from stripewise.run.runtime import command_with_resources, launch_environment, resource_environment
from stripewise.settings import formats
from stripewise.settings.tunables import setting_name
from stripewise.study.report._digest import baseline_runs, best_runs, case_results
from stripewise.study.report._summary import classes_with_settings, run_commands

# Settings per file: requested, applied, reported by MPI, and observed.

MOST_FILES = 20
_MOST_OPEN = 12


def file_settings(result: StudyResult, prefix: str) -> list[Block]:
    """Compare the files of one baseline run with those of one run of the best, largest first.

    Args:
        result: Result of a study, or of one case.
        prefix: Prefix of the blocks' names.

    Returns:
        A section for each file; empty without files.
    """
    before = _last_with_files(baseline_runs(result)) or _last_with_files(
        [run.measurement for run in result.runs]
    )
    after, name = _other_run(result)
    first = {file.path: file for file in (before.files if before else ())}
    second = {file.path: file for file in (after.files if after else ())}
    paths = list(dict.fromkeys([*first, *second]))
    runs = ["Baseline", name] if second else ["Baseline"]
    blocks: list[Block] = [
        _file_section(f"{prefix}-{number}", path, runs, [first.get(path), second.get(path)])
        for number, path in enumerate(paths[:MOST_FILES])
    ]
    if (more := len(paths) - MOST_FILES) > 0:
        text = f"{plural(more, 'more file')} of these runs not shown; all are smaller."
        blocks.append(Notice(f"{prefix}-more", "", [text], "plain"))
    return blocks


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


def _file_section(
    name: str, path: str, runs: Sequence[str], files: Sequence[ObservedFile | None]
) -> Section:
    """Return what was observed of a file in one or two runs, with its hints folded below."""
    sides = list(enumerate(files[: len(runs)]))
    observed = [_observed(file) for _, file in sides]
    columns = [Column("what", "Observed"), *(Column(f"run{n}", runs[n]) for n, _ in sides)]
    rows = [
        {"what": what, **{f"run{n}": observed[n].get(what) for n, _ in sides}}
        for what in dict.fromkeys(what for one in observed for what in one)
    ]
    blocks: list[Block] = [Table(f"{name}-observed", "", columns, rows, total="Observed")]
    if hints := _hint_rows([file for _, file in sides]):
        columns = [Column("hint", "Hint", "code")]
        columns += [
            Column(f"{source}{n}", f"{runs[n]}: {source}") for n, _ in sides for source in _SOURCES
        ]
        table = Table(f"{name}-hints", "", columns, hints, total="Hints")
        title = plural(len(hints), "hint")
        blocks.append(Section(f"{name}-folded", title, [table], len(hints) > _MOST_OPEN))
    return Section(name, path, blocks)


def _observed(file: ObservedFile | None) -> dict[str, str]:
    if file is None:
        return {}
    amounts = ((file.amount("write_bytes"), "written"), (file.amount("read_bytes"), "read"))
    moved = [
        f"{amount.words(size_text)} {verb}"
        for amount, verb in amounts
        if amount.value or not amount.is_exact
    ]
    rows = {
        "Interface of the program": file.interface or "unknown",
        "Requested by the program": ", ".join(moved) or "nothing",
        "I/O time (slowest rank)": file.amount("io_seconds").words(seconds_text),
    }
    if file.readers:
        rows["Ranks that issued system reads"] = str(file.readers)
    if file.system_writes:
        rows["Ranks that issued system writes"] = file.amount("writers").words(count_text)
        writes, written = count_text(file.system_writes), size_text(file.system_write_bytes)
        rows["System writes"] = f"{writes} ({written})"
        rows["Size of a system write"] = (
            f"about {size_text(file.median_write_bytes)} (median),"
            f" {size_text(file.largest_write_bytes)} (largest)"
        )
        if file.aligned_fraction:
            rows["Aligned system writes"] = ", ".join(
                f"{percent_text(fraction)} to {size_text(alignment)}"
                for alignment, fraction in sorted(file.aligned_fraction.items())
            )
    return rows


_SOURCES = ("requested", "applied", "reported")
"""Attributes of a file with its hints: requested by the program, applied by Stripewise, reported
by MPI."""


def _hint_rows(files: Sequence[ObservedFile | None]) -> list[dict[str, str]]:
    """Return a row for each hint, starting with those that Stripewise applied."""
    values = {
        f"{source}{number}": getattr(file or ObservedFile(""), source)
        for number, file in enumerate(files)
        for source in _SOURCES
    }
    rows = [
        {"hint": key} | {name: hints.get(key, "") for name, hints in values.items()}
        for key in sorted({key for hints in values.values() for key in hints})
    ]
    return sorted(
        rows,
        key=lambda row: (
            not any(row.get(name) for name in ("applied1", "requested1", "requested0"))
        ),
    )


# Ways to apply the best settings, with and without Stripewise.

_WITHOUT = "Without Stripewise"


def recipes(result: StudyResult) -> list[Block]:
    """Return the best settings and the ways to apply them; empty if nothing won."""
    if not result.improved or result.winner is None:
        return []
    settings = result.winner.settings.items()
    own = " ".join(f"Settings of their own: {text}." for text in classes_with_settings(result))
    lines = [f"{setting_name(name)} = {value_text(value)}" for name, value in settings]
    allowed = ""
    if result.facts.mpi_family == "openmpi" and os.geteuid() == 0:
        # Stripewise allows root to start Open MPI, which plain mpiexec refuses.
        allowed = "".join(f"export {name}=1\n" for name in launch_environment({}))
    blocks: list[Block] = [Lines("apply-settings", "", lines, own)]
    for number, (title, text, lost) in enumerate(_ways(result, result.winner.configuration)):
        if text and allowed and title.startswith(_WITHOUT):
            title, text = f"{title}, as root", allowed + text
        note = f"This form cannot express: {'; '.join(lost)}" if lost else ""
        name = f"apply-{number}"
        blocks.append(
            Lines(name, title, text.splitlines(), note)
            if text
            else Notice(name, title, [note], "plain")
        )
    return blocks


_Way = tuple[str, str, Sequence[str]]
"""Title of a way to apply settings, lines for a shell, and settings that it cannot apply."""


def _ways(result: StudyResult, configuration: Configuration) -> Iterator[_Way]:
    """Yield the ways to apply a configuration."""
    yield "With Stripewise (same binary)", "\n".join(run_commands(result)), ()
    if configuration.job.resources:
        yield _resources(result, configuration)
    openmpi = result.facts.mpi_family == "openmpi"
    if openmpi and configuration.job.mca:
        exports = [
            f"export {name}={shlex.quote(printable(value))}"
            for name, value in formats.job_environment(configuration).items()
        ]
        yield f"{_WITHOUT}: MCA parameters of Open MPI", "\n".join(exports), ()
    if not any(rule.mpiio for rule in configuration.files):
        return
    # Only ROMIO reads ROMIO_HINTS.
    mpiio = str(configuration.job.mca.get("io", result.facts.mpiio_implementation))
    if mpiio.startswith("romio"):
        written = formats.get("romio-hints").write(configuration)
        text = written.text.strip()
        if text:
            text = (
                f"cat > romio-hints <<'END'\n{text}\nEND\nexport ROMIO_HINTS=\"$PWD/romio-hints\""
            )
        yield f"{_WITHOUT}: a hints file for ROMIO", text, written.lost
    if not openmpi:
        written = formats.get("mpich-hints").write(configuration)
        yield (
            f"{_WITHOUT}: the environment variable of Cray MPICH",
            written.text.strip(),
            written.lost,
        )


def _resources(result: StudyResult, configuration: Configuration) -> _Way:
    """Return the commands with ranks and threads, which do not include other settings."""
    title = f"{_WITHOUT}: ranks and threads"
    job = configuration.job
    lines = [f"export {name}={value}" for name, value in resource_environment(job).items()]
    try:
        lines += [
            command_line(command_with_resources(c.command, job)) for c in case_results(result)
        ]
    except StripewiseError as error:
        return title, "", (str(error),)
    return title, "\n".join(lines), ()
