# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise knowledge`: what studies found, for those that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli import _knowledge_packs as packs
from stripewise.cli._common import answer, examples, json_option, note
from stripewise.errors import UsageError
from stripewise.report import format_settings
from stripewise.text import plural, printable

if TYPE_CHECKING:
    from stripewise.knowledge import Case, Lesson, Store

_program_option = click.option(
    "--program", default="", metavar="NAME", help="Only studies of the program of this name."
)


@click.group(
    epilog=examples(
        "stripewise knowledge list",
        "stripewise knowledge show 3fa2",
        "stripewise knowledge export --program flash_io > flash_io.jsonl",
        "stripewise knowledge import flash_io.jsonl",
    )
)
def command() -> None:
    """List, show, forget and exchange what studies found.

    `stripewise tune` keeps what it finds, and begins a study with what was found in cases like
    it.  The store is one file: $STRIPEWISE_KNOWLEDGE, or stripewise/knowledge.sqlite in
    $XDG_DATA_HOME (~/.local/share).
    """


@command.command("list", epilog=examples("stripewise knowledge list --program flash_io"))
@_program_option
@json_option
def list_(program: str, as_json: bool) -> None:
    """List the studies that are remembered, the newest first; the site's too."""
    found = list(_all_entries(program))
    none = [f"no study is remembered{f' of {program}' if program else ''}"]
    answer(
        as_json, lambda: [_data(*one) for one in found], lambda: _table(found) if found else none
    )


@command.command(epilog=examples("stripewise knowledge show 3fa2", "... show 3fa2 --json"))
@click.argument("study")
@json_option
def show(study: str, as_json: bool) -> None:
    """Show what STUDY found; its first digits will do."""
    found = _find(study, _all_entries(""))
    answer(as_json, lambda: _data(*found), lambda: _details(*found))


@command.command(
    epilog=examples(
        "stripewise knowledge forget 3fa2", "stripewise knowledge forget --program flash_io"
    )
)
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@_program_option
@click.option("--all", "everything", is_flag=True, help="All that the store holds.")
@json_option
def forget(studies: tuple[str, ...], program: str, everything: bool, as_json: bool) -> None:
    """Forget studies, by id, by program, or all of them; the site's stay."""
    from stripewise.knowledge import own_store

    if sum((bool(studies), bool(program), everything)) != 1:
        raise UsageError("say what to forget: STUDY..., or --program NAME, or --all")
    store = own_store()
    if studies:
        ids = [_find(study, store.entries())[0].study_id for study in studies]
    else:
        ids = store.identities(program)
    forgotten = store.forget(ids)
    said = f"{plural(forgotten, 'study', 'studies')} forgotten in {store.path}"
    answer(as_json, lambda: {"forgotten": forgotten, "store": str(store.path)}, lambda: [said])


@command.command(epilog=examples("stripewise knowledge export found.jsonl"))
@click.argument("file", default="-", metavar="[FILE]")
@_program_option
def export(file: str, program: str) -> None:
    """Write studies as JSON lines to FILE, or to standard output.

    A line names the program, describes the machine without its name, and holds no path and
    no command line.
    """
    from stripewise.knowledge import export_lines, own_store
    from stripewise.outputs import write_file

    lines = list(export_lines(own_store().lessons(program=program, most=None)))
    text = "".join(f"{line}\n" for line in lines)
    if file == "-":
        click.echo(text, nl=False)
        return
    write_file(Path(file), text)
    note(f"{plural(len(lines), 'study', 'studies')} written to {file}")


@command.command("import", epilog=examples("stripewise knowledge import colleague.jsonl"))
@click.argument("file", metavar="FILE")
@json_option
def import_(file: str, as_json: bool) -> None:
    """Read studies from JSON lines in FILE (- is standard input).

    Every line is checked first: if one is malformed, nothing is taken.  Studies that are there
    already stay as they are.
    """
    from stripewise.knowledge import import_lines, own_store

    store = own_store()
    lessons = import_lines(_lines_of(file), file)
    new = store.add(lessons, origin="imported") if lessons else 0
    data = {"read": len(lessons), "new": new, "store": str(store.path)}
    said = f"{plural(len(lessons), 'study', 'studies')} read, {new} new in {store.path}"
    answer(as_json, lambda: data, lambda: [said])


command.add_command(packs.pack)
command.add_command(packs.install)
command.add_command(packs.verify)


def _all_entries(program: str) -> Iterator[tuple[Lesson, str]]:
    """Yield lessons with "own", "imported" or "site"; each study once."""
    from stripewise.knowledge import own_store, site_stores
    from stripewise.policy import load_policy

    seen: set[str] = set()
    own = own_store()
    for store in (own, *site_stores(load_policy().knowledge)):
        for lesson, origin in _entries(store, program):
            if lesson.study_id not in seen:
                seen.add(lesson.study_id)
                yield lesson, origin if store is own else "site"


def _entries(store: Store, program: str) -> list[tuple[Lesson, str]]:
    found = store.entries(program=program)
    if store.damage:
        note(store.damage, kind="warning")
    return found


def _find(text: str, entries: Iterable[tuple[Lesson, str]]) -> tuple[Lesson, str]:
    """Return the one study whose id begins with a text, and its origin."""
    found = [e for e in entries if text and e[0].study_id.startswith(text.lower())]
    if len(found) != 1:
        what = "several studies begin" if found else "no study begins"
        raise UsageError(f"{what} with {text!r}; `stripewise knowledge list` shows their ids")
    return found[0]


def _lines_of(file: str) -> list[str]:
    most = 256 << 20
    try:
        with click.open_file(file, encoding="utf-8") as stream:
            text: str = stream.read(most + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text, so it holds no studies") from error
    if len(text) > most:
        raise UsageError("more than 256 MiB: split the file")
    return text.split("\n")


def _data(lesson: Lesson, origin: str) -> dict[str, Any]:
    from stripewise.knowledge import lesson_to_json

    return {**lesson_to_json(lesson), "origin": origin}


def _table(found: Sequence[tuple[Lesson, str]]) -> list[str]:
    """Return a line a study: id, date, program, where, what came of it."""
    from stripewise.report import aligned

    rows = [("STUDY", "DATE", "PROGRAM", "RANKS", "STACK", "STORAGE", "FROM", "FOUND")]
    return aligned(rows + [_row(lesson, origin) for lesson, origin in found])


def _details(lesson: Lesson, origin: str) -> Iterator[str]:
    """Yield everything about a study."""
    yield f"study {lesson.study_id} ({origin}), {lesson.date}"
    for title, text in _facts(lesson.case):
        yield f"  {title:<14}{printable(text)}"
    yield f"  {'found':<14}{_found(lesson)}"
    if lesson.resolution:
        yield f"  {'resolution':<14}{printable(lesson.resolution)}"
    yield f"  {'tried':<14}{len(lesson.tried)} settings in {lesson.n_runs} runs"
    for tried in lesson.tried:
        gain = f"{1 / tried.io_ratio:.2f}x" if tried.io_ratio else ""
        yield f"    {tried.state.value:<10}{gain:<9}{format_settings(tried.settings)}".rstrip()


def _row(lesson: Lesson, origin: str) -> tuple[str, ...]:
    case = lesson.case
    return (
        lesson.study_id[:8],
        lesson.date,
        printable(case.fingerprint.program),
        str(case.fingerprint.n_ranks),
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
    from stripewise.knowledge import effect_phrase

    return effect_phrase(lesson).rpartition(",")[0]


def _stack(case: Case) -> str:
    stack = case.stack
    mpi = f"{stack.mpi_family} {stack.mpi_version}".strip()
    return " ".join(part for part in (mpi, stack.mpiio) if part) or "no MPI"


def _facts(case: Case) -> Iterator[tuple[str, str]]:
    program, machine, stack = case.fingerprint, case.machine, case.stack
    digest = f", SHA-256 {program.executable_sha256[:16]}" if program.executable_sha256 else ""
    hosts = f" on {program.n_hosts} nodes" if program.n_hosts > 1 else ""
    yield "program", f"{program.program}, {program.n_ranks} ranks{hosts}{digest}"
    yield "I/O", ", ".join(_behaviour(case))
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


def _behaviour(case: Case) -> Iterator[str]:
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
