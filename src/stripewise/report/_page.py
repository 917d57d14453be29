# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Templates of the pages: everything is escaped, and control characters are made visible."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from stripewise.report import _text
from stripewise.text import printable


@lru_cache(maxsize=1)
def _base() -> Environment:
    environment = Environment(
        loader=PackageLoader("stripewise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        seconds=_text.format_seconds,
        size=_text.format_bytes,
        bandwidth=_text.format_bandwidth,
        value=_text.format_value,
        command=_text.command_line,
        lines=_lines,
        plural=_text.plural,
        prose=_prose,
        when=_when,
    )
    return environment


def page_environment() -> Environment:
    """Return an environment of one's own; filters added to it stay in it."""
    overlay = _base().overlay()
    overlay.filters = dict(overlay.filters)
    return overlay


def template_source(name: str) -> str:
    """Return the text of a file among the templates, as it stands."""
    loader = _base().loader
    assert loader is not None
    return loader.get_source(_base(), name)[0]


def _finalize(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


def _prose(text: str) -> Markup:
    """Escape a sentence; what stands between backticks becomes code."""
    parts = [escape(printable(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return Markup("`").join(parts)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )


def _when(unix_seconds: float) -> str:
    """Format a moment; "" where it is not known."""
    if not unix_seconds > 0:
        return ""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _lines(text: str) -> Markup:
    """Escape a text of several lines, each printable."""
    return Markup("\n").join(escape(printable(line)) for line in text.splitlines())
