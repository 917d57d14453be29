# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Locates the directories in which site and user keep policies, descriptions and packs.

These are policies, descriptions of storage systems, and packs of knowledge.
"""

from __future__ import annotations

import os
from pathlib import Path

SITE_DIRECTORY = Path("/etc/stripewise")
SITE_PACKS = Path("/var/lib/stripewise/packs")
SITE_PACKS_VARIABLE = "STRIPEWISE_SITE_PACKS"


SITE_POLICY = SITE_DIRECTORY / "policy.toml"


def user_policy_path() -> Path:
    """Return the path at which the user's own policy is expected."""
    return user_directory() / "policy.toml"


def has_policy() -> bool:
    """Return whether the site or the user has a policy, without the cost of reading one."""
    return os.path.lexists(SITE_POLICY) or os.path.lexists(user_policy_path())


def user_directory() -> Path:
    """Return the user's configuration directory, which need not exist."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "stripewise"


def data_directory() -> Path:
    """Return the directory of the user's own data, which need not exist.

    For a user without a home directory, it is a path at which nothing can be stored.
    """
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if not os.path.isabs(base):
        base = os.devnull
    return Path(base) / "stripewise"


def user_packs() -> Path:
    """Return the directory of packs that the user installed, which need not exist."""
    return data_directory() / "packs"


def site_packs() -> Path:
    """Return the directory of packs installed for all users, which need not exist."""
    return Path(os.environ.get(SITE_PACKS_VARIABLE) or SITE_PACKS)


def installed_packs() -> tuple[Path, ...]:
    """Return the directories of all installed packs, the user's own first, sorted by name."""
    return tuple(path for home in (user_packs(), site_packs()) for path in packs_in(home))


def packs_in(home: Path) -> list[Path]:
    """Return the directories of packs in a directory, sorted by name; none if it is unreadable."""
    try:
        names = sorted(name for name in os.listdir(home) if not name.startswith("."))
    except OSError:
        return []
    return [home / name for name in names if os.path.isdir(home / name)]
