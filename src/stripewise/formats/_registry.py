# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The formats by name."""

from __future__ import annotations

from stripewise.errors import UsageError
from stripewise.formats._base import Format
from stripewise.formats._flat import FlatFormat
from stripewise.formats._h5tuner import H5TunerFormat
from stripewise.formats._mca import McaFormat
from stripewise.formats._mpich_hints import MpichHintsFormat
from stripewise.formats._romio_hints import RomioHintsFormat
from stripewise.formats._toml import TomlFormat
from stripewise.tunables import suggest

_FORMATS: dict[str, Format] = {
    member.name: member
    for member in (
        TomlFormat(),
        MpichHintsFormat(),
        RomioHintsFormat(),
        H5TunerFormat(),
        McaFormat(),
        FlatFormat(),
    )
}


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
    return _FORMATS[name]
