# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Accesses of all ranks -> patterns in HPF notation; distances between patterns.  Pure."""

from stripewise.patterns._find import find_patterns
from stripewise.patterns._generate import generate

__all__ = ["find_patterns", "generate"]
