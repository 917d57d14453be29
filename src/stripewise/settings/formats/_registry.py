# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds a format by its name, by the content of a text, or by a file."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from pathlib import Path

from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.core.inputs import CONFIGURATION, read_input
from stripewise.settings.formats._base import Format, LoadedConfiguration
from stripewise.settings.formats._flat import HEADER
from stripewise.settings.formats._mca import PREFIX
from stripewise.settings.tunables import suggest

_FORMATS = {
    "toml": "TomlFormat",
    "mpich-hints": "MpichHintsFormat",
    "romio-hints": "RomioHintsFormat",
    "h5tuner": "H5TunerFormat",
    "mca": "McaFormat",
    "flat": "FlatFormat",
}
"""Name of a format, which is also that of its module, to its class; loaded on demand."""

# Typical lines of formats without their own suffix, tested in this order.
_LINES = (
    (re.compile(r"(export\s+)?MPICH_MPIIO_HINTS\s*="), "mpich-hints"),
    (re.compile(rf"(export\s+)?{PREFIX}|.*--?g?mca\s"), "mca"),
    (re.compile(r"\[+\w|version\s*=\s*\d"), "toml"),
    (re.compile(r"[^\s=:]+:[^\s=:]+="), "mpich-hints"),
    (re.compile(r"\w+\s*="), "mca"),
    (re.compile(r"\S+\s+\S"), "romio-hints"),
)


def format_names() -> tuple[str, ...]:
    """Return the names of all formats."""
    return tuple(_FORMATS)


def get(name: str) -> Format:
    """Return a format by name.

    Raises:
        UsageError: There is no such format.
    """
    if name not in _FORMATS:
        raise UsageError(
            f"no format is called {name!r}{suggest(name, _FORMATS)}:"
            f" use one of {', '.join(_FORMATS)}"
        )
    return _made(name)


@cache
def _made(name: str) -> Format:
    module = import_module(f"stripewise.settings.formats._{name.replace('-', '_')}")
    made: Format = getattr(module, _FORMATS[name])()
    return made


def load_configuration(
    path: Path, format_name: str = "", *, check: bool = True
) -> LoadedConfiguration:
    """Read a configuration file.

    Args:
        path: Path of the file.
        format_name: Name of its format; if not given, detected by suffix and then by content.
        check: Whether to check its values; if not, invalid ones are kept.

    Raises:
        ConfigurationError: It cannot be read, is in no known format, or is invalid.
    """
    text = _read_text(path)
    name = str(path)
    found = get(format_name) if format_name else detect(text, path.suffix.lower(), name)
    return found.read(text, name) if check else found.parse(text, name)


def detect(text: str, suffix: str = "", name: str = "configuration") -> Format:
    """Return the format of a text.

    Raises:
        ConfigurationError: The text is in no known format.
    """
    if text.startswith(HEADER.split()[0]):
        return get("flat")
    if text.lstrip().startswith("<"):
        return get("h5tuner")
    for format_name in format_names():
        if suffix and suffix in get(format_name).suffixes:
            return get(format_name)
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    for pattern, format_name in _LINES:
        if pattern.match(first):
            return get(format_name)
    raise ConfigurationError(
        f"{name}: is in no known format: name it .toml or .xml, or give --from with one of "
        f"{', '.join(format_names())}"
    )


def _read_text(path: Path) -> str:
    try:
        data = read_input(path, CONFIGURATION)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be read: {error.strerror or error}: check the name"
        ) from error
    if not data.strip():
        raise ConfigurationError(f"{path}: is empty: a configuration begins with version = 1")
    if data.startswith(HEADER.encode()):
        return os.fsdecode(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{path}: is not UTF-8 text (byte {error.start}): save it as UTF-8"
        ) from error
