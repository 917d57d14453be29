# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats whose content can be compared apart from their bytes, a file each."""

from stripewise.verify.contents._adios import AdiosBp
from stripewise.verify.contents._base import WHOLE, ContentDifferences, ContentFormat
from stripewise.verify.contents._hdf5 import Hdf5
from stripewise.verify.contents._netcdf import ClassicNetcdf
from stripewise.verify.contents._registry import FORMATS, format_of

__all__ = [
    "FORMATS",
    "WHOLE",
    "AdiosBp",
    "ClassicNetcdf",
    "ContentDifferences",
    "ContentFormat",
    "Hdf5",
    "format_of",
]
