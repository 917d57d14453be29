# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Turns Markdown into safe HTML: without embedded HTML, images, or addresses that run scripts."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from stripewise.present._printable import printable

_READER = MarkdownIt("js-default", {"linkify": False, "typographer": False}).disable("image")
"""The preset that markdown-it recommends for untrusted text: `html` is off, and only http, https,
mailto and relative addresses become links."""
_BELOW_TITLE = {"h1": "h2", "h2": "h3", "h3": "h4", "h4": "h5", "h5": "h6"}


def markdown(text: str) -> Markup:
    """Return a text as HTML, with its headings ranked below the title of the page."""
    shown = "\n".join(printable(line.replace("\t", "    ")) for line in text.splitlines())
    tokens = _READER.parse(shown)
    for token in tokens:
        _adapt(token)
        for part in token.children or ():
            _adapt(part)
    return Markup(_READER.renderer.render(tokens, _READER.options, {}))


def _adapt(token: Token) -> None:
    token.tag = _BELOW_TITLE.get(token.tag, token.tag)
    if token.type == "link_open":
        token.attrSet("rel", "noreferrer nofollow")
    token.attrs.pop("style", None)  # for cells of tables, which the content policy forbids
