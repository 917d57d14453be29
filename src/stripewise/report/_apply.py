# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How to use the winning settings: with Stripewise, and without it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath

from stripewise import formats
from stripewise.errors import StripewiseError
from stripewise.model import Configuration, StudyResult
from stripewise.report._text import command_line, printable


@dataclass(frozen=True)
class Recipe:
    """One way to apply settings.

    Attributes:
        title: What it is for.
        text: Lines for a shell.
        lost: What this way cannot carry.
    """

    title: str
    text: str
    lost: tuple[str, ...] = ()


def run_command(result: StudyResult) -> str:
    """Return the command that runs the program under the winning settings."""
    best = str(PurePath(result.directory) / "best.toml")
    return f"stripewise run --config {command_line([best])} -- {command_line(result.command)}"


def recipes(result: StudyResult) -> tuple[Recipe, ...]:
    """List the ways to apply the winner's settings; none if nothing won."""
    if not result.improved or result.winner is None:
        return ()
    configuration = result.winner.configuration
    found = [Recipe("With Stripewise, the same binary", run_command(result))]
    family = result.facts.mpi_family
    if family == "openmpi" and configuration.job.mca:
        found.append(_written(configuration, "mca", "Open MPI parameters"))
    if any(rule.mpiio for rule in configuration.files):
        found.append(
            _written(configuration, "romio-hints", "Without Stripewise: a hints file for ROMIO")
        )
        found.append(
            _written(configuration, "mpich-hints", "Without Stripewise: Cray MPICH's variable")
        )
    return tuple(found)


def _written(configuration: Configuration, name: str, title: str) -> Recipe:
    try:
        written = formats.get(name).write(configuration)
    except StripewiseError as error:
        return Recipe(title, "", (str(error),))
    text = written.text.strip()
    if not text:
        return Recipe(title, "", written.lost)
    if name == "mpich-hints":
        text = f"export MPICH_MPIIO_HINTS={shlex.quote(_value(text, 'MPICH_MPIIO_HINTS'))}"
    elif name == "romio-hints":
        text = f"cat > romio-hints <<'END'\n{text}\nEND\nexport ROMIO_HINTS=\"$PWD/romio-hints\""
    else:
        lines = (f"export {name_and_value}" for name_and_value in _environment(configuration))
        text = "\n".join(lines)
    return Recipe(title, text, written.lost)


def _value(text: str, variable: str) -> str:
    """Take `export VARIABLE=` and quotes off, if the format writes them."""
    for prefix in (f"export {variable}=", f"{variable}="):
        if text.startswith(prefix):
            return " ".join(shlex.split(text.removeprefix(prefix)))
    return text


def _environment(configuration: Configuration) -> list[str]:
    return [
        f"{name}={shlex.quote(printable(value))}"
        for name, value in formats.job_environment(configuration).items()
    ]
