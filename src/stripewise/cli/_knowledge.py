# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists, shows, exchanges and forgets the results of earlier studies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import add_all, examples, group, option
from stripewise.cli._knowledge_models import model_command, train_command
from stripewise.cli._knowledge_packs import install, pack, verify
from stripewise.cli._options import json_option
from stripewise.core.errors import UsageError
from stripewise.present import plural

if TYPE_CHECKING:
    from stripewise.learning.knowledge import Lesson, Store


_program_option = option(
    "--program", default="", metavar="NAME", help="Include only studies of this program."
)


@group(
    epilog=examples(
        "stripewise knowledge list",
        "stripewise knowledge show 3fa2",
        "stripewise knowledge export --program flash_io > flash_io.jsonl",
        "stripewise knowledge import flash_io.jsonl",
    )
)
def knowledge_command() -> None:
    """List, share and train what is known about programs and storage.

    `stripewise tune` keeps what it finds, and begins a study with what helped in similar
    cases.  The store is one file: $STRIPEWISE_KNOWLEDGE, or stripewise/knowledge.sqlite in
    $XDG_DATA_HOME (~/.local/share).
    """


@knowledge_command.command("list", epilog=examples("stripewise knowledge list --program flash_io"))
@_program_option
@json_option
def list_(program: str, as_json: bool) -> None:
    """List the remembered studies, yours and the site's, the newest first."""
    from stripewise.learning.knowledge import lessons_table

    found = list(_all_entries(program))
    none = [f"no study is stored{f' of {program}' if program else ''}"]
    answer(
        as_json,
        lambda: [_data(*one) for one in found],
        lambda: lessons_table(found) if found else none,
    )


@knowledge_command.command(
    epilog=examples("stripewise knowledge show 3fa2", "stripewise knowledge show 3fa2 --json")
)
@click.argument("study")
@json_option
def show(study: str, as_json: bool) -> None:
    """Show what STUDY found; the first digits of its name are enough."""
    from stripewise.learning.knowledge import lesson_lines

    found = _find(study, _all_entries(""))
    answer(as_json, lambda: _data(*found), lambda: lesson_lines(*found))


@knowledge_command.command(
    epilog=examples(
        "stripewise knowledge forget 3fa2", "stripewise knowledge forget --program flash_io"
    )
)
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@_program_option
@option("--all", "everything", is_flag=True, help="Forget all studies of the store.")
@option(
    "--runs",
    is_flag=True,
    help="Forget only what `run --auto` has recorded about programs, and keep all studies.",
)
@json_option
def forget(
    studies: tuple[str, ...], program: str, everything: bool, runs: bool, as_json: bool
) -> None:
    """Forget your studies, by name, by program, or all of them."""
    from stripewise.learning.knowledge import Profiles, own_store

    if sum((bool(studies), bool(program), everything, runs)) != 1:
        raise UsageError("name what to forget: STUDY..., or --program NAME, or --all, or --runs")
    store = own_store()
    if runs:
        number = Profiles(store.path).forget()
        text = f"what was seen of {plural(number, 'program')} forgotten in {store.path}"
        data = {"forgotten_runs": number, "store": str(store.path)}
        answer(as_json, lambda: data, lambda: [text])
        return
    if studies:
        ids = [_find(study, store.entries())[0].study_id for study in studies]
    else:
        ids = store.identities(program)
    forgotten = store.forget(ids)
    summary = f"{plural(forgotten, 'study', 'studies')} forgotten in {store.path}"
    answer(as_json, lambda: {"forgotten": forgotten, "store": str(store.path)}, lambda: [summary])


@knowledge_command.command(
    epilog=examples(
        "stripewise knowledge export found.jsonl", "stripewise knowledge export --h5tuner pairs/"
    )
)
@click.argument("file", default="-", metavar="[FILE]")
@_program_option
@option(
    "--h5tuner",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write each improvement as H5Tuner's XML, and an index of patterns, to DIR.",
)
def export(file: str, program: str, h5tuner: Path | None) -> None:
    """Write studies as JSON lines to FILE, or to standard output.

    A line names the program, describes the machine without its name, and holds no path and
    no command line; where files of the program have settings of their own, it holds the globs of
    their names.
    """
    from stripewise.core import write_file
    from stripewise.learning.knowledge import export_lines, export_pairs, own_store

    if h5tuner is not None:
        if file != "-":
            raise UsageError("give either FILE or --h5tuner DIR")
        written = export_pairs(own_store().lessons(program=program, most=None), h5tuner)
        for line in written.notes:
            note(f"not in the XML: {line}", kind="warning")
        note(f"{plural(written.pairs, 'pair')} of pattern and XML written to {h5tuner}")
        return
    lines = list(export_lines(own_store().lessons(program=program, most=None)))
    text = "".join(f"{line}\n" for line in lines)
    if file == "-":
        click.echo(text, nl=False)
        return
    write_file(Path(file), text)
    note(f"{plural(len(lines), 'study', 'studies')} written to {file}")


@knowledge_command.command(
    "import",
    epilog=examples(
        "stripewise knowledge import colleague.jsonl",
        "stripewise knowledge import --h5tuner pairs/",
    ),
)
@click.argument("file", default="", metavar="[FILE]")
@option(
    "--h5tuner",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Read the pairs of patterns and H5Tuner's XML that the index of DIR names.",
)
@json_option
def import_(file: str, h5tuner: Path | None, as_json: bool) -> None:
    """Read studies from JSON lines in FILE (- is standard input).

    Every line is checked first: if one is malformed, nothing is taken.  Studies that are there
    already stay as they are.
    """
    from stripewise.learning.knowledge import (
        describe_machine,
        import_lines,
        import_pairs,
        own_store,
    )

    if bool(file) == (h5tuner is not None):
        raise UsageError("name what to read: FILE, or --h5tuner DIR")
    store = own_store()
    if h5tuner is not None:
        lessons, warnings = import_pairs(h5tuner, lambda: describe_machine(Path.cwd()))
        for line in warnings:
            note(line, kind="warning")
    else:
        lessons = import_lines(_lines_of(file), file)
    new = store.add(lessons, origin="imported") if lessons else 0
    data = {"read": len(lessons), "new": new, "store": str(store.path)}
    summary = f"{plural(len(lessons), 'study', 'studies')} read, {new} new in {store.path}"
    answer(as_json, lambda: data, lambda: [summary])


add_all(knowledge_command, (pack, verify, install, train_command, model_command))


def _all_entries(program: str) -> Iterator[tuple[Lesson, str]]:
    """Yield lessons with their origin "own", "imported" or "site", without duplicate studies."""
    from stripewise.learning.knowledge import own_store, site_stores
    from stripewise.settings import load_policy

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
    from stripewise.learning.knowledge import lesson_to_json

    return {**lesson_to_json(lesson), "origin": origin}
