# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists, shows, checks, probes and validates descriptions of storage."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import add_all, command, examples, group, option
from stripewise.cli._machine_fit import fit
from stripewise.cli._machine_layout import layout_command
from stripewise.cli._options import directory_option, json_option
from stripewise.core.errors import ConfigurationError
from stripewise.present import (
    aligned,
    plural,
    printable,
    rate_text,
    seconds_text,
    size_text,
)

if TYPE_CHECKING:
    from stripewise.core import StorageCosts
    from stripewise.storage.machines import Figure, FigureSpec, Storage, Transport


# `stripewise machine check`: can a description be used, and what in it may be a slip?


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
    """Check a description of a storage.

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
        note(f"nothing to check: no description is in {places}")


def _data(found: Storage) -> dict[str, Any]:
    return {**summary(found), "warnings": _warnings(found)}


def _lines(found: Storage) -> Iterator[str]:
    yield sentence(found)
    yield from (f"  warning: {text}" for text in _warnings(found))


def _warnings(found: Storage) -> list[str]:
    from stripewise.storage.machines import description_warnings, mount_warnings

    return [*_stack_warnings(found), *mount_warnings(found), *description_warnings(found)]


def _stack_warnings(storage: Storage) -> list[str]:
    from stripewise.settings.tunables import suggest
    from stripewise.storage.stacks import stack_names

    if not storage.stack:
        return ["no stack is named: simulations need `--stack`"]
    known = stack_names()
    if storage.stack in known or not known:
        return []
    return [f"stack {storage.stack!r} is not known{suggest(storage.stack, known)}"]


# Descriptions of storage for people and as JSON.


def summary(storage: Storage) -> dict[str, Any]:
    """Return what a description is, without its figures."""
    kinds = Counter(figure.kind.value for figure in storage.figures.values())
    return {
        "name": storage.name,
        "title": storage.title,
        "kind": storage.kind,
        "stack": storage.stack or None,
        "slowdown": storage.slowdown,
        "mounts": list(storage.mounts),
        "transports": [one.name for one in storage.transports],
        "figures": {kind: kinds[kind] for kind in ("measured", "documented", "assumed")},
    }


def table(found: list[Storage]) -> list[str]:
    """Return a line for each description."""
    rows = [
        ("STORAGE", "KIND", "NODES", "TARGETS", "A TARGET", "MEASURED", "ASSUMED", "STANDS FOR",
         "WHAT IT IS")
    ]  # fmt: skip
    for one in found:
        kinds = summary(one)["figures"]
        rows.append(
            (
                one.name,
                one.kind,
                f"{one.value('machine.nodes'):.0f}",
                f"{one.value('servers.targets'):.0f}",
                rate_text(one.value("servers.target_write")),
                str(kinds["measured"]),
                str(kinds["assumed"]),
                _stands_for(one),
                printable(one.title),
            )
        )
    return aligned(rows)


def _stands_for(storage: Storage) -> str:
    """Return where the storage is mounted; "" if its description does not say."""
    return " ".join(map(printable, storage.mounts)) or printable(storage.mount.point)


def sentence(storage: Storage) -> str:
    """Say in one line what is described."""
    kinds = summary(storage)["figures"]
    counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
    return (
        f"{storage.name}: {printable(storage.title)}. {storage.kind}, "
        f"{plural(int(storage.value('servers.targets')), 'target')} of "
        f"{rate_text(storage.value('servers.target_write'))}; figures: {counted}."
        + (f" Stands for {_stands_for(storage)}." if storage.mounts else "")
    )


def data(storage: Storage) -> dict[str, Any]:
    """Return everything as plain data."""
    from stripewise.core import to_json
    from stripewise.storage.machines import SPEC_OF

    return {
        **summary(storage),
        "figures": {
            name: {"unit": spec.dimension.value, "meaning": spec.meaning, "default": spec.default}
            | (asdict(storage.figures[name]) if name in storage.figures else {"value": None})
            for name, spec in SPEC_OF.items()
        },
        "transports": [asdict(one) for one in storage.transports],
        "mount": asdict(storage.mount) if storage.mount.kind else None,
        "costs": to_json(storage.costs) if storage.costs.is_measured else None,
    }


def details(storage: Storage) -> Iterator[str]:
    """Yield everything, line by line."""
    from stripewise.storage.machines import FIGURES

    yield f"{storage.name}: {printable(storage.title)}"
    stack = f", MPI-IO of its users: {storage.stack}" if storage.stack else ""
    yield f"kind: {storage.kind}{stack}"
    if storage.mounts:
        yield f"stands for what is mounted at {_stands_for(storage)}"
    if storage.slowdown != 1:
        yield f"in slow motion: every time is {storage.slowdown:g} times as long"
    yield ""
    yield from _figures(FIGURES, storage.figures)
    absent = [spec for spec in FIGURES if spec.name not in storage.figures]
    if absent:
        yield ""
        yield from aligned(
            [("NOT DESCRIBED", "SO", "WHAT IT IS")]
            + [(spec.name, spec.absence, spec.meaning) for spec in absent]
        )
    for place, transport in enumerate(storage.transports):
        yield ""
        yield from _transport(transport, is_default=place == 0)
    if storage.costs.is_measured:
        yield ""
        yield from _costs(storage.costs)


def _costs(costs: StorageCosts) -> Iterator[str]:
    """Yield what requests cost, through the system's cache."""
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(costs.measured))
    yield f"costs of requests through the cache, measured on {date}"
    for name, table in (("write", costs.write), ("read", costs.read), ("fsync", costs.sync)):
        for size, cost in table.items():
            yield f"  {name + ' of ' + size_text(size):<20} {_interval(cost)}"
    for name, cost in costs.calls.items():
        yield f"  {name:<20} {_interval(cost)}"
    for exchange in costs.exchange:
        mode = "collective" if exchange.collective else "independent"
        label = f"open and close together ({exchange.stack}, {exchange.ranks} ranks)"
        yield f"  {label:<40} {_interval(exchange.opening)}"
        for name, table in (("write", exchange.write), ("read", exchange.read)):
            for piece, cost in table.items():
                rate = rate_text(1 / cost.middle)
                label = f"{mode} {name} of pieces of {size_text(piece)}"
                yield f"  {label:<40} {rate} ({exchange.stack}, {exchange.ranks} ranks)"


def _interval(cost: Sequence[float]) -> str:
    low, middle, high = map(seconds_text, cost)
    return f"{middle} ({low} to {high})"


def _figures(specs: tuple[FigureSpec, ...], figures: Mapping[str, Figure]) -> list[str]:
    rows = [("FIGURE", "VALUE", "FROM", "TO", "KIND", "SOURCE")]
    for spec in specs:
        if spec.name not in figures:
            continue
        figure = figures[spec.name]
        shown = _shown(spec)
        ends = ("" if end is None else shown(end) for end in (figure.low, figure.high))
        row = (spec.name, shown(figure.value), *ends, figure.kind.value, printable(figure.source))
        rows.append(row)  # type: ignore[arg-type]
    return aligned(rows)


def _transport(transport: Transport, *, is_default: bool) -> Iterator[str]:
    from stripewise.storage.machines import FIGURES

    when = " ".join(f"{name}={printable(value)}" for name, value in transport.when.items())
    chosen = f"chosen by {when}" if when else "chosen by other means"
    yield f"transport {transport.name}: {'the default' if is_default else chosen}"
    if transport.hangs_from_nodes:
        yield f"  jobs of {transport.hangs_from_nodes} nodes or more hang"
    if transport.from_nodes > 1:
        yield f"  its figures hold for jobs of {transport.from_nodes} nodes or more"
    if transport.figures:
        yield from (f"  {line}" for line in _figures(FIGURES, transport.figures))


def _shown(spec: FigureSpec) -> Callable[[float], str]:
    from stripewise.storage.machines import Dimension

    formats: dict[str, Callable[[float], str]] = {
        Dimension.SIZE: size_text,
        Dimension.TIME: seconds_text,
        Dimension.BANDWIDTH: rate_text,
        Dimension.COUNT: "{:.0f}".format,
    }
    return formats.get(spec.dimension, "{:.3g}".format)


# `stripewise machine`: described storage systems.

_directory_option = directory_option(
    "--directory",
    default=Path(),
    show_default="this one",
    help='Directory whose file system "local" is.',
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

    Descriptions in the directories of the user and of the site come first, with the mounts that
    they stand for: `stripewise tune` uses them there by itself.
    """
    from stripewise.storage.machines import find_storage, known_storages, preset_names

    known = known_storages()
    names = dict.fromkeys([*(one.storage.name for one in known.found), *preset_names()])
    found = [find_storage(name) for name in names]
    found += _measured_here()
    answer(as_json, lambda: [summary(one) for one in found], lambda: table(found))
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
    from stripewise.storage.machines import description_text, find_storage

    found = find_storage(storage, directory)
    if as_toml:
        click.echo(description_text(found), nl=False)
        return
    answer(as_json, lambda: data(found), lambda: details(found))


@machine_command.command(
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
    """Measure the file system of DIR, and keep the result as the storage "local".

    Takes about a minute and up to 512 MiB of space, in a directory of its own that is removed.
    Several processes write and read past the system's cache where the file system allows that.
    `stripewise profile` estimates from the record what a change would gain.
    """
    probe_and_print(directory, as_json=as_json)


def probe_and_print(directory: Path, *, as_json: bool) -> None:
    """Measure the storage of a directory, keep the record, print it."""
    from stripewise.run.runtime import collective_stacks
    from stripewise.storage.machines import keep_storage, probe_storage

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
    from stripewise.core.errors import StorageError
    from stripewise.storage.machines import kept_storage

    try:
        return [kept_storage(Path())]
    except StorageError:
        return []


add_all(machine_command, (machine_check_command, fit, layout_command))
