# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Configurations as text: a member each format, one contract."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.formats._base import Format, LoadedConfiguration, Written
    from stripewise.formats._canonical import canonical
    from stripewise.formats._file import (
        detect,
        load_configuration,
        parse_configuration,
        read_text,
        write_text,
    )
    from stripewise.formats._flat import compile_flat
    from stripewise.formats._match import Effective, effective, matches
    from stripewise.formats._mca import job_environment
    from stripewise.formats._registry import format_names, get
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "Effective",
    "Format",
    "LoadedConfiguration",
    "Written",
    "canonical",
    "compile_flat",
    "detect",
    "effective",
    "format_names",
    "get",
    "job_environment",
    "load_configuration",
    "matches",
    "parse_configuration",
    "read_text",
    "write_text",
]
