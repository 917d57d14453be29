# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise run`: the program as it is, under settings, and what was observed of it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import examples, json_option, note, print_json
from stripewise.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from stripewise.model import Configuration


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "stripewise run -- mpiexec -n 4 ./program output.h5",
        "stripewise run --config program.stripewise/best.toml -- mpiexec -n 4 ./program out.h5",
        "stripewise run --config hints.toml --report -- srun ./program",
        "stripewise run --capture -- mpiexec -n 4 ./program output.h5",
        "stripewise run --sync --keep-containers evidence -- python3 write.py",
    ),
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Settings to apply, in any format that `stripewise config` knows.",
)
@click.option("--sync", is_flag=True, help="fsync files that were written when they are closed.")
@click.option(
    "--keep-containers",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the recorded evidence in DIR.",
)
@click.option(
    "--capture",
    is_flag=False,
    flag_value="fold",
    default="",
    type=click.Choice(["", "fold", "all"]),
    metavar="[fold|all]",
    help="Record single calls as well: equal ones at a regular stride as one (fold, the default "
    "of the option), or each by itself.",
)
@click.option("--report", is_flag=True, help="Show every file and every reported hint.")
@json_option
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(
    config: Path | None,
    sync: bool,
    keep_containers: Path | None,
    capture: str,
    report: bool,
    as_json: bool,
    program: tuple[str, ...],
) -> None:
    """Run COMMAND unmodified, in place, under the settings of a configuration.

    Its standard streams are its own and its exit code is the exit code (128 + the signal if
    one ended it).  What was observed is said on standard error afterwards; with --json it is
    one more line on standard output, the last.
    """
    from stripewise.cli._observed import captured_lines, observation, observed_lines
    from stripewise.runtime import find_runtime, run_in_place

    if not program:
        raise UsageError("nothing to run; give a command: stripewise run -- mpiexec -n 4 ./app")
    configuration = _load(config)
    _say_resources(program, configuration)
    done = run_in_place(
        program,
        find_runtime(),
        configuration=configuration,
        sync=sync,
        keep=keep_containers,
        capture=capture,
    )
    seen = observation(done, configuration)
    if as_json:
        print_json(seen.as_json(), indent=None)
    else:
        for line in (*observed_lines(seen, everything=report), *captured_lines(done)):
            click.echo(line, err=True)
    for text in seen.warnings:
        note(text, kind="warning")
    click.get_current_context().exit(done.shell_exit_code)


def _say_resources(program: tuple[str, ...], configuration: Configuration) -> None:
    """Say which command is run where the configuration sets ranks or threads."""
    from stripewise.runtime import command_with_resources, resource_environment

    job = configuration.job
    changed = command_with_resources(program, job)
    variables = [f"{name}={value}" for name, value in resource_environment(job).items()]
    if changed != program or variables:
        words = shlex.join([*variables, *changed])
        note(f"the configuration sets the job's resources; run is: {words}", kind="note")


def _load(path: Path | None) -> Configuration:
    """Load, check and admit a configuration; the empty one without a path."""
    from stripewise.formats import load_configuration
    from stripewise.model import Configuration
    from stripewise.policy import load_policy
    from stripewise.tunables import check_configuration

    if path is None:
        return Configuration()
    loaded = load_configuration(path)
    for text in loaded.warnings:
        note(f"{path}: {text}", kind="warning")
    problems = check_configuration(loaded.configuration)
    if problems:
        raise ConfigurationError(f"{path}: {'; '.join(problems)}")
    load_policy().check(loaded.configuration)
    return loaded.configuration
