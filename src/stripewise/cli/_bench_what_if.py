# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench what-if`: surveyed applications on candidate systems."""

from __future__ import annotations

from functools import partial

import click

from stripewise.cli._common import examples, json_option


@click.command(
    "what-if",
    epilog=examples(
        "stripewise bench what-if jamstec-2018 jamstec-da archer2-hdd archer2-nvme",
        "stripewise bench what-if ours.toml site.toml offer-a.toml offer-b.toml --json",
    ),
)
@click.argument("survey", metavar="SURVEY")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@json_option
def what_if(survey: str, systems: tuple[str, ...], as_json: bool) -> None:
    """Tell which system serves a workload, and what would limit it there.

    SURVEY is a file of TOML or CSV with what profiles say of applications (bytes, files,
    operations, processes, jobs at once), or jamstec-2018, which comes with Stripewise.  SYSTEM is
    a description of a storage, as `stripewise machine list` names them, or its file.  Nothing is
    run: times are those of the model, with intervals from those of the descriptions.
    """
    from stripewise.bench import find_survey
    from stripewise.bench import what_if as asked
    from stripewise.machines import find_storage
    from stripewise.report import what_if_lines, what_if_to_json

    found = asked(find_survey(survey), [find_storage(one) for one in systems])
    answer(as_json, partial(what_if_to_json, found), partial(what_if_lines, found))
