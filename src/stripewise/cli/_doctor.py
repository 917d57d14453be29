# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise doctor`: what works on this machine and what to do about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import echo, examples, json_option, note, print_json
from stripewise.report import format_bandwidth, format_bytes, format_seconds
from stripewise.text import printable

if TYPE_CHECKING:
    from stripewise.runtime import Check

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise doctor",
        "stripewise doctor --json",
        "stripewise doctor -- mpiexec -n 16 ./program",
        "stripewise doctor --storage /scratch/project   # measure it, for `stripewise profile`",
    ),
)
@click.option(
    "--storage",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Measure the file system of DIR (less than a minute, 150 MiB) and keep the costs.",
)
@json_option
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(as_json: bool, storage: Path | None, program: tuple[str, ...]) -> None:
    """Check MPIs, HDF5, the runtime library, preloading, processors and storage.

    Tries preloading with `true`, and with each MPI on two ranks.  With a COMMAND, also checks
    that its program exists and that each of its ranks has a processor.  The exit code is 0 if
    Stripewise is usable here, even with warnings.

    With --storage, measures what requests cost on a file system instead and keeps the costs for
    this machine; `stripewise profile` estimates from them what a change would gain.
    """
    from stripewise.runtime import run_doctor

    if storage is not None:
        _measure(storage, as_json=as_json)
        return
    checks = run_doctor(program)
    usable = not any(check.status == "fail" for check in checks)
    if as_json:
        print_json({"usable": usable, "checks": [asdict(check) for check in checks]})
    else:
        _print_table(checks)
        echo(f"\nStripewise is {'usable' if usable else 'NOT usable'} here.")
    click.get_current_context().exit(0 if usable else 1)


def _measure(directory: Path, *, as_json: bool) -> None:
    """Measure the storage of a directory, keep the record, print it."""
    from stripewise.machines import measure_storage, storage_file, write_storage
    from stripewise.model import to_json
    from stripewise.runtime import collective_stacks

    found = measure_storage(directory, collective_stacks())
    file = storage_file(directory)
    write_storage(found, file)
    if as_json:
        print_json({"file": str(file), "storage": to_json(found)})
        return
    click.echo(f"{printable(str(directory))}: {found.kind} on {printable(found.source)}")
    for name, table in (("write", found.write), ("read", found.read), ("fsync", found.sync)):
        for size, cost in table.items():
            click.echo(f"  {name + ' of ' + format_bytes(size):<20} {_interval(cost)}")
    for name, cost in found.calls.items():
        click.echo(f"  {name:<20} {_interval(cost)}")
    for exchange in found.exchange:
        mode = "collective" if exchange.collective else "independent"
        label = f"open and close together ({exchange.stack}, {exchange.ranks} ranks)"
        click.echo(f"  {label:<40} {_interval(exchange.opening)}")
        for name, table in (("write", exchange.write), ("read", exchange.read)):
            for piece, cost in table.items():
                rate = format_bandwidth(1 / cost.middle)
                label = f"{mode} {name} of pieces of {format_bytes(piece)}"
                click.echo(f"  {label:<40} {rate} ({exchange.stack}, {exchange.ranks} ranks)")
    note(f"kept in {file}; `stripewise profile` uses it")


def _interval(cost: Sequence[float]) -> str:
    low, middle, high = map(format_seconds, cost)
    return f"{middle} ({low} to {high})"


def _print_table(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.secho(f"{check.status:<4}", fg=_COLOURS[check.status], nl=False)
        echo(f"  {check.name:<{width}}  {check.detail}")
        if check.remedy:
            echo(f"{'':<{width + 8}}-> {check.remedy}")
