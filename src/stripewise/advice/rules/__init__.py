# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rules of advice to users: one for each thing that they choose."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.advice.rules._registry import RULES as RULES
    from stripewise.advice.rules._registry import rule_names as rule_names
else:
    __getattr__, __all__ = lazy_exports(__name__)
