# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise profile`: what a run did to its files, what it cost, what to do."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import (
    allow_outside_option,
    evidence_argument,
    examples,
    file_option,
    json_option,
    note,
    print_json,
)
from stripewise.errors import TraceError, UsageError

if TYPE_CHECKING:
    from stripewise.diagnosis import Diagnosis


@click.command(
    epilog=examples(
        "stripewise profile traces/",
        "stripewise profile --findings-only job.darshan",
        "stripewise profile --try 1 program.trace",
        "stripewise profile --html profile.html --files 50 traces/",
        "stripewise profile --json traces/ > profile.json",
        "stripewise profile --mpiio-stats traces/",
    ),
)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the table of files as CSV.")
@file_option("--html", help="Write an HTML page to FILE.")
@file_option("--picture", help="Draw the ranks over time into FILE (.svg, .png or .pdf).")
@file_option("--drishti-csv", help="Write the findings as Drishti's codes to FILE.")
@click.option(
    "--files",
    metavar="N",
    type=click.IntRange(min=0),
    default=None,
    help="Maximum number of rows of each table  [default: 10; all with --json]",
)
@click.option(
    "--mpiio-stats",
    is_flag=True,
    help="Print blocks in the form of Cray's MPICH_MPIIO_STATS, from a trace of any MPI.",
)
@click.option("--findings-only", is_flag=True, help="Print only the summary and the findings.")
@click.option(
    "--try",
    "number",
    metavar="N",
    type=click.IntRange(min=1),
    help="Apply the lines of finding N to the traced program and measure the gain in 6 pairs.",
)
@allow_outside_option
@evidence_argument
def command(
    paths: tuple[Path, ...],
    as_json: bool,
    as_csv: bool,
    html: Path | None,
    picture: Path | None,
    drishti_csv: Path | None,
    files: int | None,
    mpiio_stats: bool,
    findings_only: bool,
    number: int | None,
    allow_outside: tuple[Path, ...],
) -> None:
    """Show what a run did to its files, how long it took and why, and what to do about it.

    PATH is a trace of `stripewise trace`, a container (*.sw) or a directory of containers, a
    Darshan log, a directory of Recorder, or the output of a job with MPICH_MPIIO_STATS blocks.

    The reference defines every figure.  Every finding has its evidence, its cost in seconds and
    a remedy.  The exit code is 0 whatever is found, and 9 if PATH cannot be read or is damaged:
    of a damaged one what is left is shown, and what is not known of it is said.
    """
    from stripewise.diagnosis import diagnose, findings_to_json, profile_to_json
    from stripewise.machines import storage_of_files
    from stripewise.outputs import write_file
    from stripewise.patterns import find_patterns
    from stripewise.readers import read_evidence
    from stripewise.report import drishti_csv as drishti_text
    from stripewise.report import (
        files_to_csv,
        mpiio_stats_text,
        print_profile,
    )

    if allow_outside and number is None:
        raise UsageError("--allow-outside goes with --try, which runs the program; leave it out")
    if as_json + as_csv + mpiio_stats > 1:
        raise UsageError("--json, --csv and --mpiio-stats exclude each other: choose one")
    evidence = read_evidence(paths)
    patterns = find_patterns(evidence.accesses)
    profile = evidence.profile
    diagnosis = diagnose(evidence, patterns, storage_of_files(profile.paths, profile.hosts).costs)
    if number is not None:
        _try(diagnosis, number, paths, allow_outside, as_json=as_json)
        return
    if html is not None:
        from stripewise.report import render_profile_html

        write_file(html, render_profile_html(diagnosis, evidence, patterns))
        note(f"wrote {html}")
    if picture is not None:
        from stripewise.report import draw_profile

        draw_profile(diagnosis, evidence, picture)
        note(f"wrote {picture}")
    if drishti_csv is not None:
        write_file(drishti_csv, drishti_text(diagnosis))
        note(f"wrote {drishti_csv}")
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
    if profile.damaged:
        note(
            f"{', '.join(map(str, paths))}: damaged: {diagnosis.figures.why_missing}; amounts are"
            " unknown, or the least that they can be"
        )
        click.get_current_context().exit(TraceError.exit_code)


def _try(
    diagnosis: Diagnosis,
    number: int,
    paths: Sequence[Path],
    allow_outside: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    """Run the traced program with and without the lines of a finding, and compare.

    A trace carries a command: only the user's own is run.
    """
    from stripewise.report import format_seconds
    from stripewise.study import try_lines

    if number > len(diagnosis.findings):
        raise UsageError(f"there is no finding {number}: {len(diagnosis.findings)} in all")
    if not diagnosis.command:
        raise UsageError("the source does not tell the program's command: trace it")
    if any(path.stat().st_uid != os.getuid() for path in paths):
        raise UsageError("this trace is another user's; its command is not run for you")
    found = diagnosis.findings[number - 1]
    claim = found.cost_seconds
    note(f"runs in a sandbox: {diagnosis.command}")
    command = shlex.split(diagnosis.command)
    tried = try_lines(command, found.lines, allow_outside=allow_outside)
    holds = None if claim is None else tried.holds(claim)
    if as_json:
        print_json({**asdict(tried), "code": found.code, "claim_seconds": claim, "holds": holds})
        return
    low, high = min(tried.gains), max(tried.gains)
    verdict = "the claim holds" if holds else "the claim does not hold"
    of_claim = "" if claim is None else f" of the {format_seconds(claim)} claimed"
    click.echo(
        f"{found.code}: {'no gain was claimed' if claim is None else verdict}: gained "
        f"{format_seconds(tried.gain_seconds)} ({format_seconds(low)} to {format_seconds(high)}, "
        f"{len(tried.gains)} pairs){of_claim}"
    )
