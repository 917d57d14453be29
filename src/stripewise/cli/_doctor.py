# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what works on a machine or at a site, and builds the runtime library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import (
    answer,
    echo,
    examples,
    file_option,
    json_option,
    note,
    print_json,
)

if TYPE_CHECKING:
    from stripewise.run.site import Check


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
def doctor_command(as_json: bool, storage: Path | None, program: tuple[str, ...]) -> None:
    """Check MPIs, HDF5, the runtime library, preloading, processors and storage.

    Tries preloading with `true`, and with each MPI on two ranks.  With a COMMAND, also checks
    that its program exists and that each of its ranks has a processor.  The exit code is 0 if
    Stripewise is usable here, even with warnings.

    With --storage, measures a file system instead and keeps the record for this machine, as
    `stripewise machine probe` does.
    """
    from stripewise.run.site import run_doctor

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


# `stripewise runtime`: build the library, and list what is built.


@click.group(
    epilog=examples("stripewise runtime build", "stripewise runtime list"),
)
def runtime_command() -> None:
    """Build the runtime library, MPI plug-ins and kernels, and list what is built.

    They go to $STRIPEWISE_RUNTIME_DIR, otherwise into this Python environment if it can be
    written to, otherwise to ~/.local/share/stripewise.
    """


@runtime_command.command(
    "build",
    epilog=examples(
        "stripewise runtime build",
        "stripewise runtime build --mpicc /opt/openmpi-5/bin/mpicc",
        "STRIPEWISE_RUNTIME_DIR=/shared/stripewise stripewise runtime build --force",
    ),
)
@click.option(
    "--mpicc",
    multiple=True,
    metavar="WRAPPER",
    help="Build for the MPI of this compiler wrapper (repeatable; default: all on PATH).",
)
@click.option("--force", is_flag=True, help="Build also what is up to date.")
@json_option
def build(mpicc: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Build what is out of date, with CMake and the compiler of each MPI."""
    from stripewise.run.runtime import build_runtime

    result = build_runtime(lambda line: echo(line, err=as_json), mpicc=mpicc, force=force)
    for label, reason in result.failed.items():
        note(f"{label}: {reason}", kind="error")
    if as_json:
        print_json(
            {
                "directory": str(result.runtime.directory),
                "built": result.built,
                "current": result.current,
                "failed": result.failed,
            }
        )
    else:
        echo(f"runtime: {result.runtime.directory}")
    if result.failed:
        click.get_current_context().exit(5)


@runtime_command.command(
    "list", epilog=examples("stripewise runtime list", "stripewise runtime list --json")
)
@json_option
def list_built(as_json: bool) -> None:
    """List the library, the MPI plug-ins and the kernels that are built."""
    from stripewise.run.runtime import find_runtime

    runtime = find_runtime()
    kinds = {"plug-in": runtime.plugins, "kernel": runtime.kernels}
    parts = {f"{kind} {name}": path for kind in kinds for name, path in kinds[kind].items()}
    answer(
        as_json,
        lambda: {
            "directory": runtime.directory,
            "core": runtime.core,
            "plugins": runtime.plugins,
            "kernels": runtime.kernels,
        },
        lambda: [f"{name:<22} {path}" for name, path in {"core": runtime.core, **parts}.items()],
    )


# `stripewise site`: what is at a site, for people who prepare or support its use.

_DEFAULT = "stripewise-site.json"


@click.group(epilog=examples("stripewise site check /scratch/project"))
def site_command() -> None:
    """Gather what decides how Stripewise can be used at a site."""


@site_command.command(
    epilog=examples(
        "stripewise site check /scratch/project",
        "stripewise site check --account k01 --partition workq /scratch/project",
        "stripewise site check --json",
    )
)
@click.argument(
    "directories", nargs=-1, metavar="[DIR...]", type=click.Path(path_type=Path, file_okay=False)
)
@file_option("--output", default=_DEFAULT, show_default=True, help="File to write.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option(
    "--with-names", is_flag=True, help="Leave the names of users and hosts in the report."
)
@click.option("--account", default="", metavar="NAME", help="Account of the test job.")
@click.option("--partition", default="", metavar="NAME", help="Partition of the test job.")
@json_option
def check(
    directories: tuple[Path, ...],
    output: Path,
    force: bool,
    with_names: bool,
    account: str,
    partition: str,
    as_json: bool,
) -> None:
    """Look at Slurm, burst buffers, MPIs, file systems and Darshan, and write one file.

    Asks harmless questions only, each for 10 seconds at most: no job is submitted (`sbatch
    --test-only` says whether one would be accepted), and nothing is sent anywhere.  A tool that
    is missing or fails is recorded as such.  Look at the file before you give it to anybody: it
    has paths, modules and partitions, but no names of users and hosts.

    DIR are directories of the file systems that programs write to; this one and $SCRATCH if not
    given.  A small file is made in each and removed again, to compare the clocks.

    With --json, prints the report and writes no file.
    """
    from stripewise.run.site import LocalHost, check_site, site_lines, write_site

    if not as_json:
        _refuse_existing(output, force)
    options = {"--account": account, "--partition": partition}
    batch = [f"{name}={value}" for name, value in options.items() if value]
    report = check_site(LocalHost(directories or _usual(), batch), with_names=with_names)
    if as_json:
        print_json(report.document())
        return
    write_site(report, output, force=force)
    for line in site_lines(report):
        echo(line)
    echo()
    echo(f"Written to {output}; nothing was sent.")


def _refuse_existing(output: Path, force: bool) -> None:
    """Say so before a minute of questions."""
    from stripewise.core.errors import UsageError

    if os.path.lexists(output) and not force:
        raise UsageError(f"{output} exists: give another --output, or --force to replace it")


def _usual() -> tuple[Path, ...]:
    scratch = os.environ.get("SCRATCH", "")
    places = [Path.cwd(), *([Path(scratch)] if scratch else [])]
    return tuple(dict.fromkeys(places))
