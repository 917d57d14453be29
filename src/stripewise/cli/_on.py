# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The options of commands that run a program on emulated storage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stripewise.cli._common import directory_option, note
from stripewise.cli._completion import complete_machine
from stripewise.cli._layout import Size
from stripewise.errors import UsageError

if TYPE_CHECKING:
    from stripewise.emulation import EmulatedStorage, EmulationOptions

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
    from stripewise.emulation import EmulationOptions

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

    from stripewise.emulation import EmulatedStorage

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
