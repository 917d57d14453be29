# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what a run did to its files, what it cost, and in which patterns it accessed them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import (
    allow_outside_option,
    answer,
    evidence_argument,
    examples,
    file_option,
    json_option,
    note,
    print_json,
)
from stripewise.core.errors import TraceError, UsageError

if TYPE_CHECKING:
    from stripewise.evidence.figures import Diagnosis
    from stripewise.evidence.patterns import Pattern, PatternGroup


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
def profile_command(
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
    from stripewise.core import write_file
    from stripewise.evidence.diagnosis import diagnose, findings_to_json, profile_to_json
    from stripewise.evidence.patterns import find_patterns
    from stripewise.evidence.readers import read_evidence
    from stripewise.evidence.report import drishti_csv as drishti_text
    from stripewise.evidence.report import files_to_csv, mpiio_stats_text, print_profile
    from stripewise.storage.machines import storage_of_files

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
        from stripewise.evidence.report import render_profile_html

        write_file(html, render_profile_html(diagnosis, evidence, patterns))
        note(f"wrote {html}")
    if picture is not None:
        from stripewise.evidence.report import draw_profile

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
    from stripewise.present import seconds_text
    from stripewise.study.procedure import try_lines

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
    of_claim = "" if claim is None else f" of the {seconds_text(claim)} claimed"
    click.echo(
        f"{found.code}: {'no gain was claimed' if claim is None else verdict}: gained "
        f"{seconds_text(tried.gain_seconds)} ({seconds_text(low)} to {seconds_text(high)}, "
        f"{len(tried.gains)} pairs){of_claim}"
    )


# `stripewise pattern`: the access pattern of each dataset, and how alike patterns are.


@click.command(
    epilog=examples(
        "stripewise pattern program.trace",
        "stripewise pattern job.darshan --file '*/restart.*'",
        "stripewise pattern program.trace --dataset '/unk_*' --words",
        "stripewise pattern program.trace --json > patterns.json",
        "stripewise pattern --compare before.trace after.trace",
    )
)
@click.option(
    "--file", "files", metavar="GLOB", default="*", help="Include only files whose path matches."
)
@click.option(
    "--dataset",
    "datasets",
    metavar="GLOB",
    default="*",
    help="Include only datasets whose name matches.",
)
@click.option("--words", is_flag=True, help="Describe each pattern in plain words as well.")
@click.option(
    "--compare",
    nargs=2,
    metavar="PATH PATH",
    type=click.Path(readable=False),
    help="For each pattern of the first run, show the nearest one of the second and its distance.",
)
@json_option
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False))
def pattern_command(
    paths: tuple[str, ...],
    files: str,
    datasets: str,
    words: bool,
    compare: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """Show in which pattern the ranks of a run write and read each dataset.

    PATH is a directory or file of `stripewise trace`, a Darshan log (with DXT, for the places
    in a file), or a directory of Recorder.

    A pattern is <dimensions, (distribution of each), (block of one process)> in the terms of
    High Performance Fortran: BLOCK, CYCLIC, CYCLIC(k), or * for a dimension that is not cut.
    Datasets of the same pattern share a line.
    """
    if bool(paths) == bool(compare):
        raise UsageError("say what to look at: PATH..., or --compare PATH PATH")
    if compare:
        _compare(*(_patterns([path], files, datasets) for path in compare), as_json=as_json)
        return
    patterns = _patterns(paths, files, datasets)
    if not patterns and not as_json:
        note("no places in a file were recorded that a pattern could be found in")
    answer(
        as_json,
        lambda: {"patterns": [pattern_data(one) for one in patterns]},
        lambda: _lines(patterns, words=words),
    )


def _patterns(paths: Sequence[str], files: str, datasets: str) -> list[Pattern]:
    from stripewise.evidence.patterns import find_patterns
    from stripewise.evidence.readers import read_evidence

    evidence = read_evidence([Path(path) for path in paths])
    chosen = [
        access
        for access in evidence.accesses
        if fnmatchcase(access.file, files)
        and fnmatchcase(getattr(access, "dataset", ""), datasets)
    ]
    return list(find_patterns(chosen))


def _lines(patterns: Sequence[Pattern], *, words: bool) -> Iterator[str]:
    """Yield the text: a line for each group, then what is to be said of it."""
    from stripewise.evidence.patterns import describe, group_patterns

    for group in group_patterns(patterns):
        yield _heading(group)
        yield f"  {_facts(group.pattern)}"
        if words:
            yield f"  {describe(group.pattern)}"
        else:
            yield from (f"  {text}" for text in group.pattern.notes)


def _heading(group: PatternGroup) -> str:
    number = len(group.members)
    verb = "write" if group.pattern.writing else "read"
    kind = "datasets" if group.members[0][1] else "arrays"
    many = f"{number} {kind} " if number > 1 else ""
    return f"{verb:5} {many}{group.name}: {group.pattern.notation}"


def _facts(pattern: Pattern) -> str:
    """Return the numbers of a pattern in a line."""
    from stripewise.present import plural

    active, n_ranks = pattern.active_ranks, pattern.n_ranks
    facts = [f"{pattern.kind}"]
    if len(pattern.grid) and max(pattern.grid) > 1:
        order = "" if pattern.rank_order == "C" else f" ({pattern.rank_order} order)"
        facts.append(f"grid {' x '.join(map(str, pattern.grid))}{order}")
    facts.append(f"{active} of {n_ranks} ranks" if active < n_ranks else plural(n_ranks, "rank"))
    facts.append(plural(pattern.element_bytes, "byte") + " an element")
    if pattern.steps > 1:
        facts.append(f"{pattern.steps} steps")
    if pattern.halo:
        facts.append(f"overlap {' x '.join(map(str, pattern.halo))}")
    if pattern.uneven:
        facts.append("uneven")
    if pattern.n_deviating:
        facts.append(f"{plural(pattern.n_deviating, 'rank')} not so ({_named(pattern)})")
    facts.append(f"{100 * pattern.collective:.0f} % collective")
    return ", ".join(facts)


def _named(pattern: Pattern) -> str:
    more = pattern.n_deviating > len(pattern.deviating_ranks)
    return ", ".join(map(str, pattern.deviating_ranks)) + (", ..." if more else "")


def pattern_data(pattern: Pattern) -> dict[str, Any]:
    """Return a pattern as it stands in JSON."""
    from dataclasses import asdict

    from stripewise.evidence.patterns import describe

    data = asdict(pattern)
    names = [str(part) for part in pattern.distributions]
    return {"notation": pattern.notation, **data, "names": names, "words": describe(pattern)}


def _compare(first: list[Pattern], second: list[Pattern], *, as_json: bool) -> None:
    """Print, for each pattern of the first run, the nearest one of the second."""
    from stripewise.evidence.patterns import distance, distance_parts, group_patterns

    found = []
    others = group_patterns(second)
    for group in group_patterns(first) if others else ():
        apart, place = min(
            (distance(group.pattern, other.pattern), place) for place, other in enumerate(others)
        )
        parts = distance_parts(group.pattern, others[place].pattern)
        found.append((group, others[place], apart, parts))
    if not found and not as_json:
        note("one of the two has no patterns: there is nothing to compare")
    answer(
        as_json,
        lambda: {"pairs": [_pair(*entry) for entry in found]},
        lambda: [line for entry in found for line in _pair_lines(*entry)],
    )


def _pair_lines(
    group: PatternGroup, nearest: PatternGroup, apart: float, parts: dict[str, float]
) -> Iterator[str]:
    yield _heading(group)
    yield f"  {apart:.3f}  {_heading(nearest)}"
    unlike = ", ".join(f"{name} {part:.2f}" for name, part in parts.items() if part > 0.005)
    if unlike:
        yield f"  differs in: {unlike}"


def _pair(
    group: PatternGroup, nearest: PatternGroup, apart: float, parts: dict[str, float]
) -> dict[str, Any]:
    names = [{"name": one.name, "notation": one.pattern.notation} for one in (group, nearest)]
    return {"first": names[0], "second": names[1], "distance": apart, "parts": parts}
