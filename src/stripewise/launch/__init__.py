# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Submit -> durable handle -> poll -> collect -> cancel."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.launch._base import Handle, Launcher, Outcome, Resources, RunRequest
    from stripewise.launch._local import LocalLauncher, sweep
    from stripewise.launch._null import NullLauncher
    from stripewise.launch._registry import (
        DEFAULT_LAUNCHER,
        create_launcher,
        launcher_names,
        register_launcher,
    )
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "DEFAULT_LAUNCHER",
    "Handle",
    "Launcher",
    "LocalLauncher",
    "NullLauncher",
    "Outcome",
    "Resources",
    "RunRequest",
    "create_launcher",
    "launcher_names",
    "register_launcher",
    "sweep",
]
