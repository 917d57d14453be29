# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the options that several commands share, and the types of their values."""

from __future__ import annotations

import re
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from stripewise.cli._common import note
from stripewise.cli._help import has_options, option
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.storage.emulation import EmulatedStorage, EmulationOptions
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)")


class Duration(click.ParamType[float]):
    """Type of a time such as 90, 90s, 15min or 2h, converted to seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a time to seconds."""
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).strip().lower())
        if match is None or match[2] not in _SECONDS or not float(match[1]):
            self.fail(f"{value!r} is not a duration; write 90s, 15min or 2h", param, ctx)
        return float(match[1]) * _SECONDS[match[2]]


class Numbers(click.ParamType[tuple[int, ...]]):
    """Type of numbers such as 1,2,4, each at least 1."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to numbers without repetitions."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",")]
        if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
            self.fail(f"{value!r}: give numbers of at least 1, as 1,2,4", param, ctx)
        return tuple(dict.fromkeys(int(word) for word in words))


_SHORT = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Size(click.ParamType[int]):
    """Type of a size such as 1M (1 MiB, as for `lfs`), 16MiB or 65536, converted to bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a size to bytes."""
        if isinstance(value, int):
            return value
        from stripewise.settings.tunables import size_bytes

        text = str(value).strip()
        unit = _SHORT.get(text[-1:].upper())
        number = size_bytes(text[:-1]) if unit and text[:-1].isdecimal() else size_bytes(text)
        if number is None:
            self.fail(f"{value!r} is not a size; write 1M, 16MiB or 65536", param, ctx)
        return number * unit if unit and text[:-1].isdecimal() else number


class NameList(click.ParamType[tuple[str, ...]]):
    """Type of names that are separated by commas."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to names in order."""
        if isinstance(value, tuple):
            return value
        return tuple(filter(None, (word.strip() for word in str(value).split(","))))


_NODE_HOURS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(?:nh|node-?hours?)?", re.IGNORECASE)


class NodeHours(click.ParamType[float]):
    """Type of node-hours such as 40, 40node-hours or 2.5nh."""

    name = "node-hours"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert to node-hours."""
        if isinstance(value, float):
            return value
        match = _NODE_HOURS.fullmatch(str(value).strip())
        if match is None or not 0 < float(match[1]) < inf:
            self.fail(f"{value!r} is not a number of node-hours; write 40node-hours", param, ctx)
        return float(match[1])


# ---- completion of names


def complete_tunable(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a tunable: `layer.key`, or only the key."""
    from stripewise.settings.tunables import all_tunables

    del ctx, param
    named = {tunable.name: tunable for tunable in all_tunables()}
    if not any(name.startswith(incomplete) for name in named):
        named = {tunable.key: tunable for tunable in all_tunables()}
    return [
        CompletionItem(name, help=tunable.summary)
        for name, tunable in named.items()
        if name.startswith(incomplete)
    ]


def complete_machine(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a described storage."""
    from stripewise.storage.machines import preset_names

    del ctx, param
    return [CompletionItem(name) for name in preset_names() if name.startswith(incomplete)]


def complete_strategy(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a strategy."""
    from stripewise.study.strategies import strategy_names

    del ctx, param
    return [CompletionItem(name) for name in strategy_names() if name.startswith(incomplete)]


# ---- options that several commands have

json_option = option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on standard output."
)
file_option = partial(option, metavar="FILE", type=click.Path(path_type=Path))
directory_option = partial(option, metavar="DIR", type=click.Path(path_type=Path))
numbers_option = partial(option, type=Numbers(), default=(), metavar="N,N")
page_option = partial(file_option, "--html", "page")
picture_option = partial(file_option, "--picture")
program_argument = click.argument(
    "program", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND..."
)
sync_option = option(
    "--sync", is_flag=True, help="Call fsync on written files when they are closed."
)

_RUNS = "How runs are made"
no_sync_option = option(
    "--no-sync", is_flag=True, group=_RUNS, rare=True,
    help="Do not wait until the data is on the storage.",
)  # fmt: skip
input_option = option(
    "--input", "inputs", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
    group=_RUNS, rare=True,
    help="File or directory that the program reads; runs get copies of these instead of this "
    "whole directory (repeatable).",
)  # fmt: skip
allow_outside_option = option(
    "--allow-outside", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
    group=_RUNS,
    help="Let runs change this file or directory outside their copy (repeatable).",
)  # fmt: skip
timeout_option = option(
    "--timeout", type=Duration(), metavar="TIME", group=_RUNS, rare=True,
    help="Time limit of one run, such as 10min.",
)  # fmt: skip
launcher_words_option = partial(
    option, "--launcher-option", "launcher_options", multiple=True, metavar="WORD",
    help="Option for mpiexec or srun, placed before the program (repeatable).",
)  # fmt: skip
monitor_option = option(
    "--config", metavar="FILE", help="Settings of the agent (monitor.toml).",
    # Readability is only checked on reading, since access(2) does not consider capabilities.
    type=click.Path(path_type=Path, readable=False),
)  # fmt: skip
campaign_argument = click.argument("campaign", type=click.Path(path_type=Path))
seed_option = partial(
    option, "--seed", type=int, default=0, show_default=True, metavar="N", rare=True,
    help="Seed of all random choices.",
)  # fmt: skip
vary_option = partial(option, "--vary", multiple=True, shell_complete=complete_tunable)

# ---- emulated storage

_emulation = partial(option, group="Emulated storage", rare=True)
_on = option(
    "--on", "emulated", metavar="MACHINE[@1/N]", shell_complete=complete_machine,
    group="Emulated storage",
    help="Emulate this storage under the program: a name of `stripewise machine list` or a .toml "
    "file; @1/64 makes it 64 times as slow.",
)  # fmt: skip
_of_one_run = (
    _emulation("--root", metavar="DIR", type=click.Path(path_type=Path),
               help="With --on: directory whose files are on that storage  "
               "[default: this one]"),
    _emulation("--ranks-per-node", type=int, metavar="N",
               help="With --on: number of ranks on each virtual node  [default: 1]"),
)  # fmt: skip
_of_every_run = (
    _emulation("--transport", metavar="NAME", default="",
               help="With --on: network setup  [default: what the environment of the run "
               "chooses]"),
    _emulation("--noise", is_flag=True,
               help="With --on: vary the speed from run to run as that storage does."),
    _emulation("--capacity", "--burst-buffer-capacity", "capacity", type=Size(), default=0,
               metavar="SIZE",
               help="With --on: capacity requested of a burst buffer, which decides how many of "
               "its nodes the job gets."),
    _emulation("--private", is_flag=True,
               help="With --on: give each node its own part of the burst buffer."),
)  # fmt: skip


emulation_options = has_options(_on, *_of_one_run, *_of_every_run)
emulation_options_of_study = has_options(_on, *_of_every_run)
"""Options for emulation in studies, without those that studies define differently or lack."""


def take_options(
    given: dict[str, Any], ranks_per_node: int | None = None, seed: int = 0
) -> EmulationOptions | None:
    """Remove and return the values of these options from a command's arguments; None without --on.

    Raises:
        UsageError: One of them was given without --on.
    """
    machine = given.pop("emulated")
    values = {name: given.pop(name) for name in ("transport", "noise", "capacity", "private")}
    if machine is None:
        wanting = [name for name, value in values.items() if value]
        if wanting or ranks_per_node is not None:
            option = wanting[0] if wanting else "ranks-per-node"
            raise UsageError(f"--{option} requires --on MACHINE; name the storage to emulate")
        return None
    from stripewise.storage.emulation import EmulationOptions

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
    """Remove and return the storage and its root from the arguments of a command that runs once.

    Raises:
        UsageError: An option requires --on, or is not available on that storage.
        ConfigurationError: There is no such storage.
    """
    root: Path | None = given.pop("root")
    options = take_options(given, given.pop("ranks_per_node"))
    if options is None:
        if root is not None:
            raise UsageError("--root requires --on MACHINE; name the storage to emulate")
        return None, None
    from dataclasses import replace
    from random import SystemRandom

    from stripewise.storage.emulation import EmulatedStorage

    if sync:
        note("--sync has no effect with --on: data counts as stored when its request ends")
    seed = SystemRandom().randrange(1 << 32)
    return EmulatedStorage.find(replace(options, seed=seed)), root


def study_storage(given: dict[str, Any]) -> EmulationOptions | None:
    """Remove and return the storage and its ranks per node from the arguments of a study.

    Raises:
        UsageError: An option requires --on, or there are several numbers of ranks.
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
