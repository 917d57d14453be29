# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Templates of the pages: everything is escaped, and control characters are made visible."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from stripewise.core.extras import require
from stripewise.present import numbers as _text
from stripewise.present._printable import printable
from stripewise.present._prose import prose
from stripewise.present.chart import VEGA_VERSION

if TYPE_CHECKING:
    from jinja2 import Environment, Template


def page_template(name: str, filters: Mapping[str, Callable[..., Any]]) -> Template:
    """Return the template of a page, which has filters of its own beside those of all pages.

    Raises:
        RuntimeMissingError: What makes pages is not installed.
    """
    require("report", "a page or a picture")
    environment = _environment()
    environment.filters.update(filters)
    return environment.get_template(name)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("stripewise.present")
    environment = Environment(
        loader=loader,
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
        prose=prose,
        when=_when,
    )
    environment.globals["script"] = _script(loader.get_source(environment, "page.js")[0])
    return environment


def _script(own: str) -> dict[str, object]:
    """Join the pages' own script with what draws; their policy lets no other run, by its hash."""
    import vl_convert as vega

    text = vega.javascript_bundle(own, vl_version=VEGA_VERSION).replace("</script", "<\\/script")
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return {"text": Markup(text), "digest": f"sha256-{digest}"}


def _finalize(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


def _when(unix_seconds: float) -> str:
    """Format a moment; "" where it is not known."""
    if not unix_seconds > 0:
        return ""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _lines(text: str) -> Markup:
    """Escape a text of several lines, each printable."""
    return Markup("\n").join(escape(printable(line)) for line in text.splitlines())
