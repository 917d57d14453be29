# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All formats."""

from __future__ import annotations

from pathlib import Path

from stripewise.verify.contents._adios import AdiosBp
from stripewise.verify.contents._base import ContentFormat
from stripewise.verify.contents._hdf5 import Hdf5
from stripewise.verify.contents._netcdf import ClassicNetcdf

FORMATS: tuple[ContentFormat, ...] = (AdiosBp(), ClassicNetcdf(), Hdf5())


def format_of(path: Path) -> ContentFormat | None:
    """The format that an output is in; None for all others."""
    return next((one for one in FORMATS if one.matches(path)), None)
