# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the tier of Slurm's burst_buffer/lua, whose lines the site's script interprets.

Source: Slurm's Burst Buffer Guide; documented.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.present import printable
from stripewise.run.tiers._base import (
    StoragePool,
    Tier,
    TierRequest,
    burst_size_text,
    capacity_of,
    options_of,
)

PLACEHOLDERS = ("capacity", "nodes", "pool", "stage_in", "stage_out")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class LuaTier(Tier):
    """A burst buffer of the site's own script, requested with the site's own lines."""

    name = "lua"
    summary = "Slurm's burst_buffer/lua: the site's lines, from a template"
    markers = ("#BB_LUA",)
    needs_pool = False

    def directives(self, request: TierRequest, pool: StoragePool | None) -> tuple[str, ...]:
        """Return the template's lines, without staging that is not requested."""
        values = {
            "capacity": burst_size_text(self.requested_bytes(request, pool)),
            "nodes": str(request.nodes),
            "pool": request.pool or (pool.name if pool else ""),
            "stage_in": str(request.stage_in or ""),
            "stage_out": str(request.stage_out or ""),
        }
        filled = (_fill(line, values) for line in request.template)
        return (*filter(None, filled), *request.kept)

    def directory_variable(self, request: TierRequest) -> str:
        """Return the variable that the site's script sets."""
        return request.variable

    def directory_text(self, request: TierRequest) -> str:
        """Return the directory of that variable, or the one in the site's lines."""
        return super().directory_text(request) or request.directory

    def read(self, words: Sequence[Sequence[str]]) -> TierRequest | None:
        """Return a request whose template is the script's own lines."""
        lines = [line for line in words if line and line[0] in self.markers]
        if not lines:
            return None
        options = options_of([word for line in lines for word in line[1:]])
        return TierRequest(
            pool=options.get("pool", ""),
            capacity_bytes=capacity_of(options),
            template=tuple(" ".join(map(_opened, line)) for line in lines),
        )

    def check(self, request: TierRequest, pools: Sequence[StoragePool]) -> StoragePool | None:
        """Check the request, its template, and its variable or directory."""
        if not request.template:
            raise UsageError("burst_buffer/lua needs the site's lines: give a template")
        for line in request.template:
            _check_line(line)
        if not (_VARIABLE.fullmatch(request.variable) or request.directory.startswith("/")):
            raise UsageError(
                f"{printable(request.variable or request.directory)!r} is neither an environment "
                "variable nor an absolute path: name the variable in which the site's script "
                "leaves the directory of the burst buffer, or that directory"
            )
        placeholders = set(_PLACEHOLDER.findall(" ".join(request.template)))
        sized = placeholders & {"capacity", "nodes"}
        return super().check(request, pools if sized or request.nodes else ())


def read_template(name: str, directory: Path = Path()) -> tuple[str, ...]:
    """Return the lines of a site's template.

    Args:
        name: Path of its file, as the user gave it.
        directory: Directory to which the path is relative.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        text = (directory / name).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or "no text in UTF-8"
        raise UsageError(
            f"--template {printable(name)}: {why}; give a file with the site's lines"
        ) from None
    return tuple(line for line in text.splitlines() if line.strip())


def _check_line(line: str) -> None:
    if not line.startswith("#") or "\n" in line:
        raise UsageError(f"{line!r}: a line of the template begins with # (such as #BB_LUA)")
    for name in _PLACEHOLDER.findall(line):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise UsageError(f"{{{name}}} in the template is not known; there are {known}")


def _fill(line: str, values: dict[str, str]) -> str:
    """Return a line with its values filled in; empty if it stages and nothing is to be staged."""
    names = _PLACEHOLDER.findall(line)
    if any(name.startswith("stage_") and not values.get(name) for name in names):
        return ""
    return _PLACEHOLDER.sub(lambda found: values.get(found.group(1), found.group()), line)


def _opened(word: str) -> str:
    """Return a word of a script escaped for a template."""
    key, equals, value = word.partition("=")
    return f"{key}={{{key}}}" if equals and value and key in ("capacity", "pool") else word
