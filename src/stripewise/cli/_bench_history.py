# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench history`: nights in a row, with a verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from stripewise.cli._common import answer, examples, file_option, json_option, note


@click.command(
    "history",
    epilog=examples(
        "stripewise bench history nights --add tonight.campaign --check",
        "stripewise bench history nights --html nights.html",
        "stripewise bench history nights --check --known 2026-05-12",
    ),
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--add", "campaigns", multiple=True, metavar="CAMPAIGN", type=click.Path(path_type=Path),
    help="Add a campaign first (repeatable); DIR is made if it is not there.",
)  # fmt: skip
@file_option("--html", "page", help="Write a page with all nights to FILE.")
@click.option("--check", is_flag=True, help="Exit with 1 if something is slower than it was.")
@click.option(
    "--known", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]),
    help="With --check: only what is slower since after DATE counts.",
)  # fmt: skip
@json_option
def history(
    directory: Path,
    campaigns: tuple[Path, ...],
    page: Path | None,
    check: bool,
    known: datetime | None,
    as_json: bool,
) -> None:
    """Tell from a history of campaigns whether the storage became slower, and since when.

    DIR holds one campaign for each night, all of the same suite.  The first 21 nights are learned
    from.  Then a figure counts as slower if it stays below what it was for several nights; in a
    year in which nothing changes, that happens to any figure with a probability of at most 5 %.
    """
    from stripewise.bench import History, read_campaign
    from stripewise.report import history_lines, history_to_json

    for campaign in campaigns:
        History.add(directory, read_campaign(campaign))
    found = History.read(directory)
    if page is not None:
        from stripewise.outputs import write_file
        from stripewise.report import render_history

        write_file(page, render_history(found))
    answer(as_json, partial(history_to_json, found), partial(history_lines, found))
    if page is not None:
        note(f"wrote {page}")
    after = known.replace(tzinfo=UTC).timestamp() + 86400 if known else 0.0
    if check and any(one.since_unix_seconds >= after for one in found.open_findings):
        raise click.exceptions.Exit(1)
