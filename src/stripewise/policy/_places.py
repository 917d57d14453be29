# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where the site and the user keep what they decide: policies, descriptions of storage."""

from __future__ import annotations

import os
from pathlib import Path

SITE_DIRECTORY = Path("/etc/stripewise")


def user_directory() -> Path:
    """Return the user's own directory; it need not exist."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "stripewise"
