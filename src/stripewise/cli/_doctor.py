# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise doctor`: what works on this machine and what to do about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import examples, json_option, print_json, printable

if TYPE_CHECKING:
    from stripewise.runtime import Check

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise doctor",
        "stripewise doctor --json",
        "stripewise doctor -- mpiexec -n 16 ./program",
    ),
)
@json_option
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(as_json: bool, program: tuple[str, ...]) -> None:
    """Check MPIs, HDF5, the runtime library, preloading, processors and storage.

    Preloading is really tried: on `true`, and with each MPI on two ranks.  With a COMMAND it
    is also checked that its ranks have a processor each.  The exit code is 0 if Stripewise
    is usable here, whatever the warnings.
    """
    from stripewise.runtime import run_doctor

    checks = run_doctor(program)
    usable = not any(check.status == "fail" for check in checks)
    if as_json:
        rows = [
            {"name": c.name, "status": str(c.status), "detail": c.detail, "remedy": c.remedy}
            for c in checks
        ]
        print_json({"usable": usable, "checks": rows})
    else:
        _print_table(checks)
        click.echo(f"\nStripewise is {'usable' if usable else 'NOT usable'} here.")
    click.get_current_context().exit(0 if usable else 1)


def _print_table(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        status = click.style(f"{check.status:<4}", fg=_COLOURS[check.status])
        click.echo(f"{status}  {check.name:<{width}}  {printable(check.detail)}")
        if check.remedy:
            click.echo(f"{'':<{width + 8}}-> {printable(check.remedy)}")
