# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names the places where the site and the user keep policies, descriptions and packs.

Policies, descriptions of storage, packs of knowledge.
"""

from __future__ import annotations

import os
from pathlib import Path

SITE_DIRECTORY = Path("/etc/stripewise")
SITE_PACKS = Path("/var/lib/stripewise/packs")
SITE_PACKS_VARIABLE = "STRIPEWISE_SITE_PACKS"


SITE_POLICY = SITE_DIRECTORY / "policy.toml"


def user_policy_path() -> Path:
    """Return where the user's own policy is looked for."""
    return user_directory() / "policy.toml"


def has_policy() -> bool:
    """Whether the site or the user has a policy at all; to read one takes a while."""
    return os.path.lexists(SITE_POLICY) or os.path.lexists(user_policy_path())


def user_directory() -> Path:
    """Return the user's own directory; it need not exist."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "stripewise"


def data_directory() -> Path:
    """Return where the user's own data are; it need not exist.

    Of a user without a home it is a place where nothing can be kept.
    """
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if not os.path.isabs(base):
        base = os.devnull
    return Path(base) / "stripewise"


def user_packs() -> Path:
    """Return where packs that the user installed are; it need not exist."""
    return data_directory() / "packs"


def site_packs() -> Path:
    """Return where packs for everybody are installed; it need not exist."""
    return Path(os.environ.get(SITE_PACKS_VARIABLE) or SITE_PACKS)


def installed_packs() -> tuple[Path, ...]:
    """Return the directory of each installed pack: the user's own first, each by name."""
    return tuple(path for home in (user_packs(), site_packs()) for path in packs_in(home))


def packs_in(home: Path) -> list[Path]:
    """Return the directories of the packs in a place, by name; none where it cannot be read."""
    try:
        names = sorted(name for name in os.listdir(home) if not name.startswith("."))
    except OSError:
        return []
    return [home / name for name in names if os.path.isdir(home / name)]
