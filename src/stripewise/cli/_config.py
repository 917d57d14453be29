# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise config`: show, convert and check configurations."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import echo, examples, json_option, note, print_json
from stripewise.errors import ConfigurationError, PolicyError

if TYPE_CHECKING:
    from stripewise.model import Configuration

_FORMATS = click.Choice(["toml", "mpich-hints", "romio-hints", "h5tuner", "mca", "flat"])
_path = click.argument("path", type=click.Path(path_type=Path))
_from = click.option(
    "--from", "source", type=_FORMATS, help="Format of the file  [default: detected]"
)


@click.group(
    epilog=examples(
        "stripewise config show best.toml",
        "stripewise config show best.toml --file out.h5",
        "stripewise config convert best.toml --to mpich-hints",
        "stripewise config check config.xml",
    )
)
def command() -> None:
    """Show, convert and check configurations, in any format."""


@command.command(
    epilog=examples(
        "stripewise config show best.toml",
        "stripewise config show best.toml --file /scratch/run/out.h5",
        "stripewise config show --from mpich-hints hints.txt --json",
    )
)
@_path
@_from
@click.option(
    "--file", "file_name", metavar="NAME", help="Show only what acts on a file of this name."
)
@json_option
def show(path: Path, source: str | None, file_name: str | None, as_json: bool) -> None:
    """Show a configuration, or only what acts on one file."""
    from stripewise.cli import _config_text as text
    from stripewise.formats import load_configuration

    loaded = load_configuration(path, source or "")
    found = loaded.configuration
    if file_name is None:
        data, lines = text.as_data(found), text.table_lines(found)
    else:
        data, lines = text.effective_data(found, file_name), text.effective_lines(found, file_name)
    if as_json:
        print_json({"path": str(path), **data, "warnings": loaded.warnings})
        return
    for line in lines:
        echo(line)
    for warning in loaded.warnings:
        note(warning, kind="warning")


@command.command(
    short_help="Convert a configuration to another format.",
    epilog=examples(
        "stripewise config convert best.toml --to mpich-hints       # a line for a job script",
        "stripewise config convert best.toml --to h5tuner -o best.xml",
        "stripewise config convert config.xml --to toml -o config.toml",
    ),
)
@_path
@_from
@click.option("--to", "target", type=_FORMATS, required=True, help="Format to write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; without it, the text goes to standard output.",
)
@click.option(
    "--strict", is_flag=True, help="Write nothing if anything would be lost in this format."
)
@json_option
def convert(
    path: Path,
    source: str | None,
    target: str,
    output: Path | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Convert a configuration to another format; report what it cannot hold."""
    from stripewise.formats import get, load_configuration
    from stripewise.outputs import write_file

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


@command.command(
    short_help="Check that a configuration is right and can be applied.",
    epilog=examples(
        "stripewise config check best.toml",
        "stripewise config check --from romio-hints /etc/romio-hints --json",
    ),
)
@_path
@_from
@json_option
def check(path: Path, source: str | None, as_json: bool) -> None:
    """Check a configuration: unknown names, wrong values, impossible combinations, policy.

    The exit code is 0 if the configuration can be applied here, even with warnings, and 3 if
    it cannot or if the name of a hint looks misspelt.
    """
    from stripewise.formats import load_configuration
    from stripewise.report import plural
    from stripewise.tunables import (
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
    from stripewise.policy import load_policy

    try:
        load_policy().check(configuration)
    except PolicyError as error:
        return [str(error)]
    return []
