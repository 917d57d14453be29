# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats whose content can be compared apart from their bytes, a file each."""

from stripewise.verify.contents._base import WHOLE, ContentFormat, Pair
from stripewise.verify.contents._registry import FORMATS, format_of

__all__ = ["FORMATS", "WHOLE", "ContentFormat", "Pair", "format_of"]
