# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes configurations in the formats of other tools and in our own."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.settings.formats._base import Format as Format
    from stripewise.settings.formats._base import Written as Written
    from stripewise.settings.formats._base import canonical as canonical
    from stripewise.settings.formats._flat import flat_text as flat_text
    from stripewise.settings.formats._flat import series_text as series_text
    from stripewise.settings.formats._match import effective as effective
    from stripewise.settings.formats._match import literal_glob as literal_glob
    from stripewise.settings.formats._match import matches as matches
    from stripewise.settings.formats._mca import job_environment as job_environment
    from stripewise.settings.formats._registry import detect as detect
    from stripewise.settings.formats._registry import format_names as format_names
    from stripewise.settings.formats._registry import get as get
    from stripewise.settings.formats._registry import load_configuration as load_configuration
    from stripewise.settings.formats._toml import parse_document as parse_document
else:
    __getattr__, __all__ = lazy_exports(__name__)
