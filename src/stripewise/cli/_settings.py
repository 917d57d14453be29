# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise settings`: configurations, tunables, strategies and job scripts."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, echo, note, print_json
from stripewise.cli._help import examples, group, option
from stripewise.cli._options import Size, complete_tunable, file_option, json_option
from stripewise.core.errors import ConfigurationError, PolicyError, StorageError, UsageError
from stripewise.present import printable
from stripewise.settings.tunables import Layer

if TYPE_CHECKING:
    from stripewise.core import Configuration


_FORMATS = click.Choice(["toml", "mpich-hints", "romio-hints", "h5tuner", "mca", "flat"])
_path = click.argument("path", type=click.Path(path_type=Path))
_from = option("--from", "source", type=_FORMATS, help="Format of the file  [default: detected]")


@group(
    epilog=examples(
        "stripewise settings show best.toml",
        "stripewise settings show best.toml --file out.h5",
        "stripewise settings convert best.toml --to mpich-hints",
        "stripewise settings check config.xml",
    )
)
def settings_command() -> None:
    """Show, check and convert settings, and list what can be set.

    A configuration is a file of settings: TOML, MPICH_MPIIO_HINTS, ROMIO_HINTS, H5Tuner's XML,
    parameters of Open MPI (mca), or NAME=VALUE lines (flat).
    """


@settings_command.command(
    epilog=examples(
        "stripewise settings show best.toml",
        "stripewise settings show best.toml --file /scratch/run/out.h5",
        "stripewise settings show --from mpich-hints hints.txt --json",
    )
)
@_path
@_from
@option(
    "--file", "file_name", metavar="NAME", help="Show only what acts on the file of this name."
)
@json_option
def show(path: Path, source: str | None, file_name: str | None, as_json: bool) -> None:
    """Show a configuration, or only what acts on one file."""
    from stripewise.settings import (
        configuration_json,
        configuration_lines,
        effective_json,
        effective_lines,
    )
    from stripewise.settings.formats import load_configuration

    loaded = load_configuration(path, source or "")
    found = loaded.configuration
    if file_name is None:
        data, lines = configuration_json(found), configuration_lines(found)
    else:
        data, lines = effective_json(found, file_name), effective_lines(found, file_name)
    if as_json:
        print_json({"path": str(path), **data, "warnings": loaded.warnings})
        return
    for line in lines:
        echo(line)
    for warning in loaded.warnings:
        note(warning, kind="warning")


@settings_command.command(
    epilog=examples(
        "stripewise settings convert best.toml --to mpich-hints   # for a job script",
        "stripewise settings convert best.toml --to h5tuner -o best.xml",
        "stripewise settings convert config.xml --to toml -o config.toml",
    ),
)
@_path
@_from
@option("--to", "target", type=_FORMATS, required=True, help="Format to write.")
@option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write  [default: standard output]",
)
@option("--strict", is_flag=True, help="Write nothing if the format cannot hold all settings.")
@json_option
def convert(
    path: Path,
    source: str | None,
    target: str,
    output: Path | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Convert a configuration to another format.

    Settings that the other format cannot hold are reported.
    """
    from stripewise.core import write_file
    from stripewise.settings.formats import get, load_configuration

    loaded = load_configuration(path, source or "")
    written = get(target).write(loaded.configuration)
    if strict and written.lost:
        raise ConfigurationError(
            f"{path}: {target} cannot hold {written.lost[0]}: leave --strict out, or use toml"
        )
    if not written.text and not loaded.configuration.is_empty:
        raise ConfigurationError(
            f"{path}: nothing in it can be written as {target}: {'; '.join(written.lost)}"
        )
    if output is not None:
        write_file(output, written.text)
    if as_json:
        place = None if output is None else str(output)
        found = {"format": target, "output": place, **asdict(written)}
        print_json({**found, "warnings": loaded.warnings})
        return
    if output is None:
        click.echo(written.text.encode("utf-8", "surrogateescape"), nl=False)
    for line in loaded.warnings:
        note(line, kind="warning")
    for line in written.lost:
        note(line, kind="lost")
    for line in written.notes:
        note(line)


@settings_command.command(
    epilog=examples(
        "stripewise settings check best.toml",
        "stripewise settings check --from romio-hints /etc/romio-hints --json",
    ),
)
@_path
@_from
@json_option
def check(path: Path, source: str | None, as_json: bool) -> None:
    """Check that a configuration is right and can be applied here.

    Finds unknown names, wrong values, impossible combinations, and what the policy forbids.

    The exit code is 0 if the configuration can be applied here, even with warnings, and 3 if
    it cannot or if the name of a hint looks misspelt.
    """
    from stripewise.present import plural
    from stripewise.settings.formats import load_configuration
    from stripewise.settings.tunables import (
        check_configuration,
        configuration_warnings,
        misspelt_settings,
        refused_variables,
        settings_class,
    )

    loaded = load_configuration(path, source or "", check=False)
    problems = [
        *check_configuration(loaded.configuration),
        *misspelt_settings(loaded.configuration),
        *(
            f"job: {name} can run code: take it out, or name it with run --allow-environment"
            for name in refused_variables(loaded.configuration)
        ),
    ] or _policy_problems(loaded.configuration)
    warnings = [
        text
        for text in (*loaded.warnings, *configuration_warnings(loaded.configuration))
        if not text.startswith(tuple(problems))
    ]
    safety = settings_class(loaded.configuration)
    if as_json:
        found = {"path": str(path), "valid": not problems, "class": str(safety)}
        print_json({**found, "problems": problems, "warnings": warnings})
    else:
        for line in problems:
            echo(f"problem  {line}")
        for line in warnings:
            echo(f"warning  {line}")
        number = plural(len(problems), "problem")
        echo(f"{path}: {number if problems else f'can be applied, class {safety}'}")
    click.get_current_context().exit(ConfigurationError.exit_code if problems else 0)


def _policy_problems(configuration: Configuration) -> list[str]:
    from stripewise.settings import load_policy

    try:
        load_policy().check(configuration)
    except PolicyError as error:
        return [str(error)]
    return []


# ---- the tunables


@settings_command.command(
    "tunables",
    epilog=examples(
        "stripewise settings tunables",
        "stripewise settings tunables --layer hdf5",
        "stripewise settings tunables --layer pnetcdf",
        "stripewise settings tunables mpiio.cb_nodes",
        "stripewise settings tunables cb_nodes --json",
    ),
)
@click.argument("name", required=False, shell_complete=complete_tunable)
@option(
    "--layer", type=click.Choice([layer.value for layer in Layer]), help="List only this layer."
)
@json_option
def tunables(name: str | None, layer: str | None, as_json: bool) -> None:
    """List what can be set, in the order of likely effect; with NAME, all about one tunable.

    Safety classes: safe settings cannot change what is written; layout settings keep the content
    but may arrange it differently in the file; contract settings are correct only if the program
    meets a condition.
    """
    from stripewise.settings import load_policy, tunable_json, tunable_lines, tunables_lines
    from stripewise.settings.tunables import all_tunables, get

    policy = load_policy()
    if name is not None:
        tunable = get(name)
        forbidden = policy.why_not(tunable)
        answer(
            as_json,
            lambda: tunable_json(tunable, forbidden),
            lambda: tunable_lines(tunable, forbidden),
        )
        return
    found = [tunable for tunable in all_tunables() if layer in (None, tunable.layer.value)]
    answer(
        as_json,
        lambda: [tunable_json(tunable, policy.why_not(tunable)) for tunable in found],
        lambda: tunables_lines(found, {k.name for k in found if policy.why_not(k)}),
    )


# ---- search strategies


@settings_command.command(
    "strategies",
    epilog=examples(
        "stripewise settings strategies",
        "stripewise tune --strategy genetic --strategy-option population=20 \\",
        "    --strategy-option selector=tournament -- mpiexec -n 4 ./program",
    ),
)
@json_option
def strategies(as_json: bool) -> None:
    """List the search strategies of `stripewise tune`, and the options of each."""
    from stripewise.study.strategies import find_strategy, strategy_names

    members = [find_strategy(name) for name in strategy_names()]
    if as_json:
        print_json([_document(member) for member in members])
        return
    for member in members:
        problem = f"   ({member.problem()})" if member.problem() else ""
        echo(f"{member.name:<12} {member.summary}{problem}")
        for one in member.declared:
            shown = f"{one.name}={one.default}"
            choice = f" ({one.expected})" if one.choices else ""
            echo(f"{'':<14}{shown:<26} {one.summary}{choice}")


def _document(member: Any) -> dict[str, Any]:
    return {
        "name": member.name,
        "summary": member.summary,
        "problem": member.problem(),
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "summary": option.summary,
                "expected": option.expected,
            }
            for option in member.declared
        ],
    }


# ---- job scripts on burst buffers


@settings_command.command(
    "script",
    epilog=examples(
        "stripewise settings script run.sh --bb-nodes 4 --print",
        "stripewise settings script run.sh --bb-nodes 8 --stage-in $PWD/input \\",
        "    --stage-out $PWD/results",
        "stripewise settings script run.sh --persistent mydata",
        "stripewise settings script run.sh --tier directory --place '$TMPDIR'",
        "stripewise settings script --revert run.tuned.sh --print",
    ),
)
@click.argument("path", type=click.Path(path_type=Path, readable=False), metavar="SCRIPT")
@option("--bb-nodes", type=click.IntRange(0), metavar="N",
              help="Number of burst-buffer nodes to request; 0: none.")  # fmt: skip
@option("--persistent", default="", metavar="NAME",
              help="Existing persistent burst buffer to work on.")  # fmt: skip
@option("--tier", default="datawarp", show_default=True, metavar="NAME",
              help="Kind of burst buffer: datawarp, lua, rabbit, directory.")  # fmt: skip
@option("--pool", default="", metavar="NAME",
              help="Pool of the burst buffer  [default: the site's]")  # fmt: skip
@option("--granularity", "granularity_bytes", type=Size(), default=0, metavar="SIZE",
              help="Granularity of the pool  [default: what Slurm reports]")  # fmt: skip
@option("--access", type=click.Choice(["striped", "private"]), default="striped",
              show_default=True, help="Access mode of the burst buffer.")  # fmt: skip
@option("--stage-in", default="", metavar="DIR",
              help="Directory whose files the job works with  [default: the one in which the job "
              "starts]")  # fmt: skip
@option("--stage-out", default="", metavar="DIR",
              help="Directory to which the job copies what it changed; required with --stage-in  "
              "[default: the one in which the job starts]")  # fmt: skip
@file_option("--template", help="The site's directives, with --tier lua.")
@option("--place", default="", metavar="DIR",
              help="With --tier directory, path of the burst buffer in the job, such "
                   "as '$TMPDIR' or '/flash/$USER'; with --tier lua, the variable "
                   "that names it.")  # fmt: skip
@option("--revert", "reverts", is_flag=True,
              help="Remove the lines that Stripewise added, byte for byte.")  # fmt: skip
@option("--print", "prints", is_flag=True, help="Print the script; write no file.")
@file_option("-o", "--output", help="File to write  [default: SCRIPT with .bb before its suffix]")
def script(
    path: Path,
    bb_nodes: int | None,
    reverts: bool,
    prints: bool,
    output: Path | None,
    stage_in: str,
    stage_out: str,
    **wanted: Any,
) -> None:
    """Write a job script for a burst buffer, or revert one.

    Adds directives for N burst-buffer nodes, and a line that starts the script again in a
    directory of its own there.  A second file, beside the new script, copies the inputs there
    when the job begins, and copies back what the job changed when it ends.  Nothing is run or
    submitted.  All added lines are between marks; --revert removes them.
    """
    from stripewise.run.jobs import Wanted, convert_script

    is_directory = wanted["tier"] == "directory"
    ways = [reverts, bb_nodes is not None or is_directory, bool(wanted["persistent"])]
    if ways.count(True) != 1:
        raise UsageError(
            "choose what to do: --bb-nodes N, --persistent NAME, --tier directory, or --revert"
        )
    data, copies = _read(path), b""
    kind = "orig" if reverts else "bb"
    target = output or path.with_name(f"{path.stem}.{kind}{path.suffix}")
    program = target.absolute().with_name(f"{target.name}.copies")
    if reverts:
        data = _reverted(path, data)
    else:
        nodes = int(is_directory) if bb_nodes is None else bb_nodes
        tier = Wanted(
            nodes=nodes,
            stage_in=Path(stage_in) if stage_in else None,
            stage_out=Path(stage_out) if stage_out else None,
            **wanted,
        )
        data, copies = convert_script(path, data, tier, program, note)
    if prints:
        if copies:
            note(f"the script needs {_shown(program)}, which is only written without --print")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    for made in (target, *((program,) if copies else ())):
        if os.path.lexists(made) and (output is None or _is_same(made, path)):
            raise UsageError(f"{_shown(made)} exists; name another file with --output")
    from stripewise.core import write_file

    try:
        if copies:
            write_file(program, copies)
        write_file(target, data)
        os.chmod(target, os.stat(path).st_mode & 0o777)
    except OSError as error:
        raise StorageError(f"cannot write {_shown(target)}: {error.strerror}") from error
    echo(f"wrote {_shown(target)}")


def _shown(path: Path) -> str:
    """Return a path as people write it."""
    return printable(str(path))


def _is_same(target: Path, script: Path) -> bool:
    return target.exists() and target.samefile(script)


def _read(script: Path) -> bytes:
    try:
        return script.read_bytes()
    except OSError as error:
        raise UsageError(f"{_shown(script)}: {error.strerror}; give a job script") from None


def _reverted(script: Path, data: bytes) -> bytes:
    from stripewise.run.jobs import revert

    try:
        return revert(data)
    except UsageError as error:
        raise UsageError(f"{_shown(script)}: {error}") from None
