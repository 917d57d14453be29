# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a site's defaults as a module file (Tcl or Lua) or a snippet for /etc/profile.d.

Variables set by users are not changed, and each variable has its figure as a comment.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from shlex import quote

from stripewise.bench.advice._advise import AdviceBook
from stripewise.core.errors import UsageError
from stripewise.present import printable

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_WIDTH = 96


def module_text(book: AdviceBook, *, lua: bool = False) -> str:
    """Return the text of a module file.

    Args:
        book: All advice.
        lua: Whether to write Lua for Lmod; otherwise Tcl, for Lmod and Environment Modules.

    Raises:
        UsageError: No advice can be made the default of a site.
    """
    return "\n".join(_lua(book) if lua else _tcl(book)) + "\n"


def profile_text(book: AdviceBook) -> str:
    """Return a snippet for /etc/profile.d in POSIX shell.

    Raises:
        UsageError: No advice can be made the default of a site.
    """
    return "\n".join(_shell(book)) + "\n"


def _defaults(book: AdviceBook) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and sentence of each default.

    Raises:
        UsageError: There is no default.
    """
    if not book.defaults:
        raise UsageError(
            "no advice suits as a site's default for everybody: every setting either depends on "
            "the job or gains nothing; use --format markdown for a page that users read"
        )
    for name, (value, advice) in book.defaults.items():
        if _NAME.fullmatch(name) and printable(value) == value:
            yield name, value, advice.sentence


def _comment(mark: str, text: str) -> Iterator[str]:
    for line in textwrap.wrap(printable(text), _WIDTH - len(mark) - 1, break_on_hyphens=False):
        yield f"{mark} {line}"


def _head(mark: str, book: AdviceBook) -> Iterator[str]:
    yield from _comment(
        mark, f"I/O defaults for {book.basis.storage.name}, by `stripewise bench advise`."
    )
    yield from _comment(mark, "A variable that is set already stays as it is.")


def _tcl(book: AdviceBook) -> Iterator[str]:
    yield "#%Module1.0"
    yield from _head("#", book)
    yield f"module-whatis {_braced('I/O defaults for ' + book.basis.storage.name)}"
    for name, value, why in _defaults(book):
        yield ""
        yield from _comment("#", why)
        # On unloading, setenv removes the variable, so it is set only if it still has this value.
        yield f"if {{![info exists ::env({name})] || $::env({name}) eq {_braced(value)}}} {{"
        yield f"    setenv {name} {_braced(value)}"
        yield "}"


def _lua(book: AdviceBook) -> Iterator[str]:
    yield from _head("--", book)
    yield f"whatis({_lua_text('I/O defaults for ' + book.basis.storage.name)})"
    for name, value, why in _defaults(book):
        yield ""
        yield from _comment("--", why)
        yield f"local found = os.getenv({_lua_text(name)})"
        yield f"if found == nil or found == {_lua_text(value)} then"
        yield f"    setenv({_lua_text(name)}, {_lua_text(value)})"
        yield "end"


def _shell(book: AdviceBook) -> Iterator[str]:
    yield from _head("#", book)
    for name, value, why in _defaults(book):
        yield ""
        yield from _comment("#", why)
        yield f'if [ -z "${{{name}+set}}" ]; then'
        yield f"    export {name}={quote(value)}"
        yield "fi"


def _braced(text: str) -> str:
    """Return a quoted word of Tcl without substitutions."""
    plain = printable(text)
    safe = re.sub(r"[\\{}]", "", plain)
    return "{" + safe + "}"


def _lua_text(text: str) -> str:
    """Return a string of Lua; its escapes of ASCII equal those of JSON."""
    return json.dumps(re.sub(r"[^\x20-\x7e]", "?", printable(text)))
