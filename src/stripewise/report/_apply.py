# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""How to use the winning settings: with Stripewise, and without it."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace

from stripewise import formats
from stripewise.errors import StripewiseError
from stripewise.model import Configuration, StudyResult
from stripewise.report._digest import case_results
from stripewise.report._summary import run_commands
from stripewise.report._text import command_line
from stripewise.runtime import command_with_resources, launch_environment, resource_environment
from stripewise.text import printable

_WITHOUT = "Without Stripewise"


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


def recipes(result: StudyResult) -> tuple[Recipe, ...]:
    """List the ways to apply the winner's settings; none if nothing won."""
    if not result.improved or result.winner is None:
        return ()
    configuration = result.winner.configuration
    found = [Recipe("With Stripewise, the same binary", "\n".join(run_commands(result)))]
    if configuration.job.resources:
        found.append(_resources(result, configuration))
    openmpi = result.facts.mpi_family == "openmpi"
    if openmpi and configuration.job.mca:
        found.append(Recipe(f"{_WITHOUT}: Open MPI's parameters", _exports(configuration)))
    hints = any(rule.mpiio for rule in configuration.files)
    if hints and _uses_romio(result, configuration):
        title = f"{_WITHOUT}: a hints file for ROMIO"
        found.append(_written(configuration, "romio-hints", title))
    if hints and not openmpi:
        title = f"{_WITHOUT}: Cray MPICH's variable"
        found.append(_written(configuration, "mpich-hints", title))
    if openmpi and os.geteuid() == 0:
        found = [_as_root(recipe) for recipe in found]
    return tuple(found)


def _as_root(recipe: Recipe) -> Recipe:
    """Let root start Open MPI, which Stripewise does by itself and plain mpiexec refuses."""
    if not recipe.text or not recipe.title.startswith(_WITHOUT):
        return recipe
    allowed = "".join(f"export {name}=1\n" for name in launch_environment({}))
    return replace(recipe, title=f"{recipe.title}, as root", text=allowed + recipe.text)


def _resources(result: StudyResult, configuration: Configuration) -> Recipe:
    """Write the commands with the winner's ranks and threads; the rest of it is not in them."""
    title = f"{_WITHOUT}: ranks and threads"
    job = configuration.job
    lines = [f"export {name}={value}" for name, value in resource_environment(job).items()]
    try:
        lines += [
            command_line(command_with_resources(c.command, job)) for c in case_results(result)
        ]
    except StripewiseError as error:
        return Recipe(title, "", (str(error),))
    return Recipe(title, "\n".join(lines))


def _uses_romio(result: StudyResult, configuration: Configuration) -> bool:
    """Whether ROMIO, which alone reads ROMIO_HINTS, does the winner's MPI-IO."""
    chosen = str(configuration.job.mca.get("io", result.facts.mpiio_implementation))
    return chosen.startswith("romio")


def _written(configuration: Configuration, name: str, title: str) -> Recipe:
    written = formats.get(name).write(configuration)
    text = written.text.strip()
    if text and name == "romio-hints":
        text = f"cat > romio-hints <<'END'\n{text}\nEND\nexport ROMIO_HINTS=\"$PWD/romio-hints\""
    return Recipe(title, text, written.lost)


def _exports(configuration: Configuration) -> str:
    return "\n".join(
        f"export {name}={shlex.quote(printable(value))}"
        for name, value in formats.job_environment(configuration).items()
    )
