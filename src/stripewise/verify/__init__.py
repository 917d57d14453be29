# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of runs, compared bit for bit or by their content."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.verify._compare import Reference, unreadable
    from stripewise.verify._compare import compare as compare_outputs
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "Reference",
    "compare_outputs",
    "unreadable",
]
