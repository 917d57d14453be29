# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench compare`: campaigns side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import answer, examples, file_option, json_option, note

if TYPE_CHECKING:
    from stripewise.bench import Campaign


@click.command(
    "compare",
    epilog=examples(
        "stripewise bench compare before.campaign after.campaign",
        "stripewise bench compare ours.campaign theirs.json --html compared.html",
    ),
)
@click.argument(
    "campaigns", nargs=-1, required=True, metavar="CAMPAIGN CAMPAIGN...",
    type=click.Path(path_type=Path),
)  # fmt: skip
@file_option("--html", "page", help="Write a page with curves, factors and all cells to FILE.")
@json_option
def compare(campaigns: tuple[Path, ...], page: Path | None, as_json: bool) -> None:
    """Compare campaigns with the first: systems with each other, or before and after a change.

    Prints the best that each reached on one node and on many, for data and metadata, with factors;
    then the cells that differ, each with its interval, and targets that became slower.  Where
    nothing differs, at most 5 % of comparisons tell of a difference.

    CAMPAIGN is the directory of a campaign, or a file that `stripewise bench export` wrote.
    """
    from stripewise.bench import compare, read_campaign
    from stripewise.report import comparison_lines, comparison_to_json

    read = [_named(read_campaign(path), path) for path in campaigns]
    found = compare(read)
    if page is not None:
        from stripewise.outputs import write_file
        from stripewise.report import render_comparison

        write_file(page, render_comparison(found))
    answer(as_json, partial(comparison_to_json, found), partial(comparison_lines, found))
    if page is not None:
        note(f"wrote {page}")


def _named(campaign: Campaign, path: Path) -> Campaign:
    """Return a campaign under the name of its file, by which the user knows it."""
    return replace(campaign, name=path.stem if path.suffix else path.name)
