# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise site`: what is at a site, for people who prepare or support its use."""

from __future__ import annotations

import os
from pathlib import Path

import click

from stripewise.cli._common import echo, examples, file_option, json_option, print_json

_DEFAULT = "stripewise-site.json"


@click.group(epilog=examples("stripewise site check /scratch/project"))
def command() -> None:
    """Gather what decides how Stripewise can be used at a site."""


@command.command(
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
    from stripewise.site import LocalHost, check_site, site_lines, write_site

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
    from stripewise.errors import UsageError

    if os.path.lexists(output) and not force:
        raise UsageError(f"{output} exists: give another --output, or --force to replace it")


def _usual() -> tuple[Path, ...]:
    scratch = os.environ.get("SCRATCH", "")
    places = [Path.cwd(), *([Path(scratch)] if scratch else [])]
    return tuple(dict.fromkeys(places))
