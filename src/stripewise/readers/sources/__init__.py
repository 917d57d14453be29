# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tells of a run: a member each kind, one contract, read into `Evidence`."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.readers.sources._base import Source as Source
    from stripewise.readers.sources._base import begins_with as begins_with
    from stripewise.readers.sources._mpiio_hints import parse_mpiio_hints as parse_mpiio_hints
    from stripewise.readers.sources._mpiio_stats import parse_mpiio_stats as parse_mpiio_stats
    from stripewise.readers.sources._mpiio_timers import parse_mpiio_timers as parse_mpiio_timers
    from stripewise.readers.sources._registry import SOURCES as SOURCES
    from stripewise.readers.sources._registry import read_evidence as read_evidence
    from stripewise.readers.sources._registry import recognise as recognise
else:
    __getattr__, __all__ = lazy_exports(__name__)
