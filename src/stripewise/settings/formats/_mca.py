# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes Open MPI's MCA parameters: `openmpi-mca-params.conf`, `--mca`, OMPI_MCA_*."""

from __future__ import annotations

import re
import shlex

from stripewise.core import FILE_LAYERS, Configuration, JobSettings, Value
from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats._base import (
    Format,
    LoadedConfiguration,
    Written,
    canonical,
    lost_parts,
    value_from_text,
)
from stripewise.settings.tunables import Layer, hint_text

PREFIX = "OMPI_MCA_"
_NAME = re.compile(r"[A-Za-z0-9_]+")
_ASSIGNMENT = re.compile(rf"\s*(?:export\s+)?{PREFIX}(\w+)=(.*)", re.ASCII)
_PAIR = re.compile(r"\s*([A-Za-z0-9_]+)\s*=(.*)")
_FLAGS = frozenset({"--mca", "-mca", "--gmca", "-gmca"})
_UNWRITABLE = re.compile(r"[#\"'\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class McaFormat(Format):
    """Format of `$HOME/.openmpi/mca-params.conf`."""

    name = "mca"
    suffixes = (".conf",)
    summary = "Open MPI's openmpi-mca-params.conf; MCA parameters only"

    def parse(self, text: str, name: str = "configuration") -> LoadedConfiguration:
        """Parse lines in any of the three notations."""
        mca: dict[str, Value] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            for key, value in _pairs(line, f"{name}, line {number}"):
                mca[key] = value_from_text(Layer.MCA, key, value)
        return LoadedConfiguration(Configuration(job=JobSettings(mca=mca)))

    def write(self, configuration: Configuration) -> Written:
        job = canonical(configuration).job
        lost = [f"settings for {rule.match}" for rule in configuration.files if not rule.is_empty]
        lost += lost_parts(configuration, "mca", *FILE_LAYERS)
        lines = []
        for key, value in job.mca.items():
            text = hint_text(value)
            if _NAME.fullmatch(key) and text == text.strip() and not _UNWRITABLE.search(text):
                lines.append(f"{key} = {text}\n")
            else:
                lost.append(f"MCA parameter {key}={text!r}: it cannot be written on a line")
        return Written("".join(lines), tuple(lost))


def job_environment(configuration: Configuration) -> dict[str, str]:
    """Return the environment variables for the job settings of a configuration."""
    mca = canonical(configuration).job.mca
    variables = {PREFIX + key: hint_text(value) for key, value in mca.items()}
    return variables | dict(configuration.job.environment)


def _pairs(line: str, where: str) -> list[tuple[str, str]]:
    assignment = _ASSIGNMENT.fullmatch(line)
    if assignment:
        words = _words(assignment.group(2), where)
        if len(words) > 1:
            raise ConfigurationError(f"{where}: more than one word in {line.strip()!r}")
        return [(assignment.group(1), words[0] if words else "")]
    if any(flag in line.split() for flag in _FLAGS):
        return _options(_words(line, where), where)
    pair = _PAIR.fullmatch(line)
    if pair is None:
        raise ConfigurationError(f"{where}: {line.strip()!r}: write key = value")
    return [(pair.group(1), pair.group(2).strip())]


def _words(text: str, where: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}: close the quotes") from error


def _options(words: list[str], where: str) -> list[tuple[str, str]]:
    """Return all `--mca key value` options in a command line."""
    pairs = []
    rest = iter(words)
    for word in rest:
        if word not in _FLAGS:
            continue
        key, value = next(rest, ""), next(rest, None)
        if not _NAME.fullmatch(key) or value is None:
            raise ConfigurationError(f"{where}: {word} must be followed by a key and a value")
        pairs.append((key, value))
    return pairs
