# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench export`: a campaign as one JSON file, without names."""

from __future__ import annotations

from pathlib import Path

import click

from stripewise.cli._common import examples, file_option, note


@click.command(
    "export",
    epilog=examples(
        "stripewise bench export array3d.campaign -o array3d.json",
        "stripewise bench export array3d.campaign -o array3d.json --with-names",
    ),
)
@click.argument("campaign", type=click.Path(path_type=Path))
@file_option("-o", "--output", required=True, help="File for the campaign (.json).")
@click.option(
    "--with-names",
    is_flag=True,
    help="Keep names, paths, messages and node lists as well: for your own centre.",
)
def export(campaign: Path, output: Path, with_names: bool) -> None:
    """Write a campaign as one JSON file that other centres can compare with.

    Names of hosts, users, jobs, accounts, directories and nodes are left out, and so is every text
    that is not made of words of the field.  Figures, settings, versions, striping and facts of the
    hardware stay.  Look at the file before you give it away.
    """
    from stripewise.bench import anonymised, read_campaign, write_campaign

    found = read_campaign(campaign)
    if with_names:
        write_campaign(found, output)
    else:
        write_campaign(anonymised(found), output, anonymised=True)
    note(f"wrote {output}, {'with' if with_names else 'without'} names")
