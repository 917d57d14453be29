# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a storage can do in campaigns of benchmarks, and draws conclusions."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench._case import Case as Case
    from stripewise.bench._case import CaseRun as CaseRun
    from stripewise.bench._case import RunFigure as RunFigure
else:
    __getattr__, __all__ = lazy_exports(__name__)
