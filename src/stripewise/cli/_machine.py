# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise machine`: descriptions of storage, and layouts of emulated files."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import add_all, command, examples, group, option
from stripewise.cli._machine_fit import fit
from stripewise.cli._options import Size, directory_option, json_option
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.present import (
    plural,
    printable,
    size_text,
)

if TYPE_CHECKING:
    from stripewise.storage.emulation import FoundLayout
    from stripewise.storage.machines import Storage


# `stripewise machine check`: checks whether a description is usable, with warnings.


@command(
    "check",
    epilog=examples(
        "stripewise machine check site.toml",
        "stripewise machine check              # those that tune uses by itself",
    ),
)
@click.argument("file", metavar="[FILE]", required=False)
@json_option
def machine_check_command(file: str | None, as_json: bool) -> None:
    """Check the description of a storage system.

    The exit code is 0 if it can be used, and 3 with the first problem if not.  Warnings name what
    is allowed but may be a mistake.  Without FILE, checks every description in
    the directories of the user and of the site.
    """
    from stripewise.storage.machines import load_description

    if file is None:
        _check_all(as_json)
        return
    found = load_description(file)
    answer(as_json, lambda: _data(found), lambda: _lines(found))


def _check_all(as_json: bool) -> None:
    from stripewise.storage.machines import known_storages, machine_directories

    known = known_storages()
    found = [one.storage for one in known.found]
    answer(
        as_json,
        lambda: {"checked": list(map(_data, found)), "problems": list(known.problems)},
        lambda: chain.from_iterable(map(_lines, found)),
    )
    for text in known.problems[:-1]:
        note(text, kind="error")
    if known.problems:
        raise ConfigurationError(known.problems[-1])
    if not found:
        places = " or ".join(map(str, machine_directories()))
        note(f"nothing to check: there is no description in {places}")


def _data(found: Storage) -> dict[str, Any]:
    from stripewise.storage.machines import storage_summary, storage_warnings

    return {**storage_summary(found), "warnings": storage_warnings(found)}


def _lines(found: Storage) -> Iterator[str]:
    from stripewise.storage.machines import storage_sentence, storage_warnings

    yield storage_sentence(found)
    yield from (f"  warning: {text}" for text in storage_warnings(found))


# `stripewise machine`: described storage systems.

_directory_option = directory_option(
    "--directory",
    default=Path(),
    show_default="this one",
    help='Directory on the file system that "local" stands for.',
)


@group(
    epilog=examples(
        "stripewise machine list",
        "stripewise machine show archer2-hdd",
        "stripewise machine show archer2-hdd --toml > site.toml",
        "stripewise machine check site.toml",
        "stripewise machine probe /scratch/project",
        "stripewise machine show local --directory /scratch/project",
    )
)
def machine_command() -> None:
    """List, show, check and measure descriptions of storage systems.

    A description holds the figures of a storage system: targets, bandwidths, times, locks,
    metadata.  Each has a unit, a source, and whether it was measured, documented or assumed.
    """


@machine_command.command("list", epilog=examples("stripewise machine list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the described storage systems, and this machine's own if it was measured.

    Descriptions in the directories of the user and of the site come first, with the mount points
    that they describe: `stripewise tune` uses them there automatically.
    """
    from stripewise.storage.machines import (
        find_storage,
        known_storages,
        preset_names,
        storage_summary,
        storages_table,
    )

    known = known_storages()
    names = dict.fromkeys([*(one.storage.name for one in known.found), *preset_names()])
    found = [find_storage(name) for name in names]
    found += _measured_here()
    answer(as_json, lambda: [storage_summary(one) for one in found], lambda: storages_table(found))
    for text in known.problems:
        note(text, kind="warning")


@machine_command.command(
    epilog=examples(
        "stripewise machine show archer2-hdd",
        "stripewise machine show archer2-hdd@1/64      # every time 64 times as long",
        "stripewise machine show site.toml --json",
        "stripewise machine show local --directory /scratch/project",
    )
)
@click.argument("storage", metavar="STORAGE")
@_directory_option
@option("--toml", "as_toml", is_flag=True,
              help="Print the description itself, as a start for one of your own.")  # fmt: skip
@json_option
def show(storage: str, directory: Path, as_toml: bool, as_json: bool) -> None:
    """Show every figure of STORAGE with its value, its kind and its source.

    STORAGE is a name that `stripewise machine list` shows, the path of a description, or
    "local": the file system of this directory, as `stripewise machine probe` measured it.
    `@1/N` shows the storage in slow motion: bandwidths divided, times multiplied by N.
    """
    from stripewise.storage.machines import (
        description_text,
        find_storage,
        storage_json,
        storage_lines,
    )

    found = find_storage(storage, directory)
    if as_toml:
        click.echo(description_text(found), nl=False)
        return
    answer(as_json, lambda: storage_json(found), lambda: storage_lines(found))


@machine_command.command(
    epilog=examples("stripewise machine probe", "stripewise machine probe /scratch/project --json")
)
@click.argument(
    "directory",
    default=".",
    metavar="[DIR]",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
@click.option(
    "--short", is_flag=True, help="Measure for seconds, without MPI: the intervals are wider."
)
@json_option
def probe(directory: Path, short: bool, as_json: bool) -> None:
    """Measure the file system of DIR, and keep the result as the storage "local".

    Takes one to three minutes and up to 512 MiB of space, in a directory of its own that is
    removed.  Several processes write and read, bypassing the system's cache where the file system
    allows that.  What other work disturbs is measured again; if it is disturbed again, the record
    says so, and its intervals are wider.  `stripewise profile` estimates from the record what a
    change would gain.
    """
    probe_and_print(directory, short=short, as_json=as_json)


def probe_and_print(directory: Path, *, as_json: bool, short: bool = False) -> None:
    """Measure the storage of a directory, store the record, and print it."""
    from stripewise.run.runtime import collective_stacks
    from stripewise.storage.machines import (
        SHORT_EFFORT,
        Effort,
        keep_storage,
        probe_storage,
        storage_json,
        storage_lines,
    )

    with _ending_in_order():
        stacks = () if short else collective_stacks()
        effort = SHORT_EFFORT if short else Effort()
        mpi = f", then {plural(len(stacks), 'MPI stack')} for up to 2 min" if stacks else ""
        note(f"measuring {printable(str(directory))} for about {effort.about_seconds:.0f} s{mpi}")
        found = probe_storage(directory, stacks, effort, note)
    file = keep_storage(found, directory)
    answer(
        as_json,
        lambda: {"file": str(file), "storage": storage_json(found)},
        lambda: storage_lines(found),
    )
    if not as_json:
        note(f"kept in {file}: `stripewise machine show local` shows it, `profile` uses it")


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Make SIGTERM and SIGHUP end the command like Ctrl-C, so that its directory is removed."""

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
    from stripewise.core.errors import StorageError
    from stripewise.storage.machines import kept_storage

    try:
        return [kept_storage(Path())]
    except StorageError:
        return []


add_all(machine_command, (machine_check_command, fit))


# `stripewise machine layout`: striping of files on emulated storage.

_paths = click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)


@machine_command.group(
    "layout",
    epilog=examples(
        "stripewise machine layout set -c 8 -S 4M results",
        "stripewise machine layout set -c -1 results/checkpoint.h5",
        "stripewise machine layout get results",
    ),
)
def layout() -> None:
    """Show and set how files lie on the targets of emulated storage.

    Does what `lfs setstripe` and `lfs getstripe` do on Lustre, for programs that are run with
    `stripewise run --on MACHINE`.
    """


@layout.command("set", epilog=examples("stripewise machine layout set -c -1 results"))
@option(
    "-c",
    "--stripe-count",
    type=int,
    default=0,
    metavar="COUNT",
    help="Number of targets; -1: all of them, 0: the storage's default.",
)
@option(
    "-S",
    "--stripe-size",
    type=Size(),
    default=0,
    metavar="SIZE",
    help="Bytes on one target before the next, such as 1M; 0: the storage's default.",
)
@option(
    "-i",
    "--stripe-index",
    type=int,
    default=-1,
    metavar="INDEX",
    help="First target, from 0; -1: the storage chooses.",
)
@option("-d", "--delete", is_flag=True, help="Remove the layout, so that it is inherited again.")
@json_option
@_paths
def set_command(
    stripe_count: int,
    stripe_size: int,
    stripe_index: int,
    delete: bool,
    as_json: bool,
    paths: Sequence[Path],
) -> None:
    """Set the layout of a directory for its new files, or make an empty file with it.

    New directories and files inherit the layout of the directory that they are made in.  The
    layout of a file that has data cannot change.
    """
    from stripewise.storage.emulation import Layout, find_layout, remove_layout, set_layout

    wanted = Layout(stripe_count, stripe_size, stripe_index)
    if delete and wanted != Layout():
        raise UsageError("--delete removes the layout; give it without -c, -S and -i")
    for path in paths:
        if delete:
            remove_layout(path)
        else:
            set_layout(path, wanted)
    if as_json:
        answer(as_json, lambda: [_layout_json(path, find_layout(path)) for path in paths], tuple)


@layout.command("get", epilog=examples("stripewise machine layout get results results/out.h5"))
@json_option
@_paths
def get_command(as_json: bool, paths: Sequence[Path]) -> None:
    """Show the layout of files, and that of the new files in directories."""
    from stripewise.storage.emulation import find_layout

    found = {path: find_layout(path) for path in paths}
    answer(
        as_json,
        lambda: [_layout_json(path, one) for path, one in found.items()],
        lambda: (line for path, one in found.items() for line in _layout_lines(path, one)),
    )


def _layout_json(path: Path, found: FoundLayout) -> dict[str, Any]:
    layout = found.layout
    return {
        "path": str(path),
        "stripe_count": layout.stripe_count,
        "stripe_size_bytes": layout.stripe_size,
        "first_target": layout.first_target,
        "source": None if found.source is None else str(found.source),
    }


def _layout_lines(path: Path, found: FoundLayout) -> Iterator[str]:
    layout = found.layout
    if found.source is None:
        yield f"{printable(str(path))}   the default of the storage"
        return
    default = "default of the storage"
    count = {-1: "all targets", 0: default}.get(layout.stripe_count, str(layout.stripe_count))
    size = size_text(layout.stripe_size) if layout.stripe_size else default
    first = str(layout.first_target) if layout.first_target >= 0 else "the storage chooses"
    inherited = "" if found.source == path.absolute() else f"   (inherited from {found.source})"
    yield f"{printable(str(path))}{printable(inherited)}"
    yield f"   stripe count  {count}"
    yield f"   stripe size   {size}"
    yield f"   first target  {first}"
