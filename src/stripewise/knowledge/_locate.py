# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the stores are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stripewise.knowledge._store import Store

OWN_VARIABLE = "STRIPEWISE_KNOWLEDGE"
SITE_VARIABLE = "STRIPEWISE_SITE_KNOWLEDGE"


def own_path() -> Path:
    """Return where the user's own store is."""
    if given := os.environ.get(OWN_VARIABLE):
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if not os.path.isabs(base):  # a user without a home: nothing can be kept, and that is said
        base = os.devnull
    return Path(base) / "stripewise" / "knowledge.sqlite"


def site_paths(policy_paths: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return where the site's stores are: what policies name, then the environment's."""
    named = [*policy_paths, os.environ.get(SITE_VARIABLE, "")]
    return tuple(dict.fromkeys(Path(path) for path in named if path))


def own_store() -> Store:
    """Return the user's own store."""
    return Store(own_path())


def site_stores(policy_paths: Sequence[str] = ()) -> tuple[Store, ...]:
    """Return the site's stores, which are never written to."""
    return tuple(Store(path, read_only=True) for path in site_paths(policy_paths))
