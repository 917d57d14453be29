# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A campaign from wherever it is: its directory, or a file of the exchange format."""

from __future__ import annotations

from pathlib import Path

from stripewise.bench._campaign import Campaign
from stripewise.bench._exchange import read_exchange
from stripewise.errors import UsageError


def read_campaign(path: Path) -> Campaign:
    """Read a campaign.

    Args:
        path: A campaign's directory, or a file that `stripewise bench export` wrote.

    Raises:
        UsageError: There is none, or it cannot be read.
        StripewiseError: The directory's journal is damaged.
    """
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such campaign: give its directory, or a file that "
            "`stripewise bench export` wrote"
        )
    if not path.is_dir():
        return read_exchange(path)
    from stripewise.bench._directory import read_directory

    return read_directory(path)
