# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench import`: a campaign from results of IOR, mdtest and benchio."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, json_option, note

if TYPE_CHECKING:
    from stripewise.bench import Campaign

MOST_NOTES = 10


@click.command(
    "import",
    epilog=examples(
        "stripewise bench import ior-*.txt mdtest.txt -o july.json",
        "stripewise bench import benchio.txt --ranks-per-node 128 -o benchio.json",
        "stripewise bench import slurm-4711.out --name before-upgrade -o before.json",
    ),
)
@click.argument(
    "results", nargs=-1, required=True, metavar="RESULTS...", type=click.Path(path_type=Path)
)
@click.option("-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path),
              help="Write the campaign to FILE (.json).")  # fmt: skip
@click.option("--name", default="", metavar="NAME",
              help="Name of the campaign.  [default: that of FILE]")  # fmt: skip
@click.option("--ranks-per-node", type=click.IntRange(min=1), metavar="R", default=None,
              help="Where the results do not tell.")  # fmt: skip
@json_option
def command_import(
    results: tuple[Path, ...],
    output: Path,
    name: str,
    ranks_per_node: int | None,
    as_json: bool,
) -> None:
    """Make a campaign of RESULTS that IOR, mdtest or benchio printed elsewhere.

    RESULTS are the output of IOR (text, JSON or CSV, versions 2 to 4), mdtest, benchio or
    `stripewise kernel --json`, also the output of a job with several of them.  Each test becomes a
    case, each repeat a run.  What was left out or assumed is said on standard error and kept in
    the campaign.
    """
    from stripewise.bench import import_campaign, write_campaign

    name = name or re.sub(r"[^A-Za-z0-9._-]+", "-", output.stem)[:64].strip("-._") or "imported"
    campaign = import_campaign(results, name, ranks_per_node or 0)
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
    from stripewise.text import plural

    failed = sum(run.status != "ok" for run in campaign.runs)
    trouble = f", {plural(failed, 'run')} without a figure" if failed else ""
    cases, runs = plural(len(campaign.suite.cases), "case"), plural(len(campaign.runs), "run")
    yield f"{cases} and {runs}{trouble}"
    for case, made in campaign.of_cases():
        yield f"  {case.series:<28} {plural(case.nodes, 'node'):>9}   {plural(len(made), 'run')}"
