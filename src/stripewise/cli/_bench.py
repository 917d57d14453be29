# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench`: benchmark campaigns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from stripewise.cli._bench_compare import compare
from stripewise.cli._bench_export import export
from stripewise.cli._bench_history import history
from stripewise.cli._bench_import import command_import
from stripewise.cli._bench_report import report
from stripewise.cli._bench_run import command_run, complete_suite
from stripewise.cli._bench_what_if import what_if
from stripewise.cli._common import answer, examples, json_option


@click.group(
    epilog=examples(
        "stripewise bench list",
        "stripewise bench run array3d --in /scratch/me --nodes 1,2,4 --ranks-per-node 32",
        "stripewise bench report array3d.campaign",
    ),
)
def command() -> None:
    """Measure what a storage can do: benchmark campaigns, their limits and comparisons."""


for _one in (command_run, report, compare, history, what_if, export, command_import):
    command.add_command(_one)


@command.command("list", epilog=examples("stripewise bench list", "stripewise bench list --json"))
@json_option
def list_command(as_json: bool) -> None:
    """List the built-in suites.

    A suite is a TOML file: `stripewise bench show SUITE --toml` prints one to begin with.
    """
    answer(as_json, _suites, _suite_lines)


def _suites() -> list[dict[str, Any]]:
    from stripewise.bench import find_suite, suite_names

    found = [find_suite(name) for name in suite_names()]
    return [
        {
            "name": one.name,
            "title": one.title,
            "cases": len(one.cases),
            "runs": sum(case.repeats for case in one.cases),
            "nodes": sorted({case.nodes for case in one.cases}),
        }
        for one in found
    ]


def _suite_lines() -> list[str]:
    return [f"{one['name']:16} {one['cases']:5} cases  {one['title']}" for one in _suites()]


@command.command(
    "show",
    epilog=examples(
        "stripewise bench show array3d",
        "stripewise bench show array3d --toml > my-suite.toml",
        "stripewise bench show array3d.campaign",
    ),
)
@click.argument("what", metavar="SUITE|CAMPAIGN", shell_complete=complete_suite)
@click.option("--toml", is_flag=True, help="Print the file of the suite, to be changed.")
@json_option
def show_command(what: str, toml: bool, as_json: bool) -> None:
    """Show a suite, or the figures of a campaign."""
    from stripewise.bench import find_suite, suite_names

    if what in suite_names() or what.endswith(".toml"):
        suite = find_suite(what)
        if toml:
            click.echo(suite.text, nl=False)
            return
        from stripewise.cli._bench_run import plan_data, plan_lines

        head = [f"{suite.name}: {suite.title}", "", *suite.about.strip().splitlines(), ""]
        answer(as_json, lambda: plan_data(suite), lambda: [*head, *plan_lines(suite)])
        return
    from stripewise.bench import figures_of, flags_of_campaign, read_campaign
    from stripewise.report import campaign_lines, campaign_to_json

    campaign = read_campaign(Path(what))
    figures = figures_of(campaign)
    answer(
        as_json,
        lambda: campaign_to_json(campaign, figures),
        lambda: campaign_lines(campaign, figures, flags=flags_of_campaign(campaign, figures)),
    )
