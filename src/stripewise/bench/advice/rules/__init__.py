# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules of advice, one for each thing that users choose."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.bench.advice.rules._base import Advice as Advice
    from stripewise.bench.advice.rules._base import Basis as Basis
    from stripewise.bench.advice.rules._base import Program as Program
    from stripewise.bench.advice.rules._base import Rule as Rule
else:
    __getattr__, __all__ = lazy_exports(__name__)
