# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accesses of all ranks -> patterns in HPF notation; distances between patterns.  Pure."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.patterns._class import DIRECTIONS as DIRECTIONS
    from stripewise.patterns._class import SHAPES as SHAPES
    from stripewise.patterns._class import WAYS as WAYS
    from stripewise.patterns._class import PatternClass as PatternClass
    from stripewise.patterns._class import class_of as class_of
    from stripewise.patterns._class import moved_in_steps as moved_in_steps
    from stripewise.patterns._contiguous import block_bytes as block_bytes
    from stripewise.patterns._contiguous import dominant as dominant
    from stripewise.patterns._contiguous import interleaved as interleaved
    from stripewise.patterns._contiguous import run_bytes as run_bytes
    from stripewise.patterns._describe import describe as describe
    from stripewise.patterns._distance import distance as distance
    from stripewise.patterns._distance import distance_parts as distance_parts
    from stripewise.patterns._distance import distance_weights as distance_weights
    from stripewise.patterns._distance import distances as distances
    from stripewise.patterns._find import find_patterns as find_patterns
    from stripewise.patterns._generate import generate as generate
    from stripewise.patterns._groups import PatternGroup as PatternGroup
    from stripewise.patterns._groups import group_patterns as group_patterns
    from stripewise.patterns._parts import sets_of as sets_of
    from stripewise.patterns._summary import moved_bytes as moved_bytes
    from stripewise.patterns._summary import pattern_of as pattern_of
    from stripewise.patterns._summary import summaries as summaries
else:
    __getattr__, __all__ = lazy_exports(__name__)
