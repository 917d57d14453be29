# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Advice as one self-contained page."""

from __future__ import annotations

from stripewise.advice import AdviceBook
from stripewise.report._advice_rows import concern_text, limit_rows, origin_text
from stripewise.report._page import page_template


def advice_page(book: AdviceBook) -> str:
    """Render the page; the same advice gives the same page."""
    limits = book.basis.limits
    return page_template("advice.html.j2", {}).render(
        storage=book.basis.storage,
        origin=origin_text(book),
        concern=concern_text(book),
        topics=book.topics,
        limits=list(limit_rows(book.basis.storage)),
        laws=limits.laws if limits else (),
        defaults=[(name, value, one) for name, (value, one) in book.defaults.items()],
        missing=book.missing,
    )
