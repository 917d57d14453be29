# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of a run: a member each kind, one contract, read into `Evidence`."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.readers.sources._base import Source, begins_with
    from stripewise.readers.sources._registry import (
        get_source,
        read_evidence,
        recognise,
        source_names,
    )
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "Source",
    "begins_with",
    "get_source",
    "read_evidence",
    "recognise",
    "source_names",
]
