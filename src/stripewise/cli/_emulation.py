# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the options of emulated storage, and shows and sets how files lie on its targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stripewise.cli._common import (
    answer,
    complete_machine,
    directory_option,
    examples,
    json_option,
    note,
)
from stripewise.core.errors import UsageError
from stripewise.present import printable, size_text

if TYPE_CHECKING:
    from stripewise.storage.emulation import EmulatedStorage, EmulationOptions, FoundLayout


# `stripewise layout`: how files lie on the targets of emulated storage.

_SHORT = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_paths = click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)


class Size(click.ParamType[int]):
    """A size such as 1M (as `lfs` has it: 1 MiB), 16MiB or 65536; in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return bytes."""
        if isinstance(value, int):
            return value
        from stripewise.settings.tunables import size_bytes

        text = str(value).strip()
        unit = _SHORT.get(text[-1:].upper())
        number = size_bytes(text[:-1]) if unit and text[:-1].isdecimal() else size_bytes(text)
        if number is None:
            self.fail(f"{value!r} is no size; write 1M, 16MiB or 65536", param, ctx)
        return number * unit if unit and text[:-1].isdecimal() else number


@click.group(
    epilog=examples(
        "stripewise layout set -c 8 -S 4M results",
        "stripewise layout set -c -1 results/checkpoint.h5",
        "stripewise layout get results",
    )
)
def layout_command() -> None:
    """Show and set how files lie on the targets of emulated storage.

    What `lfs setstripe` and `lfs getstripe` are on Lustre, for programs that are run with
    `stripewise run --on MACHINE`.
    """


@layout_command.command("set", epilog=examples("stripewise layout set -c -1 -S 4M results"))
@click.option(
    "-c",
    "--stripe-count",
    type=int,
    default=0,
    metavar="COUNT",
    help="Number of targets; -1: all of them, 0: the storage's default.",
)
@click.option(
    "-S",
    "--stripe-size",
    type=Size(),
    default=0,
    metavar="SIZE",
    help="Bytes on one target before the next, such as 1M; 0: the storage's default.",
)
@click.option(
    "-i",
    "--stripe-index",
    type=int,
    default=-1,
    metavar="INDEX",
    help="First target, from 0; -1: the storage chooses.",
)
@click.option("-d", "--delete", is_flag=True, help="Remove the layout; it is inherited again.")
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
    """Set the layout of a directory, for its new files, or make an empty file that has it.

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


@layout_command.command("get", epilog=examples("stripewise layout get results results/out.h5"))
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


# The options of commands that run a program on emulated storage.

F = TypeVar("F", bound=Callable[..., Any])

_on = click.option(
    "--on",
    "emulated",
    metavar="MACHINE[@1/N]",
    shell_complete=complete_machine,
    help="Emulate this storage under the program: a name or a .toml file; @1/64: in slow motion.",
)
_root = directory_option(
    "--root", help="With --on: directory whose files are on that storage  [default: this one]"
)
_ranks_per_node = click.option(
    "--ranks-per-node",
    type=int,
    metavar="N",
    help="With --on: number of ranks on each virtual node  [default: 1]",
)
_rest = (
    click.option(
        "--transport",
        metavar="NAME",
        default="",
        help="With --on: network setup  [default: what the environment of the run chooses]",
    ),
    click.option("--noise", is_flag=True, help="With --on: vary from run to run as it does."),
    click.option(
        "--capacity",
        "--burst-buffer-capacity",
        "capacity",
        type=Size(),
        default=0,
        metavar="SIZE",
        help="With --on: capacity asked of a burst buffer, which decides on its nodes.",
    ),
    click.option(
        "--private",
        "private",
        is_flag=True,
        help="With --on: each node has a part of the burst buffer of its own.",
    ),
)


def emulation_options(*, in_study: bool = False) -> Callable[[F], F]:
    """Add the options to a command; in a study, `--root` and the ranks are its own matter."""

    def add(function: F) -> F:
        own = () if in_study else (_root, _ranks_per_node)
        for option in reversed((_on, *own, *_rest)):
            function = option(function)
        return function

    return add


def take_options(
    given: dict[str, Any], ranks_per_node: int | None = None, seed: int = 0
) -> EmulationOptions | None:
    """Take what these options said out of a command's arguments; None without --on.

    Raises:
        UsageError: One of them was given without --on.
    """
    from stripewise.storage.emulation import EmulationOptions

    machine = given.pop("emulated")
    values = {name: given.pop(name) for name in ("transport", "noise", "capacity", "private")}
    if machine is None:
        wanting = [name for name, value in values.items() if value]
        if wanting or ranks_per_node is not None:
            option = _OPTION_OF[wanting[0]] if wanting else "--ranks-per-node"
            raise UsageError(f"{option} goes with --on MACHINE; name the storage to emulate")
        return None
    return EmulationOptions(
        machine=machine,
        ranks_per_node=1 if ranks_per_node is None else ranks_per_node,
        transport=values["transport"],
        noise=values["noise"],
        seed=seed,
        capacity_bytes=values["capacity"],
        private=values["private"],
    )


def storage_to_emulate(
    given: dict[str, Any], *, sync: bool
) -> tuple[EmulatedStorage | None, Path | None]:
    """Take the storage and its root out of the arguments of a command that runs once.

    Raises:
        UsageError: An option goes with --on alone, or cannot be had on that storage.
        ConfigurationError: There is no such storage.
    """
    root: Path | None = given.pop("root")
    options = take_options(given, given.pop("ranks_per_node"))
    if options is None:
        if root is not None:
            raise UsageError("--root goes with --on MACHINE; name the storage to emulate")
        return None, None
    from dataclasses import replace
    from random import SystemRandom

    from stripewise.storage.emulation import EmulatedStorage

    if sync:
        note("--sync has no effect with --on: data counts as stored when its request ends")
    seed = SystemRandom().randrange(1 << 32)
    return EmulatedStorage.find(replace(options, seed=seed)), root


def study_storage(given: dict[str, Any]) -> EmulationOptions | None:
    """Take the storage out of the arguments of a study, with its ranks per node.

    Raises:
        UsageError: An option goes with --on alone, or there are several numbers of ranks.
    """
    ranks: tuple[int, ...] = given.get("ranks_per_node") or ()
    if given["emulated"] is None:
        return take_options(given)
    if len(ranks) > 1:
        raise UsageError(
            f"--ranks-per-node {','.join(map(str, ranks))}: with --on give one number; each "
            "virtual node has as many ranks in all runs"
        )
    given["ranks_per_node"] = ()
    return take_options(given, ranks[0] if ranks else None, seed=given["seed"])


_OPTION_OF = {
    "transport": "--transport",
    "noise": "--noise",
    "capacity": "--capacity",
    "private": "--private",
}
