# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the pages of the portal: each makes its blocks from the database for one viewer."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from stripewise.centre.portal.pages._base import Page


def all_pages() -> tuple[Page, ...]:
    """Return every page that a module of this package defines.

    They are in the order in which addresses must be compared: "/programs/summary" comes before
    "/programs/{program}", since the brace is sorted after all letters.
    """
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    found = [kind() for kind in _members(Page) if kind.__module__.startswith(f"{__name__}.")]
    return tuple(sorted(found, key=lambda page: page.path))


def _members(kind: type) -> Iterator[Any]:
    """Yield the subclasses of a class that have an address; the others are base classes."""
    for one in kind.__subclasses__():
        if "path" in vars(one):
            yield one
        yield from _members(one)
