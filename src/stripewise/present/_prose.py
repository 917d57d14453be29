# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sentences on pages."""

from __future__ import annotations

from markupsafe import Markup, escape

from stripewise.present._printable import printable


def prose(text: str) -> Markup:
    """Escape a sentence; what stands between backticks becomes code."""
    parts = [escape(printable(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return Markup("`").join(parts)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )
