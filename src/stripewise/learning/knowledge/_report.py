# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows remembered studies, one per line or one in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stripewise.evidence.patterns import pattern_of
from stripewise.learning.knowledge._recall import effect_phrase
from stripewise.learning.knowledge._records import Lesson, StudiedCase
from stripewise.present import aligned, plural, printable, ratio_text, size_text
from stripewise.settings.tunables import format_settings


def lessons_table(found: Sequence[tuple[Lesson, str]]) -> list[str]:
    """Return one line per study: id, date, program, machine, result."""
    rows = [("STUDY", "DATE", "PROGRAM", "RANKS", "PATTERN", "STACK", "STORAGE", "FROM", "FOUND")]
    return aligned(rows + [_row(lesson, origin) for lesson, origin in found])


def lesson_lines(lesson: Lesson, origin: str) -> Iterator[str]:
    """Yield all details of a study."""
    yield f"study {lesson.study_id} ({origin}), {lesson.date}"
    for title, text in _facts(lesson.case):
        yield f"  {title:<14}{printable(text)}"
    yield f"  {'found':<14}{_found(lesson)}"
    if lesson.resolution:
        yield f"  {'resolution':<14}{printable(lesson.resolution)}"
    yield f"  {'tried':<14}{len(lesson.tried)} settings in {lesson.n_runs} runs"
    for tried in lesson.tried:
        gain = f"{ratio_text(1 / tried.io_ratio)}x" if tried.io_ratio else ""
        yield f"    {tried.state.value:<10}{gain:<9}{format_settings(tried.settings)}".rstrip()


def _row(lesson: Lesson, origin: str) -> tuple[str, ...]:
    case = lesson.case
    return (
        lesson.study_id[:8],
        lesson.date,
        printable(case.fingerprint.program),
        str(case.fingerprint.n_ranks),
        _main_pattern(case),
        printable(_stack(case)),
        printable(case.machine.emulated or case.machine.described or case.machine.filesystem),
        origin,
        _found(lesson),
    )


def _found(lesson: Lesson) -> str:
    if lesson.improved:
        found = f"{_effect(lesson)}  {format_settings(lesson.candidate)}"
    elif lesson.effect is not None:
        found = f"no improvement, {_effect(lesson)}  {format_settings(lesson.candidate)}"
    else:
        found = "no improvement"
    bad = len(lesson.bad)
    return f"{found}  ({bad} failed or rejected)" if bad else found


def _effect(lesson: Lesson) -> str:
    return effect_phrase(lesson).rpartition(",")[0]


def _stack(case: StudiedCase) -> str:
    stack = case.stack
    mpi = f"{stack.mpi_family} {stack.mpi_version}".strip()
    return " ".join(part for part in (mpi, stack.mpiio) if part) or "no MPI"


def _facts(case: StudiedCase) -> Iterator[tuple[str, str]]:
    program, machine, stack = case.fingerprint, case.machine, case.stack
    digest = f", SHA-256 {program.executable_sha256[:16]}" if program.executable_sha256 else ""
    hosts = f" on {program.n_hosts} nodes" if program.n_hosts > 1 else ""
    yield "program", f"{program.program}, {program.n_ranks} ranks{hosts}{digest}"
    yield "I/O", ", ".join(_behaviour(case))
    yield from _patterns(case)
    libraries = [
        f"{name} {version}"
        for name in ("hdf5", "netcdf", "pnetcdf", "adios2")
        if (version := getattr(stack, name))
    ]
    yield "stack", ", ".join([_stack(case), *libraries])
    memory = f"{machine.memory_bytes / 2**30:.0f} GiB"
    yield (
        "machine",
        f"{machine.processors} x {machine.cpu or machine.architecture}, {memory}, "
        f"Linux {machine.kernel}",
    )
    words = (
        f"{machine.described}," if machine.described else "",
        machine.filesystem,
        f"emulated {machine.emulated}" if machine.emulated else "",
    )
    yield "storage", " ".join(part for part in (*words, machine.device) if part)


def _patterns(case: StudiedCase) -> Iterator[tuple[str, str]]:
    """Yield the patterns of each class of files, starting with the one that moved most bytes."""
    program = case.fingerprint
    for one in program.patterns:
        words = [
            pattern_of(one, program.n_ranks).notation,
            "written" if one.writing else "read",
            f"{one.collective:.0%} collective",
            f"{one.element_bytes} bytes an element",
        ]
        words += [plural(one.datasets, "dataset")] if one.datasets > 1 else []
        words += [plural(one.steps, "step")] if one.steps > 1 else []
        words.append(
            f"{size_text(one.bytes)}, " * bool(one.bytes) + f"{one.share:.0%} of the bytes"
        )
        words += [f"in {program.file_classes[one.file_class - 1].match}"] if one.file_class else []
        yield "pattern", ", ".join(words)


def _main_pattern(case: StudiedCase) -> str:
    first = case.fingerprint.patterns[:1]
    return "".join(pattern_of(one, case.fingerprint.n_ranks).notation for one in first) or "-"


def _behaviour(case: StudiedCase) -> Iterator[str]:
    program = case.fingerprint
    for name in ("collective", "independent", "posix"):
        if share := getattr(program, f"{name}_share"):
            yield f"{share:.0%} {name}"
    yield f"{program.read_share:.0%} read"
    if program.noncontiguous:
        yield "noncontiguous"
    yield f"{2**program.bytes_per_call_log2:.0f} bytes a call"
    yield f"{2**program.calls_per_rank_log2:.0f} calls a rank"
    if program.shared_files:
        yield f"{program.shared_files} shared files"
