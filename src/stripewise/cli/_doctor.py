# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise doctor`: what works on this machine and what to do about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import echo, examples, json_option, print_json

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
    help="Measure the file system of DIR, as `stripewise machine probe DIR` does.",
)
@json_option
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(as_json: bool, storage: Path | None, program: tuple[str, ...]) -> None:
    """Check MPIs, HDF5, the runtime library, preloading, processors and storage.

    Tries preloading with `true`, and with each MPI on two ranks.  With a COMMAND, also checks
    that its program exists and that each of its ranks has a processor.  The exit code is 0 if
    Stripewise is usable here, even with warnings.

    With --storage, measures a file system instead and keeps the record for this machine, as
    `stripewise machine probe` does.
    """
    from stripewise.runtime import run_doctor

    if storage is not None:
        from stripewise.cli._machine import probe_and_print

        probe_and_print(storage, as_json=as_json)
        return
    checks = run_doctor(program)
    usable = not any(check.status == "fail" for check in checks)
    if as_json:
        print_json({"usable": usable, "checks": [asdict(check) for check in checks]})
    else:
        _print_table(checks)
        echo()
        echo(f"Stripewise is {'usable' if usable else 'NOT usable'} here.")
    click.get_current_context().exit(0 if usable else 1)


def _print_table(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.secho(f"{check.status:<4}", fg=_COLOURS[check.status], nl=False)
        echo(f"  {check.name:<{width}}  {check.detail}")
        if check.remedy:
            echo(f"{'':<{width + 8}}-> {check.remedy}")
