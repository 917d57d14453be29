# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise run`, which runs a program in place and shows what was observed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import echo, note, print_json
from stripewise.cli._help import command, examples, has_options, option
from stripewise.cli._options import (
    directory_option,
    emulation_options,
    file_option,
    json_option,
    program_argument,
    storage_to_emulate,
    sync_option,
)
from stripewise.cli._scripts import ProgramCommand, refuse_dry_run, refuse_scripts
from stripewise.core.errors import ConfigurationError, ProgramError, StorageError, UsageError

if TYPE_CHECKING:
    from stripewise.core import Configuration, SeriesRule
    from stripewise.learning.adoption import AdoptionPlan
    from stripewise.run import Observation
    from stripewise.run.runtime import InPlaceRun
    from stripewise.storage.emulation import EmulatedStorage

USUAL_TRACE = "PROGRAM.trace"
_options = has_options(
    file_option("--config",
        help="Configuration to apply, in any format that `stripewise settings show` reads."),
    option("--auto", is_flag=True,
        help="Apply safe settings that are known to help this program or similar ones, or that a "
        "model of the storage predicts to help; the run shows whether they do."),
    option("--dry-run", is_flag=True,
        help="With --auto: print what would be set, and do not run."),
    option("--trace", metavar="[DIR]", is_flag=False, flag_value=USUAL_TRACE,
        help="Record every I/O call in the directory DIR, for `stripewise profile`  "
        f"[default: {USUAL_TRACE}]"),
    option("--report", is_flag=True,
        help="Show every file and every hint that MPI reported."),
    sync_option,
    option("--allow-environment", "allowed", multiple=True, metavar="NAME",
        help="Variable that the configuration may set although it can run code, such as PATH "
        "(repeatable)."),
    option("--every-call", is_flag=True, group="What is recorded", rare=True,
        help="With --trace: record every call by itself, instead of equal calls together."),
    directory_option("--trace-local", group="What is recorded", rare=True,
        help="Record every I/O call in DIR on each node, which must exist on all of them; "
        "`stripewise profile --collect` brings the files together."),
    directory_option("--keep-containers", group="What is recorded", rare=True,
        help="Keep the recorded counters in DIR, without single calls."),
    emulation_options,
    directory_option("--servers", group="Emulated storage", rare=True,
        help="With --on: write the counters of the emulated servers to DIR, in Lustre's format."),
    json_option,
)  # fmt: skip


@command(
    cls=ProgramCommand,
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise run -- mpiexec -n 4 ./program output.h5",
        "stripewise run --config program.stripewise/best.toml -- ./program output.h5",
        "stripewise run --auto -- mpiexec -n 4 ./program output.h5",
        "stripewise run --auto --dry-run -- mpiexec -n 4 ./program output.h5",
        "stripewise run --trace run.trace -- mpiexec -n 4 ./program output.h5",
        "stripewise run --on archer2-hdd@1/64 -- mpiexec -n 4 ./program output.h5",
    ),
)
@_options
@program_argument
def run_command(
    config: Path | None,
    auto: bool,
    dry_run: bool,
    allowed: tuple[str, ...],
    sync: bool,
    keep_containers: Path | None,
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

    With --trace, records what COMMAND does to its files, call by call, in a directory that only
    its owner can read: one file per node, of at most 1 GiB (STRIPEWISE_RUN_BYTES).

    With --on, files below the current directory behave as on that storage: each request is held
    back until it would have finished there.  If the emulation did not reach the program, which
    then ran on this host's storage, the exit code is 6.

    With --auto, one line before the run says what is set and why, and one line after it says
    whether that helped.  For an unknown program nothing is set; what it does is remembered.

    Options of Stripewise go before COMMAND; everything after COMMAND belongs to it.  The
    `--` before COMMAND may be left out.
    """
    from stripewise.run.runtime import find_runtime, run_in_place

    if not program:
        raise UsageError("no command to run; give one: stripewise run -- mpiexec -n 4 ./app")
    refuse_scripts(program, "run", once=True)
    refuse_dry_run(program, never=auto)
    if auto and config is not None:
        raise UsageError("--auto and --config cannot be used together; leave one of them out")
    if dry_run and not auto:
        raise UsageError("--dry-run requires --auto: it prints what --auto would set")
    capture, of_trace = _capture(given, keep_containers)
    storage, root = storage_to_emulate(given, sync=sync)
    if servers is not None and storage is None:
        raise UsageError("--servers requires --on MACHINE; name the storage to emulate")
    configuration = _load(config, allowed)
    adopted = None
    if auto:
        adopted = Auto(program, storage, root, sync=sync)
        if dry_run:
            _show_what_is_set(adopted, as_json=as_json)
            return
        configuration = adopted.plan.configuration
        if not as_json:
            adopted.say()
    _say_resources(program, configuration)
    runtime = find_runtime()
    with trace_directory(program, **of_trace) as trace:
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
    from stripewise.run import observation, observed_lines  # its imports would delay the program

    seen = observation(done, configuration, captured=bool(capture), storage=storage)
    outcome = adopted.finish(seen, quiet=as_json) if adopted is not None else ""
    if as_json:
        more: dict[str, Any] = (
            {"auto": {**adopted.as_json(), "outcome": outcome}} if adopted else {}
        )
        if capture:
            more["trace"] = str(trace) if trace and trace.is_dir() else None
        print_json({**seen.as_json(), **more}, indent=None)
    else:
        for line in observed_lines(seen, everything=report):
            echo(line, err=True)
        if capture and done.profile.counters.size:
            note(what_next(done.containers, of_trace["local"]))
    for text in seen.warnings:
        note(text, kind="warning")
    if storage is None:
        _report(done, configuration)
    for text in seen.errors:
        note(text, kind="error")
    failed = ProgramError.exit_code if seen.errors else 0
    click.get_current_context().exit(done.shell_exit_code or failed)


def _report(done: InPlaceRun, configuration: Configuration) -> None:
    """Write a report of the run for the user or the site, and note a failure."""
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
    except Exception as error:  # the job is complete: any failure here is only a note
        note(f"the run is not reported: {type(error).__name__}: {error}")


def _reports_by_policy() -> str:
    from stripewise.core import has_policy

    if not has_policy():
        return ""
    from stripewise.settings import load_policy

    return load_policy().reports


def _say_resources(program: tuple[str, ...], configuration: Configuration) -> None:
    """Report the actual command if the configuration sets ranks or threads."""
    job = configuration.job
    if not job.resources:
        return
    from stripewise.run.runtime import command_with_resources, resource_environment

    changed = command_with_resources(program, job)
    variables = [f"{name}={value}" for name, value in resource_environment(job).items()]
    if changed != program or variables:
        words = shlex.join([*variables, *changed])
        note(
            f"the configuration sets the job's resources; the command is now: {words}", kind="note"
        )


def _load(path: Path | None, allowed: tuple[str, ...]) -> Configuration:
    """Load a configuration, check it and its permission; without a path, return an empty one."""
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


# ---- the directory of a trace


def _capture(given: dict[str, Any], keep_containers: Path | None) -> tuple[str, dict[str, Any]]:
    """Remove from the arguments and return how calls are recorded ("" if not), and where.

    Raises:
        UsageError: Options contradict each other.
    """
    trace, local = given.pop("trace"), given.pop("trace_local")
    every_call = given.pop("every_call")
    if (trace is not None) + (local is not None) + (keep_containers is not None) > 1:
        raise UsageError(
            "--trace, --trace-local and --keep-containers cannot be used together: give one of "
            "them"
        )
    is_traced = trace is not None or local is not None
    if every_call and not is_traced:
        raise UsageError("--every-call requires --trace: give both, or leave it out")
    how = ("all" if every_call else "fold") if is_traced else ""
    return how, {"name": trace, "local": local}


@contextmanager
def trace_directory(
    program: tuple[str, ...], name: str | None, local: Path | None = None
) -> Iterator[Path | None]:
    """Yield the directory for a trace (or None); remove it if nothing was recorded.

    Args:
        program: Command line of the program.
        name: Name of the directory, usually `PROGRAM.trace`.
        local: Directory that is local to each node.
    """
    if local is not None:
        yield _local_directory(local)
    elif name is None:
        yield None
    else:
        directory = _new_directory(None if name == USUAL_TRACE else Path(name), program)
        try:
            yield directory
        finally:
            if not any(directory.iterdir()):
                directory.rmdir()


def what_next(directory: Path, local: Path | None = None) -> str:
    """Report the path of a trace and how to show it."""
    if local is not None:
        return (
            f"the trace is in {local} of each node; collect it there: stripewise profile {local} "
            "--collect NAME.trace"
        )
    shown = os.path.relpath(directory)
    return f"trace in {shown}; to view it: stripewise profile {shown}"


def _new_directory(output: Path | None, program: tuple[str, ...]) -> Path:
    """Create a private directory for a trace: the named one, or PROGRAM.trace.

    Raises:
        UsageError: It is not empty.
        StorageError: It cannot be created.
    """
    from stripewise.run.runtime import program_name

    try:
        if output is not None:
            output.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(output.iterdir()):
                raise UsageError(f"{output} is not empty: name another directory with --trace")
            return output
        name = program_name(program)
        for number in range(1, 10_000):
            directory = Path(f"{name}.trace" if number == 1 else f"{name}-{number}.trace")
            try:
                directory.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise StorageError(
            f"no directory for the trace: {error.strerror}: {error.filename}; name another one "
            "with --trace"
        ) from error
    raise UsageError(f"{name}.trace and thousands of others exist: name one with --trace")


def _local_directory(local: Path) -> Path:
    """Check a directory for traces that must exist on every node, and return it."""
    if not local.is_dir():
        raise UsageError(f"{local} is not a directory on this node: make it on every node first")
    if any(local.glob("*.sw")):
        raise UsageError(f"{local} holds containers of another run: collect or remove them")
    return local


# ---- `stripewise run --auto`: reports the settings before the run, and their effect after it


class Auto:
    """A run with automatic settings from earlier knowledge.

    Attributes:
        plan: Settings to apply.
        series: Settings from the second file of a series on, if the program is unknown.
    """

    def __init__(
        self,
        program: tuple[str, ...],
        storage: EmulatedStorage | None,
        root: Path | None,
        *,
        sync: bool,
    ) -> None:
        """Determine the settings, and warn of problems with the store of studies."""
        from stripewise.learning.adoption import Adoption

        self._directory = root or Path.cwd()
        self._adoption = Adoption(self._directory, storage, sync=sync)
        self.plan: AdoptionPlan = self._adoption.plan(program)
        self.series: tuple[SeriesRule, ...] = ()
        warnings = self.plan.warnings
        if self.plan.capture and self.plan.is_default:
            from stripewise.learning.adoption import series_rules

            self.series, more = series_rules(program, self._directory, storage)
            warnings = (*warnings, *more)
        for text in warnings:
            note(text, kind="warning")

    @property
    def capture(self) -> str:
        """How single calls are recorded: "fold" if the program is unknown, otherwise ""."""
        return "fold" if self.plan.capture else ""

    def say(self) -> None:
        """Report in one line which settings are applied, and which are forbidden."""
        note(self.plan.prepared.sentence, kind="auto")
        for line in self.plan.prepared.refused:
            note(f"not set: {line}", kind="auto")
        if self.series:
            note("later files of a series get settings, if all ranks agree", kind="auto")

    def begin(self) -> None:
        """Record that the run begins."""
        self._adoption.begin(self.plan)

    def finish(self, seen: Observation, *, quiet: bool) -> str:
        """Evaluate the settings and store the observations; return the effect of the settings."""
        from stripewise.learning.adoption import seen_of

        kept = seen_of(
            self.plan,
            seen.run,
            seen.facts,
            self._directory,
            could_not_act=seen.could_not_act,
            storage=self._adoption.storage,
        )
        line, warnings = self._adoption.finish(self.plan, kept)
        of_series = seen.run.series.line if seen.run.series is not None else ""
        line = "; ".join(filter(None, (of_series, line)))
        if line and not quiet:
            note(line, kind="auto")
        for text in warnings:
            note(text, kind="warning")
        return line

    def as_json(self) -> dict[str, Any]:
        """Return the settings as data for `--json`."""
        prepared = self.plan.prepared
        return {
            "level": prepared.level,
            "source": prepared.source,
            "distance": prepared.distance,
            "expected_ratio": prepared.expected_ratio,
            "settings": dict(prepared.settings),
            "refused": list(prepared.refused),
            "sentence": prepared.sentence,
        }


def _show_what_is_set(auto: Auto, *, as_json: bool) -> None:
    """Print the settings that would be applied."""
    if as_json:
        print_json({"auto": auto.as_json()}, indent=None)
        return
    from stripewise.settings import configuration_lines

    echo(auto.plan.prepared.sentence)
    for line in auto.plan.prepared.refused:
        echo(f"not set: {line}")
    for line in configuration_lines(auto.plan.configuration) if not auto.plan.is_default else ():
        echo(line)
