# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Imports the names that a package exports when they are first used.

The package lists them as imports `NAME as NAME` under `if TYPE_CHECKING:`, which type checkers and
the lint of import directions read; this module parses the same lines as text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def lazy_exports(package: str) -> tuple[Callable[[str], Any], list[str]]:
    """Create `__getattr__` and `__all__` for a package from its `if TYPE_CHECKING:` imports.

    Args:
        package: Name of the package.
    """
    homes = _homes(package)

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        value = getattr(import_module(module), original)
        setattr(sys.modules[package], name, value)
        return value

    return find, sorted(homes)


def _homes(package: str) -> dict[str, tuple[str, str]]:
    """Return each exported name with the module that defines it and its name there."""
    spec = sys.modules[package].__spec__
    source = spec.loader.get_source(package) if spec and spec.loader else ""  # type: ignore[attr-defined]
    return {
        words[-1]: (module, words[0])
        for module, several, one in _IMPORT.findall(source)
        for words in map(str.split, (several or one).split(","))
        if words
    }
