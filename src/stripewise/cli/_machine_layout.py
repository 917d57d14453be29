# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows and sets how files lie on the targets of emulated storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer
from stripewise.cli._help import examples, group, option
from stripewise.cli._options import Size, json_option
from stripewise.core.errors import UsageError
from stripewise.present import printable, size_text

if TYPE_CHECKING:
    from stripewise.storage.emulation import FoundLayout


_paths = click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)


@group(
    "layout",
    epilog=examples(
        "stripewise machine layout set -c 8 -S 4M results",
        "stripewise machine layout set -c -1 results/checkpoint.h5",
        "stripewise machine layout get results",
    ),
)
def layout_command() -> None:
    """Show and set how files lie on the targets of emulated storage.

    Does what `lfs setstripe` and `lfs getstripe` do on Lustre, for programs that are run with
    `stripewise run --on MACHINE`.
    """


@layout_command.command("set", epilog=examples("stripewise machine layout set -c -1 results"))
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

    layout = Layout(stripe_count, stripe_size, stripe_index)
    if delete and layout != Layout():
        raise UsageError("--delete removes the layout; give it without -c, -S and -i")
    for path in paths:
        if delete:
            remove_layout(path)
        else:
            set_layout(path, layout)
    if as_json:
        answer(as_json, lambda: [_as_json(path, find_layout(path)) for path in paths], tuple)


@layout_command.command(
    "get", epilog=examples("stripewise machine layout get results results/out.h5")
)
@json_option
@_paths
def get_command(as_json: bool, paths: Sequence[Path]) -> None:
    """Show the layout of files, and that of the new files in directories."""
    from stripewise.storage.emulation import find_layout

    found = {path: find_layout(path) for path in paths}
    answer(
        as_json,
        lambda: [_as_json(path, one) for path, one in found.items()],
        lambda: (line for path, one in found.items() for line in _lines(path, one)),
    )


def _as_json(path: Path, found: FoundLayout) -> dict[str, Any]:
    layout = found.layout
    return {
        "path": str(path),
        "stripe_count": layout.stripe_count,
        "stripe_size_bytes": layout.stripe_size,
        "first_target": layout.first_target,
        "source": None if found.source is None else str(found.source),
    }


def _lines(path: Path, found: FoundLayout) -> Iterator[str]:
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
