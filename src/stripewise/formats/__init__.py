# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Configurations as text: a member each format, one contract."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.formats._base import Format as Format
    from stripewise.formats._base import LoadedConfiguration as LoadedConfiguration
    from stripewise.formats._base import Written as Written
    from stripewise.formats._base import canonical as canonical
    from stripewise.formats._flat import flat_text as flat_text
    from stripewise.formats._flat import series_text as series_text
    from stripewise.formats._match import Effective as Effective
    from stripewise.formats._match import effective as effective
    from stripewise.formats._match import literal_glob as literal_glob
    from stripewise.formats._match import matches as matches
    from stripewise.formats._mca import job_environment as job_environment
    from stripewise.formats._registry import detect as detect
    from stripewise.formats._registry import format_names as format_names
    from stripewise.formats._registry import get as get
    from stripewise.formats._registry import load_configuration as load_configuration
    from stripewise.formats._toml import parse_document as parse_document
else:
    __getattr__, __all__ = lazy_exports(__name__)
