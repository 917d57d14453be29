# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns among the arguments of commands that take other things as well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.errors import StripewiseError

if TYPE_CHECKING:
    from stripewise.bench import Campaign

_MARK = b'"stripewise-campaign"'
_HEAD = 4096


def is_campaign(path: Path) -> bool:
    """Whether a path is that of a campaign: its directory, or a file of the exchange format."""
    if path.is_dir():
        return True
    from stripewise.inputs import open_input

    try:
        with open_input(path) as file:
            return _MARK in file.read(_HEAD)
    except (OSError, StripewiseError):
        return False


def read_campaigns(paths: list[Path]) -> list[Campaign]:
    """Read campaigns.

    Raises:
        StripewiseError: One cannot be read.
    """
    from stripewise.bench import read_campaign

    return [read_campaign(path) for path in paths]
