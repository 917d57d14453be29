# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise machine`: described storage systems."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import answer, directory_option, examples, json_option, note
from stripewise.cli._machine_check import command as _check
from stripewise.cli._machine_fit import command as _fit
from stripewise.cli._machine_text import data, details, summary, table

if TYPE_CHECKING:
    from stripewise.machines import Storage

_directory_option = directory_option(
    "--directory",
    default=Path(),
    show_default="this one",
    help='Directory whose file system "local" is.',
)


@click.group(
    epilog=examples(
        "stripewise machine list",
        "stripewise machine show archer2-hdd",
        "stripewise machine show archer2-hdd --toml > site.toml",
        "stripewise machine check site.toml",
        "stripewise machine probe /scratch/project",
        "stripewise machine show local --directory /scratch/project",
    )
)
def command() -> None:
    """List, show, check and measure descriptions of storage systems.

    A description holds the figures of a storage system: targets, bandwidths, times, locks,
    metadata.  Each has a unit, a source, and whether it was measured, documented or assumed.
    """


@command.command("list", epilog=examples("stripewise machine list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the described storage systems, and this machine's own if it was measured.

    Descriptions in the directories of the user and of the site come first, with the mounts that
    they stand for: `stripewise tune` uses them there by itself.
    """
    from stripewise.machines import find_storage, known_storages, preset_names

    known = known_storages()
    names = dict.fromkeys([*(one.storage.name for one in known.found), *preset_names()])
    found = [find_storage(name) for name in names]
    found += _measured_here()
    answer(as_json, lambda: [summary(one) for one in found], lambda: table(found))
    for text in known.problems:
        note(text, kind="warning")


@command.command(
    epilog=examples(
        "stripewise machine show archer2-hdd",
        "stripewise machine show archer2-hdd@1/64      # every time 64 times as long",
        "stripewise machine show site.toml --json",
        "stripewise machine show local --directory /scratch/project",
    )
)
@click.argument("storage", metavar="STORAGE")
@_directory_option
@click.option("--toml", "as_toml", is_flag=True,
              help="Print the description itself, to begin one of your own with.")  # fmt: skip
@json_option
def show(storage: str, directory: Path, as_toml: bool, as_json: bool) -> None:
    """Show every figure of STORAGE: its value, what kind of figure it is, and its source.

    STORAGE is a name that `stripewise machine list` shows, the path of a description, or
    "local": the file system of this directory, as `stripewise machine probe` measured it.
    `@1/N` shows the storage in slow motion: bandwidths divided, times multiplied by N.
    """
    from stripewise.machines import description_text, find_storage

    found = find_storage(storage, directory)
    if as_toml:
        click.echo(description_text(found), nl=False)
        return
    answer(as_json, lambda: data(found), lambda: details(found))


@command.command(
    epilog=examples("stripewise machine probe", "stripewise machine probe /scratch/project --json")
)
@click.argument(
    "directory",
    default=".",
    metavar="[DIR]",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
@json_option
def probe(directory: Path, as_json: bool) -> None:
    """Measure the file system of DIR (this directory) and keep it as the storage "local".

    Takes about a minute and up to 512 MiB of space, in a directory of its own that is removed.
    Several processes write and read past the system's cache where the file system allows that.
    `stripewise profile` estimates from the record what a change would gain.
    """
    probe_and_print(directory, as_json=as_json)


def probe_and_print(directory: Path, *, as_json: bool) -> None:
    """Measure the storage of a directory, keep the record, print it."""
    from stripewise.machines import keep_storage, probe_storage
    from stripewise.runtime import collective_stacks

    with _ending_in_order():
        found = probe_storage(directory, collective_stacks())
    file = keep_storage(found, directory)
    answer(as_json, lambda: {"file": str(file), "storage": data(found)}, lambda: details(found))
    if not as_json:
        note(f"kept in {file}: `stripewise machine show local` shows it, `profile` uses it")


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the command as Ctrl-C does: its directory is removed."""

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    numbers = (signal.SIGTERM, signal.SIGHUP)
    caught = [one for one in numbers if signal.getsignal(one) is signal.SIG_DFL]  # nohup ignores
    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


def _measured_here() -> list[Storage]:
    from stripewise.errors import StorageError
    from stripewise.machines import kept_storage

    try:
        return [kept_storage(Path())]
    except StorageError:
        return []


for _member in (_check, _fit):
    command.add_command(_member)
