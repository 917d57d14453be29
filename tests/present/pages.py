# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every page must be: well-formed, self-contained, with words for each picture."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link", "source"}


class Page(HTMLParser):
    """Checks that tags nest, and collects them with their attributes and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def without_script(page: str) -> str:
    """The page without the script that draws its charts."""
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def assert_self_contained(page: str) -> None:
    """No reference leaves the page; pictures are part of it."""
    for tag, attributes in Page(page).tags:
        assert attributes.get("type") != "module"
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in {"href", "xlink:href", "action"}:
                assert (value or "").startswith("#")
            if name in {"src", "srcset"}:
                assert (value or "").startswith("data:image/png;base64,")
    plain = without_script(page)
    assert "@import" not in plain
    assert not re.search(r"url\((?!#)", plain)


def assert_accessible(page: str) -> None:
    """Ids are unique and resolve; pictures have words, tables names and headers."""
    tags = Page(page).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for place, (tag, attributes) in enumerate(tags):
        if tag == "table":
            assert "aria-labelledby" in attributes or tags[place + 1][0] == "caption"
        for name in ("href", "aria-labelledby"):
            if name in attributes:
                assert (attributes[name] or "").lstrip("#") in ids
        if tag == "svg" or attributes.get("role") == "img":
            named = attributes.get("aria-label") or attributes.get("aria-labelledby")
            assert named or attributes.get("aria-hidden")
        if tag == "img":
            assert "alt" in attributes
        if tag == "th":
            assert attributes["scope"] in {"row", "col", "colgroup"}
    names = [tag for tag, _ in tags]
    assert names.count("h1") == 1
