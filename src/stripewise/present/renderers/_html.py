# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders pages as HTML: all text is escaped, and control characters are made visible."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from functools import cached_property, lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from stripewise.core.extras import require
from stripewise.present import numbers
from stripewise.present._printable import printable
from stripewise.present.blocks import NUMBERS, Content, moment, written
from stripewise.present.chart import VEGA_VERSION
from stripewise.present.renderers._charts import drawn

if TYPE_CHECKING:
    from jinja2 import Environment


def as_page(content: Content) -> str:
    """Return a self-contained page; the same content always gives the same page.

    Raises:
        RuntimeMissingError: The template library is not installed.
    """
    require("report", "a page or a picture")
    return template_environment().get_template("report_page.html.j2").render(page=content)


@lru_cache(maxsize=2)
def template_environment(package: str = "stripewise.present") -> Environment:
    """Return the environment that loads the templates of a package and those of the blocks."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    places = [(package, "templates"), ("stripewise.present", "templates")]
    loaders = [PackageLoader(*place) for place in (*dict.fromkeys(places), _STATIC)]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        written=written,
        moment=moment,
        drawn=drawn,
        prose=prose,
        block=lambda one: type(one).__name__.lower(),
        evidence=numbers.evidence_figure,
        markdown=_markdown,
        lines=_lines,
        without_notice=_without_notice,
    )
    environment.globals.update(NUMBERS=NUMBERS, script=page_script())
    return environment


_STATIC = ("stripewise.present", "static")


class _Script:
    """The script of pages, which draws charts, sorts tables and copies lines.

    A self-contained page contains it, and its content policy allows only this script, by its hash.
    """

    @cached_property
    def _page_code(self) -> str:
        return (files("stripewise.present") / "templates" / "page.js").read_text("utf-8")

    @cached_property
    def text(self) -> Markup:
        """Text of the script, which takes a second to build."""
        import vl_convert as vega

        text = vega.javascript_bundle(self._page_code, vl_version=VEGA_VERSION)
        return Markup(text.replace("</script", "<\\/script"))

    @cached_property
    def compressed(self) -> bytes:
        """The script in gzip format, as servers send it: a third of its size."""
        return gzip.compress(self.text.encode("utf-8"), mtime=0)

    @cached_property
    def digest(self) -> str:
        """Hash of the script, as in a content policy."""
        digest = hashlib.sha256(self.text.encode("utf-8")).digest()
        return f"sha256-{base64.b64encode(digest).decode('ascii')}"

    @cached_property
    def version(self) -> str:
        """Version for the address of the script, computed without building it."""
        made_of = f"{version('vl-convert-python')} {VEGA_VERSION} {self._page_code}"
        return hashlib.sha256(made_of.encode("utf-8")).hexdigest()[:16]


@lru_cache(maxsize=1)
def page_script() -> _Script:
    """Return the script of pages, which is built once per process."""
    return _Script()


def _finalize(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


# Texts and figures in a page.


def prose(text: str) -> Markup:
    """Escape a sentence, and turn text between backticks into code."""
    parts = [escape(printable(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return Markup("`").join(parts)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )


def slug(text: str) -> str:
    """Return a text as a name for a file or an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _without_notice(style: str) -> Markup:
    """Return a style sheet without its licence notice, for pages that users generate."""
    return Markup(style.partition("*/\n")[2])


def _markdown(text: str) -> Markup:
    from stripewise.present.blocks import markdown  # needs an extra

    return markdown(text)


def _lines(text: str) -> Markup:
    """Escape a text of several lines, with only printable characters."""
    return Markup("\n").join(escape(printable(line)) for line in text.splitlines())
