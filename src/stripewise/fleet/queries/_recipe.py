# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a job script that findings advise -> a configuration, and text from it.  Pure.

Only what a format of `stripewise.formats` reads comes through, and it is written anew: a profile
may come from anywhere.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from stripewise import formats
from stripewise.errors import StripewiseError
from stripewise.model import Configuration, FileRule, JobSettings, Value
from stripewise.tunables import check_configuration, refused_variables

_COMMENT = "   #"
_ROMIO, _CRAY, _OPENMPI = "ROMIO_HINTS", "MPICH_MPIIO_HINTS", "OMPI_MCA_"


@dataclass(frozen=True)
class Recipe:
    """Settings for the next run.

    Attributes:
        configuration: The settings.
        toml: The same, for `stripewise run --config`.
        shell: Lines of a job script that need no Stripewise; "" if they cannot say it.
    """

    configuration: Configuration
    toml: str
    shell: str


def recipe_of_lines(lines: Iterable[str]) -> Recipe | None:
    """Return the settings that lines of findings make; None: they make none."""
    texts = [line.partition(_COMMENT)[0].strip() for line in lines]
    mpiio: dict[str, Value] = {}
    variables: dict[str, str] = {}
    for text in texts:
        found = _parsed(text)
        for rule in found.files:
            mpiio |= rule.mpiio if rule.match == "*" else {}
        # as a variable: "^ompio" is a value of the variable, and none of the tunable
        variables |= formats.job_environment(found)
    rules = (FileRule("*", mpiio=mpiio, override=True),) if mpiio else ()
    configuration = Configuration(rules, JobSettings(environment=variables))
    if configuration.is_empty or _problems(configuration):
        return None
    names = [name for name in (_ROMIO, _CRAY) if any(name in text for text in texts)]
    return Recipe(
        configuration,
        formats.get("toml").write(configuration).text,
        _shell(configuration, names),
    )


def recipe_of_study(toml: str, hints: str) -> Recipe | None:
    """Return the settings that a study proved; None: they cannot be used with this version."""
    try:
        found = formats.get("toml").read(toml).configuration
    except StripewiseError:
        return None
    if found.is_empty or refused_variables(found):
        return None
    return Recipe(found, toml, hints)


def _parsed(text: str) -> Configuration:
    """Return what one line sets; nothing, if it is no line of settings."""
    try:
        if text.startswith(f"export {_OPENMPI}"):
            return formats.get("mca").parse(text.partition(";")[0]).configuration
        if text.startswith(f"export {_CRAY}"):
            return formats.get("mpich-hints").parse(text).configuration
        if text.startswith("printf ") and _ROMIO in text:
            words = shlex.split(text)
            hints = words[2 : words.index(">")]
            return formats.get("romio-hints").parse("\n".join(hints)).configuration
    except (StripewiseError, ValueError):
        pass
    return Configuration()


def _problems(configuration: Configuration) -> list[str]:
    return [*check_configuration(configuration), *refused_variables(configuration)]


def _shell(configuration: Configuration, names: Iterable[str]) -> str:
    """Return lines of a shell; what is for another MPI than the job's is ignored by it."""
    lines = [
        f"export {name}={shlex.quote(value)}"
        for name, value in formats.job_environment(configuration).items()
    ]
    for name in names:
        if name == _CRAY:
            lines.append(formats.get("mpich-hints").write(configuration).text.strip())
            continue
        text = formats.get("romio-hints").write(configuration).text.strip()
        lines += ["cat > romio-hints <<'END'", text, "END", f'export {_ROMIO}="$PWD/romio-hints"']
    return "".join(f"{line}\n" for line in lines)
