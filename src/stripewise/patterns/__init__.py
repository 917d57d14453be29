# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accesses of all ranks -> patterns in HPF notation; distances between patterns.  Pure."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.patterns._contiguous import all_bytes, block_bytes, dominant, run_bytes
    from stripewise.patterns._describe import describe
    from stripewise.patterns._distance import WEIGHTS, distance, distance_parts
    from stripewise.patterns._find import find_patterns
    from stripewise.patterns._generate import generate
    from stripewise.patterns._groups import PatternGroup, group_patterns
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "WEIGHTS",
    "PatternGroup",
    "all_bytes",
    "block_bytes",
    "describe",
    "distance",
    "distance_parts",
    "dominant",
    "find_patterns",
    "generate",
    "group_patterns",
    "run_bytes",
]
