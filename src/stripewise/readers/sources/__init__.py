# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of a run: a member each kind, one contract, read into `Evidence`."""

from stripewise.readers.sources._base import Source
from stripewise.readers.sources._registry import (
    get_source,
    read_evidence,
    recognise,
    source_names,
)

__all__ = ["Source", "get_source", "read_evidence", "recognise", "source_names"]
