# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise profile`: what a run did to its files, what it cost, what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stripewise.cli._common import examples, json_option, note, print_json
from stripewise.errors import UsageError


@click.command(
    epilog=examples(
        "stripewise profile traces/",
        "stripewise profile --findings-only job.darshan",
        "stripewise profile --html profile.html --files 50 traces/",
        "stripewise profile --json traces/ > profile.json",
        "stripewise profile --mpiio-stats traces/",
    ),
)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the table of files as CSV.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write a page.")
@click.option(
    "--picture",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw ranks over time (.svg, .png, .pdf).",
)
@click.option(
    "--drishti-csv",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the findings as codes of Drishti.",
)
@click.option(
    "--files",
    metavar="N",
    type=click.IntRange(min=0),
    default=None,
    help="Rows of each table (text: 10; JSON: all).",
)
@click.option(
    "--mpiio-stats",
    is_flag=True,
    help="Print blocks as Cray's MPICH_MPIIO_STATS does, for any MPI, from a trace.",
)
@click.option("--findings-only", is_flag=True, help="Only the summary line and the findings.")
@click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(readable=False)
)
def command(
    paths: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    html: Path | None,
    picture: Path | None,
    drishti_csv: Path | None,
    files: int | None,
    mpiio_stats: bool,
    findings_only: bool,
) -> None:
    """Say what a run did to its files, how long that took and why, and what to do.

    PATH is what a run left: containers of Stripewise (*.sw) or a directory of them, a Darshan
    log, a directory of Recorder, or the output of a job with MPICH_MPIIO_STATS blocks.

    Each figure is defined in the reference, each finding has its evidence, its cost in
    seconds, and a remedy.  The exit code is 0 whatever is found, 9 if PATH cannot be read.
    """
    from stripewise.diagnosis import diagnose
    from stripewise.patterns import find_patterns
    from stripewise.readers import read_evidence
    from stripewise.report._profile_drishti import drishti_csv as drishti_text
    from stripewise.report._profile_json import files_to_csv, findings_to_json, profile_to_json
    from stripewise.report._profile_mpiio import mpiio_stats_text
    from stripewise.report._profile_text import print_profile

    if as_json + as_csv + mpiio_stats > 1:
        raise UsageError("--json, --csv and --mpiio-stats exclude each other: choose one")
    evidence = read_evidence([Path(path) for path in paths])
    patterns = find_patterns(evidence.accesses)
    diagnosis = diagnose(evidence, patterns)
    if html is not None:
        from stripewise.report._profile_html import write_profile_html

        write_profile_html(diagnosis, evidence, patterns, html)
    if picture is not None:
        from stripewise.report._profile_figure import draw_profile

        draw_profile(diagnosis, evidence, picture)
    if drishti_csv is not None:
        _write(drishti_csv, drishti_text(diagnosis))
    if as_json and findings_only:
        print_json({"summary": diagnosis.summary, "findings": findings_to_json(diagnosis)})
    elif as_json:
        print_json(profile_to_json(diagnosis, patterns, files=files))
    elif as_csv:
        click.echo(files_to_csv(diagnosis), nl=False)
    elif mpiio_stats:
        text = mpiio_stats_text(diagnosis.mpiio_stats)
        if not text:
            note("no calls of MPI-IO were traced, so there are no blocks")
        click.echo(text, nl=False)
    else:
        print_profile(
            diagnosis,
            sys.stdout,
            patterns,
            files=10 if files is None else files,
            findings_only=findings_only,
        )


def _write(path: Path, text: str) -> None:
    from stripewise.formats import write_text

    write_text(path, text)
