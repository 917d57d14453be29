# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise profile`, which shows the I/O of a run from a log or a traced run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import echo, note, note_all, print_json, write_noted
from stripewise.cli._help import Command, command, examples, has_options, option
from stripewise.cli._options import (
    allow_outside_option,
    directory_option,
    emulation_options,
    file_option,
    json_option,
    page_option,
    picture_option,
    storage_to_emulate,
    sync_option,
)
from stripewise.cli._profile_forms import (
    Chosen,
    collect,
    compare_patterns,
    export,
    show_calls,
    show_info,
    show_patterns,
)
from stripewise.cli._run import USUAL_TRACE, trace_directory, what_next
from stripewise.cli._scripts import DASHES, refuse_dry_run, refuse_scripts
from stripewise.core.errors import ProgramError, TraceError, UsageError

if TYPE_CHECKING:
    from stripewise.evidence.figures import Diagnosis
    from stripewise.present.blocks import Content
    from stripewise.storage.emulation import EmulatedStorage

FORMS = ("profile", "findings", "pattern", "calls", "info", "csv", "mpiio-stats")
_LAYERS = ("adios2", "hdf5", "pnetcdf", "mpiio", "stdio", "posix")
_COMMAND = "stripewise.profile.command"

_choice = partial(option, group="What is included", multiple=True, rare=True)
_file = partial(file_option, group="Files to write")
_options = has_options(
    option("--as", "form", type=click.Choice(FORMS), default="profile", metavar="FORM",
        help="What to show: profile (the default), findings, pattern (how the ranks divide each "
        "dataset), calls, info (what is in a log), csv (the table of files) or mpiio-stats "
        "(as Cray's MPICH_MPIIO_STATS)."),
    page_option(group="Files to write", help="Write an HTML page to FILE."),
    picture_option(group="Files to write",
        help="Draw the ranks over time into FILE (.svg, .png or .pdf)."),
    _file("--export", "export_file",
        help="Write the calls to FILE: NAME.parquet, or NAME.json for a timeline in Perfetto or "
        "Chrome."),
    _file("--drishti-csv", rare=True, help="Write the findings as Drishti's codes to FILE."),
    option("--try", "number", metavar="N", type=click.IntRange(min=1), group="Findings",
        help="Apply the lines of finding N to the traced program and measure the gain in 6 "
             "pairs of runs."),
    allow_outside_option,
    option("--compare", metavar="PATH", type=click.Path(path_type=Path, readable=False),
        group="Patterns",
        help="For each pattern, show the nearest one of the run in PATH and its distance."),
    option("--words", is_flag=True, group="Patterns", rare=True,
        help="With --as pattern: describe each pattern in plain words as well."),
    _choice("--file", "files", metavar="PATTERN",
        help="Include only files whose path contains or matches this, in patterns and calls "
        "(repeatable)."),
    _choice("--dataset", "datasets", metavar="GLOB",
        help="Include only datasets whose name matches, in patterns (repeatable)."),
    _choice("--rank", "ranks", type=int, metavar="N",
        help="Include only this rank, in calls (repeatable)."),
    _choice("--layer", "layers", type=click.Choice(_LAYERS),
        help="Include only this layer, in calls (repeatable)."),
    option("--every-call", is_flag=True, group="What is included", rare=True,
        help="Show every call by itself, instead of equal calls together."),
    option("--limit", metavar="N", type=click.IntRange(min=0), group="What is included",
        help="Maximum number of rows of each table  [default: 10, of calls 50; all with --json]"),
    option("--all", "everything", is_flag=True, group="What is included", rare=True,
        help="Show all rows of each table."),
    directory_option("--collect", "collect_directory", group="Logs of several nodes", rare=True,
        help="Copy the logs of this node into DIR and show nothing; several nodes may do so at "
        "once."),
    directory_option("--trace", group="A command that is run",
        help="Directory for the trace of COMMAND  [default: PROGRAM.trace]"),
    sync_option,
    emulation_options,
    json_option,
)  # fmt: skip


class ProfileCommand(Command):
    """Command that accepts logs, or a program after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Separate the program's words before parsing, since they are not our options."""
        if "--" in args:
            place = args.index("--")
            args, ctx.meta[_COMMAND] = args[:place], tuple(args[place + 1 :])
            ctx.meta[DASHES] = True
        return super().parse_args(ctx, args)


@command(
    cls=ProfileCommand,
    epilog=examples(
        "stripewise profile -- mpiexec -n 4 ./program output.h5",
        "stripewise profile program.trace --html profile.html",
        "stripewise profile job.darshan --as findings",
        "stripewise profile program.trace --try 1",
        "stripewise profile program.trace --as pattern --dataset '/unk_*'",
        "stripewise profile before.trace --compare after.trace",
        "stripewise profile program.trace --as calls --rank 0 --layer mpiio",
        "stripewise profile program.trace --export timeline.json",
    ),
)
@click.argument(
    "paths",
    nargs=-1,
    type=click.Path(path_type=Path, readable=False),
    metavar="PATH... | -- COMMAND...",
)
@_options
@click.pass_context
def profile_command(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    form: str,
    number: int | None,
    allow_outside: tuple[Path, ...],
    compare: Path | None,
    words: bool,
    export_file: Path | None,
    collect_directory: Path | None,
    trace: Path | None,
    sync: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Show what a run did to its files, how long it took and why, and what to do about it.

    PATH is a trace (of `stripewise run --trace` or `stripewise profile -- COMMAND`), a container
    (*.sw), a Darshan log or those of one run's processes, a directory of Recorder, or the output
    of a job with MPICH_MPIIO_STATS blocks.  With COMMAND, runs it unmodified, in place, traces
    every I/O call, and shows the profile of that run; the exit code is then that of COMMAND.

    A finding has its evidence, its cost in seconds and a remedy.  A pattern is written as in
    High Performance Fortran: <dimensions, (distribution of each), (block of one process)>, with
    BLOCK, CYCLIC, CYCLIC(k), or * for a dimension that is not divided.

    The exit code is 0 whatever is found, and 9 if PATH cannot be read or is damaged: what is
    left of a damaged log is shown, and what is unknown is marked as unknown.
    """
    chosen = Chosen(**{name: given.pop(name) for name in _CHOSEN})
    program: tuple[str, ...] | None = ctx.meta.get(_COMMAND)
    code = 0
    storage = storage_to_emulate(given, sync=sync)
    if program is not None:
        if paths:
            raise UsageError("give PATHs, or a command after --, not both")
        code, directory = _record(program, trace, storage, sync=sync)
        if directory is None:
            ctx.exit(code)
        paths = (directory,)
    elif trace is not None or sync or storage[0] is not None:
        raise UsageError(
            "--trace, --sync and --on require a command: stripewise profile -- mpiexec -n 4 ./app"
        )
    if not paths:
        raise UsageError("nothing to show: give PATH, or a command after --")
    if allow_outside and number is None:
        raise UsageError("--allow-outside requires --try, which runs the program; leave it out")
    if as_json and form in ("csv", "mpiio-stats"):
        raise UsageError(f"--json and --as {form} cannot be used together: choose one")
    if collect_directory is not None:
        collect(paths, collect_directory, as_json=as_json)
    elif compare is not None:
        compare_patterns(paths, [compare], chosen, as_json=as_json)
    elif form == "pattern":
        show_patterns(paths, chosen, words=words, as_json=as_json)
    elif form == "calls":
        show_calls(paths, chosen, as_json=as_json)
    elif form == "info":
        show_info(paths, chosen, as_json=as_json)
    elif export_file is not None:
        export(paths, chosen, export_file)
    else:
        _profile(
            paths,
            form,
            number,
            allow_outside,
            chosen.limit_of(10, as_json=as_json),
            storage=storage[0],
            as_json=as_json,
            **given,
        )
    ctx.exit(code)


_CHOSEN = ("files", "datasets", "ranks", "layers", "every_call", "limit", "everything")


def _record(
    program: tuple[str, ...],
    trace: Path | None,
    storage: tuple[EmulatedStorage | None, Path | None],
    *,
    sync: bool,
) -> tuple[int, Path | None]:
    """Run a program with the recorder; return its exit code and the trace (or None)."""
    from stripewise.run.runtime import find_runtime, run_in_place

    if not program:
        raise UsageError("no command to run; give one: stripewise profile -- mpiexec -n 4 ./app")
    refuse_scripts(program, "profile", once=True)
    refuse_dry_run(program, never=False)
    runtime = find_runtime()
    with trace_directory(program, str(trace or USUAL_TRACE)) as directory:
        done = run_in_place(
            program,
            runtime,
            sync=sync,
            capture="fold",
            containers=directory,
            storage=storage[0],
            root=storage[1],
        )
    from stripewise.core import Configuration
    from stripewise.run import emulation_lines, observation

    seen = observation(done, Configuration(), captured=True, storage=storage[0])
    note_all(seen.warnings, seen.errors)
    for line in emulation_lines(done.emulated) if done.emulated else ():
        note(line)
    code = done.shell_exit_code or (ProgramError.exit_code if seen.errors else 0)
    if directory is None or not directory.is_dir() or not len(done.profile.counters):
        return code, None
    note(what_next(directory))
    return code, directory


def _profile(
    paths: tuple[Path, ...],
    form: str,
    number: int | None,
    allow_outside: tuple[Path, ...],
    limit: int | None,
    *,
    storage: EmulatedStorage | None,
    as_json: bool,
    page: Path | None,
    picture: Path | None,
    drishti_csv: Path | None,
) -> None:
    """Diagnose a run and show the findings."""
    from stripewise.evidence.diagnosis import diagnose, profile_to_json
    from stripewise.evidence.patterns import find_patterns
    from stripewise.evidence.readers import logs_beside, read_evidence
    from stripewise.evidence.report import drishti_csv as drishti_text
    from stripewise.evidence.report import files_to_csv, mpiio_stats_text, profile_content
    from stripewise.present import finite, plural
    from stripewise.storage.machines import storage_of_files

    evidence = read_evidence(paths)
    patterns = find_patterns(evidence.accesses)
    profile = evidence.profile
    if len(paths) == 1 and (more := logs_beside(paths[0])):
        note(
            f"{plural(more, 'more log')} of its job: `stripewise profile {paths[0].parent}` reads "
            "those of one run together, or names the runs"
        )
    costs = storage_of_files(profile.paths, profile.hosts).costs
    if costs.disturbed:
        note(f"other work disturbed the probe of this storage: {costs.disturbed}")
    diagnosis = diagnose(evidence, patterns, costs)
    from stripewise.learning.adoption import with_study

    diagnosis = with_study(diagnosis, profile, storage)
    if number is not None:
        _try(diagnosis, number, paths, allow_outside, as_json=as_json)
        return

    def document(files: int | None) -> dict[str, Any]:
        found: dict[str, Any] = finite(profile_to_json(diagnosis, patterns, files=files))
        return found

    if page is not None:
        from stripewise.evidence.report import profile_page
        from stripewise.present.renderers import as_page

        write_noted(page, as_page(profile_page(document(None), evidence)))
    if picture is not None:
        from stripewise.evidence.report import draw_profile

        draw_profile(diagnosis, evidence, picture)
        note(f"wrote {picture}")
    if drishti_csv is not None:
        write_noted(drishti_csv, drishti_text(diagnosis))
    if as_json:
        found = document(limit)
        of_findings = {name: found[name] for name in ("summary", "findings")}
        print_json(of_findings if form == "findings" else found)
    elif form == "csv":
        click.echo(files_to_csv(document(None)), nl=False)
    elif form == "mpiio-stats":
        text = mpiio_stats_text(diagnosis.mpiio_stats)
        if not text:
            note("no calls of MPI-IO were traced, so there are no blocks")
        click.echo(text, nl=False)
    else:
        most = sys.maxsize if limit is None else limit
        _show(profile_content(document(limit), most, findings_only=form == "findings"))
    if profile.damaged:
        note(
            f"{', '.join(map(str, paths))}: damaged: {diagnosis.figures.why_missing}; amounts are"
            " unknown, or the least that they can be"
        )
        click.get_current_context().exit(TraceError.exit_code)


def _show(content: Content) -> None:
    """Print a report; on a terminal, fit tables and sentences but do not break commands."""
    from stripewise.present import fit_encoding
    from stripewise.present.renderers import as_lines

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for text in as_lines(content, width):
        echo(fit_encoding(text), wrap=not text.lstrip().startswith("$ "))


def _try(
    diagnosis: Diagnosis,
    number: int,
    paths: Sequence[Path],
    allow_outside: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    """Run the traced program with and without the lines of a finding, and compare.

    A trace contains a command, which runs only if the trace belongs to the user.
    """
    from stripewise.present import seconds_text
    from stripewise.study.procedure import try_lines

    if number > len(diagnosis.findings):
        raise UsageError(f"there is no finding {number}: {len(diagnosis.findings)} in all")
    if not diagnosis.command:
        raise UsageError("the source does not record the program's command: trace it")
    if any(path.stat().st_uid != os.getuid() for path in paths):
        raise UsageError("this trace belongs to another user; its command is not run")
    found = diagnosis.findings[number - 1]
    if found.code == "stripes":
        raise UsageError(
            "the line of this finding changes a directory, of which runs use copies: set the "
            "layout of a new directory, and run the program there"
        )
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
