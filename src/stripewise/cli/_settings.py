# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise settings`: configurations in any format, the tunables, the search strategies."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, echo, note, print_json
from stripewise.cli._help import examples, group, option
from stripewise.cli._options import complete_knob, json_option
from stripewise.cli._settings_script import script_command
from stripewise.core import FileRule, Value
from stripewise.core.errors import ConfigurationError, PolicyError
from stripewise.present import aligned
from stripewise.settings.formats import effective
from stripewise.settings.tunables import Layer, all_settings, find, hint_text, settings_class
from stripewise.study.report import configuration_document

if TYPE_CHECKING:
    from stripewise.core import Configuration
    from stripewise.settings.tunables import Tunable


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
    from stripewise.settings.formats import load_configuration

    loaded = load_configuration(path, source or "")
    found = loaded.configuration
    if file_name is None:
        data, lines = as_data(found), table_lines(found)
    else:
        data, lines = effective_data(found, file_name), effective_lines(found, file_name)
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


# ---- configurations as lines for a terminal, and as data for JSON


def as_data(configuration: Configuration) -> dict[str, Any]:
    """Return a configuration as the canonical TOML has it, with what is empty."""
    found = configuration_document(configuration)
    nothing: dict[str, Any] = {**{layer: {} for layer in FileRule().layers}, "dataset": []}
    return {
        "class": str(settings_class(configuration)),
        "file": [{"match": "", **nothing, **rule} for rule in found["file"]],
        "job": {"mca": {}, "environment": {}, **found.get("job", {})},
    }


def effective_data(configuration: Configuration, name: str) -> dict[str, Any]:
    """Return what acts on a file."""
    found = effective(configuration, name)

    def described(layer: str, settings: Mapping[str, Value]) -> dict[str, Any]:
        return {
            key: {
                "value": value,
                "from": found.origin[f"{layer}.{key}"].match,
                "override": found.origin[f"{layer}.{key}"].override,
            }
            for key, value in settings.items()
        }

    return {
        "file": name,
        **{layer: described(layer, settings) for layer, settings in found.layers.items()},
        "dataset": [{"match": d.match, **d.hdf5} for d in found.datasets],
    }


def table_lines(configuration: Configuration) -> list[str]:
    """Return all settings as an aligned table."""
    rows = [("WHERE", "SETTING", "VALUE", "CLASS", "MEANING")]
    for where, layer, key, value in all_settings(configuration):
        knob = find(layer, key)
        rows.append(
            (
                where,
                f"{layer.value}.{key}",
                hint_text(value),
                str(knob.safety) if knob else "unknown",
                knob.summary if knob else "",
            )
        )
    for variable, text in configuration.job.environment.items():
        rows.append(("job", f"environment.{variable}", text, "unknown", ""))
    if len(rows) == 1:
        return ["nothing is set"]
    overriding = [rule.match for rule in configuration.files if rule.override]
    lines = aligned(rows)
    if overriding:
        lines.append(f"also where the program sets a value itself: {', '.join(overriding)}")
    return lines


def effective_lines(configuration: Configuration, name: str) -> list[str]:
    """Return what acts on a file as an aligned table."""
    found = effective(configuration, name)
    rows = [("SETTING", "VALUE", "FROM", "WHERE THE PROGRAM SETS IT")]
    for layer, settings in found.layers.items():
        for key, value in settings.items():
            rule = found.origin[f"{layer}.{key}"]
            kept = "overrides" if rule.override else "gives way"
            rows.append((f"{layer}.{key}", hint_text(value), rule.match, kept))
    for dataset in found.datasets:
        for key, value in dataset.hdf5.items():
            rows.append((f"hdf5.{key}", hint_text(value), f"dataset {dataset.match}", ""))
    return aligned(rows) if len(rows) > 1 else [f"nothing is set for {name}"]


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
@click.argument("name", required=False, shell_complete=complete_knob)
@option(
    "--layer", type=click.Choice([layer.value for layer in Layer]), help="List only this layer."
)
@json_option
def tunables(name: str | None, layer: str | None, as_json: bool) -> None:
    """List what can be set, in the order of likely effect; with NAME, all about one tunable.

    Safety classes: safe settings cannot change what is written; layout settings keep the content
    but may arrange it differently in the file; contract settings are right only if the program
    meets a condition.
    """
    from stripewise.settings import load_policy
    from stripewise.settings.tunables import all_tunables, get

    policy = load_policy()
    if name is not None:
        knob = get(name)
        forbidden = policy.why_not(knob)
        answer(as_json, lambda: _data(knob, forbidden), lambda: _details(knob, forbidden))
        return
    knobs = [knob for knob in all_tunables() if layer in (None, knob.layer.value)]
    answer(
        as_json,
        lambda: [_data(knob, policy.why_not(knob)) for knob in knobs],
        lambda: _table(knobs, {k.name for k in knobs if policy.why_not(k)}),
    )


def _data(knob: Tunable, forbidden: str) -> dict[str, Any]:
    return {
        "name": knob.name,
        "layer": knob.layer.value,
        "key": knob.key,
        "kind": knob.domain.kind,
        "choices": list(knob.domain.choices),
        "default": knob.domain.default,
        "class": knob.safety.value,
        "acts_at": knob.acts_at.value,
        "stacks": list(knob.stacks),
        "effect_order": knob.search.effect_order,
        "summary": knob.summary,
        "also": knob.also or None,
        "only_by_name": knob.search.by_name or None,
        "source": knob.source,
        "forbidden": forbidden or None,
    }


def _details(knob: Tunable, forbidden: str) -> Iterator[str]:
    yield knob.name
    rows = [
        ("what it does", knob.summary),
        ("values", knob.domain.words),
        ("default", knob.domain.default),
        ("class", f"{knob.safety.value}"),
        ("acts at", knob.acts_at.value),
        ("honoured by", ", ".join(knob.stacks)),
        ("also known as", knob.also),
        ("searched", f"only if named: {knob.search.by_name}" if knob.search.by_name else ""),
        ("source", knob.source),
    ]
    rows = [(title, text) for title, text in rows if text]
    if forbidden:
        rows.append(("forbidden", forbidden))
    for title, text in rows:
        wrapped = textwrap.wrap(text, 80) or [""]
        yield f"  {title:<14}{wrapped[0]}"
        yield from (" " * 16 + line for line in wrapped[1:])


def _table(knobs: list[Tunable], forbidden: set[str]) -> Iterator[str]:
    width = max(len(knob.name) for knob in knobs)
    yield f"{'TUNABLE':<{width}}  {'CLASS':<9}{'STACKS':<20}WHAT IT DOES"
    for knob in knobs:
        mark = "  [forbidden by policy]" if knob.name in forbidden else ""
        stacks = ", ".join(knob.stacks)
        yield f"{knob.name:<{width}}  {knob.safety.value:<9}{stacks:<20}{knob.summary}{mark}"


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


settings_command.add_command(script_command)
