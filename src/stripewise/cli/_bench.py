# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists, compares, imports and exports campaigns, and keeps nightly ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._bench_kernel import kernel_command, metadata_command
from stripewise.cli._bench_report import advise_command, report
from stripewise.cli._bench_run import command_run, complete_suite
from stripewise.cli._common import answer, note
from stripewise.cli._help import add_all, command, examples, group, option
from stripewise.cli._options import campaign_argument, file_option, json_option

if TYPE_CHECKING:
    from stripewise.bench.campaign import Campaign


# `stripewise bench compare`: campaigns side by side.


@command(
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
    """Compare campaigns: several systems, or one before and after a change.

    The first campaign is the reference.  Prints the best rates that each campaign reached on one
    node and on many, for data and metadata, with their ratios; then the cells that differ, each
    with its interval, and targets that became slower.  Where nothing differs, at most 5 % of
    comparisons report a difference.

    CAMPAIGN is the directory of a campaign, or a file that `stripewise bench export` wrote.
    """
    from stripewise.bench.comparison import compare
    from stripewise.bench.report import comparison_lines, comparison_to_json
    from stripewise.bench.running import read_campaign

    read = [_named(read_campaign(path), path) for path in campaigns]
    found = compare(read)
    if page is not None:
        from stripewise.bench.report import render_comparison
        from stripewise.core import write_file

        write_file(page, render_comparison(found))
    answer(as_json, partial(comparison_to_json, found), partial(comparison_lines, found))
    if page is not None:
        note(f"wrote {page}")


def _named(campaign: Campaign, path: Path) -> Campaign:
    """Return a campaign renamed to the name of its file, which the user knows."""
    return replace(campaign, name=path.stem if path.suffix else path.name)


# `stripewise bench export`: a campaign as one JSON file, without names.


@command(
    "export",
    epilog=examples(
        "stripewise bench export array3d.campaign -o array3d.json",
        "stripewise bench export array3d.campaign -o array3d.json --with-names",
    ),
)
@campaign_argument
@file_option("-o", "--output", required=True, help="File for the campaign (.json).")
@option(
    "--with-names",
    is_flag=True,
    help="Keep names, paths, messages and node lists as well: for your own centre.",
)
def export(campaign: Path, output: Path, with_names: bool) -> None:
    """Write a campaign as one JSON file for comparison by other centres.

    Names of hosts, users, jobs, accounts, directories and nodes are left out, and so is free text.
    Figures, settings, versions, striping and facts of the hardware stay.  Look at the file before
    you give it away.
    """
    from stripewise.bench.campaign import anonymised, write_campaign
    from stripewise.bench.running import read_campaign

    found = read_campaign(campaign)
    if with_names:
        write_campaign(found, output)
    else:
        write_campaign(anonymised(found), output, anonymised=True)
    note(f"wrote {output}, {'with' if with_names else 'without'} names")


# `stripewise bench history`: nights in a row, with a verdict.


@command(
    "history",
    epilog=examples(
        "stripewise bench history nights --add tonight.campaign --check",
        "stripewise bench history nights --html nights.html",
        "stripewise bench history nights --check --known 2026-05-12",
    ),
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option(
    "--add", "campaigns", multiple=True, metavar="CAMPAIGN", type=click.Path(path_type=Path),
    help="Add a campaign first (repeatable); DIR is made if needed.",
)  # fmt: skip
@file_option("--html", "page", help="Write a page with all nights to FILE.")
@option("--check", is_flag=True, help="Exit with 1 if something is slower than it was.")
@option(
    "--known", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]),
    help="With --check: count only what became slower after DATE.",
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
    """Find out from a history of campaigns whether the storage became slower, and since when.

    DIR holds one campaign for each night, all of the same suite.  The first 21 nights are the
    reference.  After them a figure counts as slower if it stays below what it was for several
    nights; in a year in which nothing changes, that happens to any figure with a probability of at
    most 5 %.
    """
    from stripewise.bench.comparison import History, add_night
    from stripewise.bench.report import history_lines, history_to_json
    from stripewise.bench.running import read_campaign

    for campaign in campaigns:
        add_night(directory, read_campaign(campaign))
    found = History.read(directory)
    if page is not None:
        from stripewise.bench.report import render_history
        from stripewise.core import write_file

        write_file(page, render_history(found))
    answer(as_json, partial(history_to_json, found), partial(history_lines, found))
    if page is not None:
        note(f"wrote {page}")
    after = known.replace(tzinfo=UTC).timestamp() + 86400 if known else 0.0
    if check and any(one.since_unix_seconds >= after for one in found.open_findings):
        raise click.exceptions.Exit(1)


# `stripewise bench import`: a campaign from results of other benchmarks.

MOST_NOTES = 10


@command(
    "import",
    epilog=examples(
        "stripewise bench import ior-*.txt mdtest.txt -o july.json",
        "stripewise bench import benchio.txt --ranks-per-node 128 -o benchio.json",
        "stripewise bench import results/2024.05.11-11.02.49 -o io500.json",
        "stripewise bench import slurm-4711.out --name before-upgrade -o before.json",
    ),
)
@click.argument(
    "results", nargs=-1, required=True, metavar="RESULTS...", type=click.Path(path_type=Path)
)
@option("-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path),
              help="Write the campaign to FILE (.json).")  # fmt: skip
@option("--name", default="", metavar="NAME",
              help="Name of the campaign.  [default: that of FILE]")  # fmt: skip
@option("--ranks-per-node", type=click.IntRange(min=1), metavar="R", default=None,
              help="Ranks on each node, if the results do not contain it.")  # fmt: skip
@option("--ranks", type=click.IntRange(min=1), metavar="N", default=None,
              help="Number of ranks, if the results do not contain it.")  # fmt: skip
@json_option
def command_import(
    results: tuple[Path, ...],
    output: Path,
    name: str,
    ranks_per_node: int | None,
    ranks: int | None,
    as_json: bool,
) -> None:
    """Make a campaign from the results of IOR, mdtest, IO500, h5bench or benchio.

    RESULTS are the output of IOR (text, JSON or CSV, versions 2 to 4), mdtest, h5bench (text or
    CSV), benchio or `stripewise bench kernel --json`, also the output of a job with several of
    them; or IO500's result.txt or result_summary.txt, or the directory with them.  Each test
    becomes a case, each repeat a run.  Notes on standard error, and in the campaign, say what was
    left out or assumed.
    """
    from stripewise.bench.campaign import import_campaign, write_campaign

    name = name or re.sub(r"[^A-Za-z0-9._-]+", "-", output.stem)[:64].strip("-._") or "imported"
    campaign = import_campaign(results, name, ranks_per_node or 0, ranks or 0)
    write_campaign(campaign, output)
    answer(as_json, lambda: _data(campaign, output), lambda: _lines(campaign))
    if not as_json:
        _say(campaign.about["notes"])
        note(f"wrote {output}: `stripewise bench report {output}` shows it")


def _say(notes: list[str]) -> None:
    for one in notes[:MOST_NOTES]:
        note(one)
    if len(notes) > MOST_NOTES:
        note(f"{len(notes) - MOST_NOTES} more notes are in the campaign")


def _data(campaign: Campaign, output: Path) -> dict[str, Any]:
    return {
        "file": str(output),
        "name": campaign.name,
        "cases": len(campaign.suite.cases),
        "runs": len(campaign.runs),
        "failed": sum(run.status != "ok" for run in campaign.runs),
        "versions": campaign.about["versions"],
        "notes": campaign.about["notes"],
    }


def _lines(campaign: Campaign) -> Iterator[str]:
    from stripewise.present import plural

    failed = sum(run.status != "ok" for run in campaign.runs)
    trouble = f", {plural(failed, 'run')} without a figure" if failed else ""
    cases, runs = plural(len(campaign.suite.cases), "case"), plural(len(campaign.runs), "run")
    yield f"{cases} and {runs}{trouble}"
    for case, made in campaign.of_cases():
        yield f"  {case.series:<28} {plural(case.nodes, 'node'):>9}   {plural(len(made), 'run')}"


# `stripewise bench what-if`: surveyed applications on candidate systems.


@command(
    "what-if",
    epilog=examples(
        "stripewise bench what-if jamstec-2018 jamstec-da archer2-hdd archer2-nvme",
        "stripewise bench what-if ours.toml site.toml offer.toml --json",
    ),
)
@click.argument("survey", metavar="SURVEY")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@json_option
def what_if(survey: str, systems: tuple[str, ...], as_json: bool) -> None:
    """Compare storage systems for a workload, and name what would limit it on each.

    SURVEY is a file of TOML or CSV with what profiles say of applications (bytes, files,
    operations, processes, jobs at once), or jamstec-2018, which comes with Stripewise.  SYSTEM is
    a description of a storage system, as `stripewise machine list` names it, or its file.  Nothing
    is run: times are those of the model, with intervals from those of the descriptions.
    """
    from stripewise.bench.comparison import find_survey
    from stripewise.bench.comparison import what_if as compared
    from stripewise.bench.report import what_if_lines, what_if_to_json
    from stripewise.storage.machines import find_storage

    found = compared(find_survey(survey), [find_storage(one) for one in systems])
    answer(as_json, partial(what_if_to_json, found), partial(what_if_lines, found))


# `stripewise bench`: benchmark campaigns.


@group(
    epilog=examples(
        "stripewise bench list",
        "stripewise bench run array3d --in /scratch/me --nodes 1,2,4",
        "stripewise bench report array3d.campaign",
    ),
)
def bench_command() -> None:
    """Measure what a storage system can do: benchmark campaigns, their limits and comparisons."""


@bench_command.command(
    "list", epilog=examples("stripewise bench list", "stripewise bench list --json")
)
@json_option
def list_command(as_json: bool) -> None:
    """List the built-in suites.

    A suite is a TOML file: `stripewise bench show SUITE --toml` prints one to begin with.
    """
    answer(as_json, _suites, _suite_lines)


def _suites() -> list[dict[str, Any]]:
    from stripewise.bench.campaign import find_suite, suite_names

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


@bench_command.command(
    "show",
    epilog=examples(
        "stripewise bench show array3d",
        "stripewise bench show array3d --toml > my-suite.toml",
        "stripewise bench show array3d.campaign",
    ),
)
@click.argument("what", metavar="SUITE|CAMPAIGN", shell_complete=complete_suite)
@option("--toml", is_flag=True, help="Print the file of the suite, to be changed.")
@json_option
def show_command(what: str, toml: bool, as_json: bool) -> None:
    """Show a suite, or the figures of a campaign."""
    from stripewise.bench.campaign import find_suite, suite_names

    if what in suite_names() or what.endswith(".toml"):
        suite = find_suite(what)
        if toml:
            click.echo(suite.text, nl=False)
            return
        from stripewise.cli._bench_run import plan_data, plan_lines

        head = [f"{suite.name}: {suite.title}", "", *suite.about.strip().splitlines(), ""]
        answer(as_json, lambda: plan_data(suite), lambda: [*head, *plan_lines(suite)])
        return
    from stripewise.bench.campaign import figures_of, flags_of_campaign
    from stripewise.bench.report import campaign_lines, campaign_to_json
    from stripewise.bench.running import read_campaign

    campaign = read_campaign(Path(what))
    figures = figures_of(campaign)
    answer(
        as_json,
        lambda: campaign_to_json(campaign, figures),
        lambda: campaign_lines(campaign, figures, flags=flags_of_campaign(campaign, figures)),
    )


add_all(
    bench_command,
    (
        command_run,
        report,
        compare,
        history,
        what_if,
        export,
        command_import,
        advise_command,
        kernel_command,
        metadata_command,
    ),
)
