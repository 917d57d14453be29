# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise run`: the program as it is, under settings, and what was observed of it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import (
    directory_option,
    echo,
    examples,
    file_option,
    json_option,
    note,
    print_json,
    program_argument,
    sync_option,
)
from stripewise.cli._emulation import emulation_options, storage_to_emulate
from stripewise.cli._scripts import ProgramCommand, refuse_dry_run, refuse_scripts
from stripewise.core.errors import ConfigurationError, ProgramError, UsageError

if TYPE_CHECKING:
    from stripewise.core import Configuration
    from stripewise.run.runtime import InPlaceRun


@click.command(
    cls=ProgramCommand,
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise run -- mpiexec -n 4 ./program output.h5",
        "stripewise run --config program.stripewise/best.toml -- mpiexec -n 4 ./program out.h5",
        "stripewise run --auto -- mpiexec -n 4 ./program output.h5",
        "stripewise run --auto --dry-run -- mpiexec -n 4 ./program output.h5",
        "stripewise run --config hints.toml --report -- srun ./program",
        "stripewise run --on archer2-hdd@1/64 -- mpiexec -n 4 ./program output.h5",
        "stripewise run --capture -- mpiexec -n 4 ./program output.h5",
        "stripewise run --sync --keep-containers evidence -- python3 write.py",
    ),
)
@file_option(
    "--config", help="Configuration to apply, in any format that `stripewise config` reads."
)
@click.option(
    "--auto",
    is_flag=True,
    help="Apply safe settings that are known to help this program, programs like it, or, by a "
    "model of the storage, its access pattern; judge them by the run.",
)
@click.option(
    "--dry-run", is_flag=True, help="With --auto: print what would be set, and do not run."
)
@click.option(
    "--allow-environment",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Variable that FILE may set although it can run code, such as PATH (repeatable).",
)
@sync_option
@directory_option("--keep-containers", help="Keep the recorded containers in DIR.")
@click.option(
    "--capture",
    is_flag=False,
    flag_value="fold",
    default="",
    type=click.Choice(["", "fold", "all"]),
    metavar="[fold|all]",
    help="Record single calls as well: equal ones at a regular stride as one (fold, the default "
    "of the option), or each by itself; kept in PROGRAM.trace, or in --keep-containers.",
)
@click.option("--report", is_flag=True, help="Show every file and every hint that MPI reported.")
@emulation_options()
@directory_option(
    "--servers",
    help="With --on: leave what the servers counted in DIR, as Lustre's parameters.",
)
@json_option
@program_argument
def run_command(
    config: Path | None,
    auto: bool,
    dry_run: bool,
    allowed: tuple[str, ...],
    sync: bool,
    keep_containers: Path | None,
    capture: str,
    report: bool,
    servers: Path | None,
    as_json: bool,
    program: tuple[str, ...],
    **given: Any,
) -> None:
    """Run COMMAND unmodified, in place, under the settings of a configuration.

    After the run, prints what was observed to standard error; with --json, prints it as the
    last line of standard output instead.  COMMAND keeps its standard streams, and its exit code
    becomes the exit code (128 + the signal if a signal ended it).

    With --on, files below the current directory behave as on that storage: each request is held
    back until it would have finished there.  A program that was not reached, and so ran on this
    host's storage, is an error with exit code 6.

    With --auto, one line says before the run what is set and why, and one line after it what came
    of it.  Of a program that is not known nothing is set; what it does is remembered.

    Options of Stripewise stand before COMMAND; whatever follows COMMAND belongs to it.  The
    `--` before COMMAND may be left out.
    """
    from stripewise.run.runtime import find_runtime, run_in_place

    if not program:
        raise UsageError("nothing to run; give a command: stripewise run -- mpiexec -n 4 ./app")
    refuse_scripts(program, "run", once=True)
    refuse_dry_run(program, never=auto)
    if auto and config is not None:
        raise UsageError("--auto and --config cannot both say what is set; leave one of them out")
    if dry_run and not auto:
        raise UsageError("--dry-run goes with --auto: it says what that would set")
    storage, root = storage_to_emulate(given, sync=sync)
    if servers is not None and storage is None:
        raise UsageError("--servers goes with --on MACHINE; name the storage to emulate")
    configuration = _load(config, allowed)
    adopted = None
    if auto:
        from stripewise.cli import _auto

        adopted = _auto.Auto(program, storage, root, sync=sync)
        if dry_run:
            _auto.dry_run(adopted, as_json=as_json)
            return
        configuration = adopted.plan.configuration
        if not as_json:
            adopted.say()
    _say_resources(program, configuration)
    runtime = find_runtime()
    trace = None
    if capture and keep_containers is None:
        from stripewise.cli._trace import new_directory

        trace = new_directory(None, program)
    if adopted is not None:
        adopted.begin()
    done = run_in_place(
        program,
        runtime,
        configuration=configuration,
        sync=sync,
        keep=keep_containers,
        capture=capture or (adopted.capture if adopted is not None else ""),
        containers=trace,
        allowed=allowed,
        storage=storage,
        root=root,
        servers=servers,
        whole=adopted is not None and adopted.plan.capture,
        series=adopted.series if adopted is not None else (),
    )
    from stripewise.run import observation, observed_lines

    seen = observation(done, configuration, captured=bool(capture), storage=storage)
    outcome = adopted.finish(seen, quiet=as_json) if adopted is not None else ""
    if as_json:
        of_auto = {"auto": {**adopted.as_json(), "outcome": outcome}} if adopted else {}
        print_json({**seen.as_json(), **of_auto}, indent=None)
    else:
        for line in observed_lines(seen, everything=report):
            echo(line, err=True)
        if capture and done.profile.counters.size:
            from stripewise.cli._trace import what_next

            note(what_next(done.containers))
    for text in seen.warnings:
        note(text, kind="warning")
    if storage is None:
        _report(done, configuration)
    for text in seen.errors:
        note(text, kind="error")
    failed = ProgramError.exit_code if seen.errors else 0
    click.get_current_context().exit(done.shell_exit_code or failed)


def _report(done: InPlaceRun, configuration: Configuration) -> None:
    """Leave a report of the run where the user or the site wants it; a note says if it fails."""
    directory = os.environ.get("STRIPEWISE_REPORTS")
    try:
        if directory is None:
            directory = _reports_by_policy()
        if not directory or not done.handshake.ok or done.problem:
            return
        from stripewise.centre.database.ingest import leave_report, report_of
        from stripewise.evidence.trace import Evidence

        evidence = done.evidence or Evidence(done.profile)
        report = report_of(evidence, done.elapsed_seconds, done.exit_code, configuration)
        if why := leave_report(report, Path(directory)):
            note(why)
    except Exception as error:  # the job has done its work: whatever happens here is one note
        note(f"the run is not reported: {type(error).__name__}: {error}")


def _reports_by_policy() -> str:
    from stripewise.core import has_policy

    if not has_policy():
        return ""
    from stripewise.settings import load_policy

    return load_policy().reports


def _say_resources(program: tuple[str, ...], configuration: Configuration) -> None:
    """Say which command is run where the configuration sets ranks or threads."""
    job = configuration.job
    if not job.resources:
        return
    from stripewise.run.runtime import command_with_resources, resource_environment

    changed = command_with_resources(program, job)
    variables = [f"{name}={value}" for name, value in resource_environment(job).items()]
    if changed != program or variables:
        words = shlex.join([*variables, *changed])
        note(f"the configuration sets the job's resources; run is: {words}", kind="note")


def _load(path: Path | None, allowed: tuple[str, ...]) -> Configuration:
    """Load, check and admit a configuration; the empty one without a path."""
    from stripewise.core import Configuration

    if path is None:
        return Configuration()
    from stripewise.run.runtime import check_carried
    from stripewise.settings import load_policy
    from stripewise.settings.formats import load_configuration
    from stripewise.settings.tunables import check_configuration

    loaded = load_configuration(path)
    for text in loaded.warnings:
        note(f"{path}: {text}", kind="warning")
    problems = check_configuration(loaded.configuration)
    if problems:
        raise ConfigurationError(f"{path}: {'; '.join(problems)}")
    check_carried(loaded.configuration, allowed)
    load_policy().check(loaded.configuration)
    return loaded.configuration
