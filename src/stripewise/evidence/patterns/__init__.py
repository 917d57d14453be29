# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds access patterns of datasets in HPF notation, and compares and generates them."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.evidence.patterns._find import find_patterns as find_patterns
    from stripewise.evidence.patterns._generate import generate as generate
    from stripewise.evidence.patterns._generate import sets_of as sets_of
    from stripewise.evidence.patterns._interleaved import members_of as members_of
    from stripewise.evidence.patterns._pattern import BlockRule as BlockRule
    from stripewise.evidence.patterns._pattern import Distribution as Distribution
    from stripewise.evidence.patterns._pattern import Pattern as Pattern
    from stripewise.evidence.patterns._pattern import PatternGroup as PatternGroup
    from stripewise.evidence.patterns._pattern import PatternKind as PatternKind
    from stripewise.evidence.patterns._pattern import block_bytes as block_bytes
    from stripewise.evidence.patterns._pattern import describe as describe
    from stripewise.evidence.patterns._pattern import dominant as dominant
    from stripewise.evidence.patterns._pattern import group_patterns as group_patterns
    from stripewise.evidence.patterns._pattern import interleaved as interleaved
    from stripewise.evidence.patterns._pattern import run_bytes as run_bytes
    from stripewise.evidence.patterns._structure import DIRECTIONS as DIRECTIONS
    from stripewise.evidence.patterns._structure import SHAPES as SHAPES
    from stripewise.evidence.patterns._structure import WAYS as WAYS
    from stripewise.evidence.patterns._structure import PatternClass as PatternClass
    from stripewise.evidence.patterns._structure import class_of as class_of
    from stripewise.evidence.patterns._structure import distance as distance
    from stripewise.evidence.patterns._structure import distance_parts as distance_parts
    from stripewise.evidence.patterns._structure import distance_weights as distance_weights
    from stripewise.evidence.patterns._structure import distances as distances
    from stripewise.evidence.patterns._structure import moved_bytes as moved_bytes
    from stripewise.evidence.patterns._structure import moved_in_steps as moved_in_steps
    from stripewise.evidence.patterns._structure import pattern_of as pattern_of
    from stripewise.evidence.patterns._structure import summaries as summaries
else:
    __getattr__, __all__ = lazy_exports(__name__)
