# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise tune`, which finds faster settings for a command or a job script."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, echo, interruptible, note, print_json
from stripewise.cli._help import command, examples, has_options, option
from stripewise.cli._options import (
    Duration,
    allow_outside_option,
    complete_strategy,
    complete_tunable,
    directory_option,
    emulation_options_of_study,
    file_option,
    input_option,
    json_option,
    no_sync_option,
    numbers_option,
    program_argument,
    seed_option,
    study_storage,
    timeout_option,
    vary_option,
)
from stripewise.cli._scripts import (
    TuneCommand,
    job_options,
    refuse_dry_run,
    refuse_missing_script,
    refuse_scripts,
    take_job,
)
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.core import StudyResult
    from stripewise.study.plan import StudyCase, StudyOptions


_limit = partial(option, group="Limits")
_search = partial(option, group="What is tried")
_input = partial(option, group="Inputs")
_run = partial(option, group="How runs are made", rare=True)
_numbers = partial(numbers_option, group="What is tried")
_tunable = partial(_search, multiple=True, metavar="TUNABLE", shell_complete=complete_tunable)
_options = has_options(
    _limit("--trials", type=int, metavar="N",
        help="Maximum number of configurations to try  [default: 20]"),
    _limit("--time", "time_seconds", type=Duration(), metavar="TIME",
        help="Maximum time, such as 90s, 30min or 2h."),
    _limit("--runs", type=int, metavar="N", rare=True,
        help="Maximum number of runs, including baselines and confirmation pairs."),
    _search("--strategy", metavar="NAME", shell_complete=complete_strategy, default="auto",
        show_default=True,
        help="Search strategy; `stripewise settings strategies` lists all with their options."),
    _search("--strategy-option", "strategy_words", multiple=True, metavar="NAME=VALUE", rare=True,
        help="Option of the strategy, such as population=15 for genetic (repeatable)."),
    _search("--allow", type=click.Choice(["safe", "layout", "contract"]), default="layout",
        show_default=True,
        help="Highest safety class to try; `stripewise settings tunables` lists the classes."),
    _tunable("--only", help="Try only this tunable (repeatable)."),
    _tunable("--exclude", rare=True, help="Do not try this tunable (repeatable)."),
    vary_option(metavar="TUNABLE=V,V", group="What is tried",
        help="Values to try for a tunable instead of its usual ones, such as 1MiB,4MiB "
        "(repeatable)."),
    _numbers("--ranks", help="Numbers of ranks to try as well."),
    _numbers("--ranks-per-node", rare=True,
        help="Numbers of ranks per node to try as well; with --on, the number of ranks on each "
        "virtual node."),
    _numbers("--threads", rare=True, help="Values of OMP_NUM_THREADS to try as well."),
    _search("--machine", metavar="STORAGE", default="", rare=True,
        help="Description of the storage system, a name or a file: the settings that a simulation "
        "predicts to be best on it are tried first; none: no prediction.  [default: with "
        "strategy auto, the description of this file system, if there is one]"),
    _search("--no-memory", is_flag=True, rare=True,
        help="Neither use what earlier studies found nor keep what this one finds."),
    _search("--no-per-file", is_flag=True, rare=True,
        help="Find one setting for all files, even where classes of files behave differently."),
    seed_option(group="What is tried"),
    _input("--case", "case_values", multiple=True, metavar="VALUE",
        help="Input that replaces {case} in COMMAND (repeatable); one configuration is found for "
        "all inputs."),
    file_option("--cases", "cases_file", group="Inputs", rare=True,
        help="TOML file of commands to tune together: [[case]] tables with name and command."),
    _input("--replay", "replayed", type=click.Path(path_type=Path, readable=False),
        metavar="TRACE", rare=True,
        help="Search by replaying the I/O of this trace, then confirm with runs of COMMAND."),
    input_option,
    allow_outside_option,
    no_sync_option,
    timeout_option,
    _run("--keep", is_flag=True, help="Keep the outputs and the recorded evidence of all runs."),
    _run("--keep-removed", is_flag=True,
        help="Also compare files that the program itself removes: they are kept until the run "
             "is over."),
    _run("--launcher", metavar="NAME", default="local", show_default=True,
        help="Launcher that runs COMMAND: local, or one that an extension adds."),
    _run("--in-flight", type=int, metavar="N",
        help="Number of runs at a time, if the launcher allows several  [default: all it allows]"),
    directory_option("--study-dir", group="The study",
        help="Directory of the study  [default: PROGRAM.stripewise]"),
    option("--resume", is_flag=True, group="The study",
        help="Continue a study, with larger limits if given."),
    option("--force", is_flag=True, group="The study", rare=True,
        help="Set an earlier study aside and start a new one."),
    emulation_options_of_study,
    job_options,
    json_option,
)  # fmt: skip


@command(
    cls=TuneCommand,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog=examples(
        "stripewise tune -- mpiexec -n 4 ./program output.h5",
        "stripewise tune --trials 8 --json -- mpiexec -n 4 ./program > result.json",
        "stripewise tune --time 30min --only mpiio.cb_nodes -- mpiexec -n 4 ./program",
        "stripewise tune --vary cb_buffer_size=1MiB,4MiB -- mpiexec -n 4 ./program",
        "stripewise tune --strategy exhaustive --only cb_nodes -- ./program",
        "stripewise tune --ranks 2,4,8 -- mpiexec -n 8 ./program",
        "stripewise tune --case a.nml --case b.nml -- mpiexec -n 4 ./app {case}",
        "stripewise tune --on archer2-hdd@1/64 -- mpiexec -n 4 ./program output.h5",
        "stripewise tune run.sh --budget 40node-hours",
        "stripewise tune --resume",
    ),
)
@_options
@program_argument
def tune_command(
    as_json: bool,
    no_sync: bool,
    no_memory: bool,
    no_per_file: bool,
    timeout: float | None,
    **given: Any,
) -> None:
    """Find settings that make the I/O of COMMAND faster, and prove it.

    Runs COMMAND unmodified in a copy of this directory: first unchanged, then under settings
    that its own I/O suggests.  The best settings are verified (the output must stay the same)
    and measured again in fresh pairs of runs.  "No improvement" is an answer too, with exit
    code 0.

    Options of Stripewise go before COMMAND; everything after COMMAND belongs to it.  The
    `--` before COMMAND may be left out.

    With several inputs (--case) or commands (--cases), each is run under every configuration.
    The configuration that is found makes none of them slower.

    With --on, every run uses that storage, emulated on this host; the results apply to that
    storage only.

    With a job script in place of COMMAND, Stripewise submits jobs that run variants of the
    script, also on a burst buffer, and writes a script with the settings that it found.
    `stripewise tune SCRIPT --help` shows the options for job scripts; they may follow the script.

    With --replay, the search replays the I/O of a traced run without the program; then runs of
    the program itself confirm what was found.
    """
    from stripewise.settings.tunables import get, parse_vary
    from stripewise.study.plan import NO_MACHINE, StudyOptions
    from stripewise.study.strategies import check_strategy_options

    program, directory = given.pop("program"), given.pop("study_dir")
    cases_file, replayed = given.pop("cases_file"), given.pop("replayed")
    if cases_file is not None and directory is None:
        directory = Path(f"{cases_file.stem}.stripewise")
    storage = study_storage(given)
    script = str(click.get_current_context().meta.get("stripewise.script", ""))
    if not script:
        refuse_scripts(program, "tune")
    refuse_dry_run((script, *program) if script else program, never=True)
    job, dry_run = take_job(given, script), given.pop("dry_run")
    if job is None:
        refuse_missing_script(program)
    if job is not None and replayed is not None:
        raise UsageError(
            "--replay requires a program instead of a job script: leave one of them out"
        )
    if job is not None:
        _check_launcher(script, given["launcher"])
        given["launcher"], program = "slurm", (script, *program)
        directory = directory or Path(f"{Path(script).stem}.stripewise")
    options = StudyOptions(
        command=program,
        directory=directory,
        cases=_find_cases(program, given.pop("case_values"), cases_file),
        sync=not no_sync,
        memory=not no_memory,
        per_file=not no_per_file,
        timeout_seconds=timeout,
        strategy_options=_strategy_options(given.pop("strategy_words")),
        vary=parse_vary(given.pop("vary")),
        storage=storage,
        job=job,
        **given,
    )
    check_strategy_options(options.strategy, options.strategy_options)
    if options.machine not in ("", NO_MACHINE):
        from stripewise.storage.machines import find_storage

        find_storage(options.machine)
    for name in (*options.only, *options.exclude):
        get(name)
    if dry_run:
        _show_plan(options, as_json)
    elif replayed is not None:
        _tune_replay(options, replayed, as_json)
    else:
        _tune(options, as_json)


def _show_plan(options: StudyOptions, as_json: bool) -> None:
    """Show the jobs that a study of a job script would submit, and their possible cost."""
    from stripewise.study.job_scripts import plan_jobs
    from stripewise.study.report import job_plan_lines, job_plan_to_json

    plan = plan_jobs(options)
    answer(as_json, lambda: job_plan_to_json(plan), lambda: job_plan_lines(plan))


def _tune(options: StudyOptions, as_json: bool) -> None:
    from stripewise.study.report import result_to_json, study_of_job

    result = _study(options, as_json)
    if as_json:
        print_json(result_to_json(result, study_of_job(result)))


def _tune_replay(options: StudyOptions, trace: Path, as_json: bool) -> None:
    """Search with the replay, confirm with the program, and report both."""
    from stripewise.study.procedure import tune_replay
    from stripewise.study.report import result_to_json

    replay, program = tune_replay(
        options, trace, lambda one: _study(one, as_json, "the same command and --resume")
    )
    improved = program is not None and program.improved
    if as_json:
        both = {"improved": improved, "replay": result_to_json(replay)}
        print_json(both | {"program": result_to_json(program) if program else None})
    elif program is None:
        echo(" program         not run: the replay found nothing to confirm")


def _study(options: StudyOptions, as_json: bool, again: str = "") -> StudyResult:
    """Run a study, write its outputs, and summarise it for people."""
    from stripewise.study.procedure import run_study
    from stripewise.study.report import (
        ProgressObserver,
        job_lines,
        script_lines,
        study_of_job,
        summary_lines,
        write_outputs,
    )

    observer = ProgressObserver(sys.stderr if as_json else sys.stdout)
    with interruptible(observer, again or resume_command(options)):
        result = run_study(options, observer)
    job = study_of_job(result)
    wrote, notes = write_outputs(result, job)
    for text in notes:
        note(text, kind="note")
    if not as_json:
        of_job = [*script_lines(result), *job_lines(job)] if job is not None else []
        for line in (*summary_lines(result, wrote=wrote), *of_job):
            echo(line, wrap=False)
    return result


def resume_command(options: StudyOptions) -> str:
    """Return the command line that continues a study."""
    if options.directory is None:
        return "stripewise tune --resume"
    return f"stripewise tune --resume --study-dir {options.directory}"


def _check_launcher(script: str, launcher: str) -> None:
    """Refuse a launcher option for a job script, which would ignore it.

    Raises:
        UsageError: There is one; the message says how the script runs.
    """
    source = click.get_current_context().get_parameter_source("launcher")
    if launcher != "slurm" and source is not click.core.ParameterSource.DEFAULT:
        here = f"stripewise tune -- bash {shlex.quote(script)}"
        raise UsageError(
            f"--launcher {launcher}: runs of a job script are jobs of Slurm; leave the option "
            f"out, or run it on this host as a program: {here}"
        )


def _find_cases(
    program: Sequence[str], values: Sequence[str], path: Path | None
) -> tuple[StudyCase, ...]:
    """Return the cases that --case or --cases name; none in a study of one command.

    Raises:
        UsageError: They contradict each other or the command, or the file is malformed.
    """
    from stripewise.study.plan import expand_cases, read_cases

    if path is None:
        return expand_cases(program, values)
    if values:
        raise UsageError("give --case or --cases, not both")
    if program:
        raise UsageError(f"the commands are in {path}; leave out the one after --")
    return read_cases(path)


def _strategy_options(texts: Sequence[str]) -> dict[str, str]:
    """Parse the values of `--strategy-option`.

    Raises:
        UsageError: One is not NAME=VALUE.
    """
    for text in texts:
        if "=" not in text.strip("="):
            raise UsageError(f"--strategy-option {text!r}: write NAME=VALUE, as population=15")
    return {name.strip(): value.strip() for name, _, value in (t.partition("=") for t in texts)}
