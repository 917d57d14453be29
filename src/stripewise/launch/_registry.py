# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Launchers by name."""

from __future__ import annotations

from collections.abc import Callable

from stripewise.errors import UsageError
from stripewise.launch._base import Launcher
from stripewise.launch._local import LocalLauncher
from stripewise.launch._null import NullLauncher
from stripewise.runtime import Runtime

DEFAULT_LAUNCHER = "local"

_LAUNCHERS: dict[str, Callable[[Runtime], Launcher]] = {
    LocalLauncher.name: LocalLauncher,
    NullLauncher.name: lambda runtime: NullLauncher(),
}


def create_launcher(name: str, runtime: Runtime) -> Launcher:
    """Return a launcher that preloads a runtime library.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in _LAUNCHERS:
        raise UsageError(f"there is no launcher {name!r}; there are {', '.join(_LAUNCHERS)}")
    return _LAUNCHERS[name](runtime)


def register_launcher(name: str, create: Callable[[Runtime], Launcher]) -> None:
    """Add a launcher from outside of this package."""
    _LAUNCHERS[name] = create
