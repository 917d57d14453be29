# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench`: benchmark campaigns."""

from __future__ import annotations

import click

from stripewise.cli._common import examples


@click.group(
    epilog=examples(
        "stripewise bench list",
        "stripewise bench run array3d --in /scratch/me --nodes 1,2,4 --ranks-per-node 32",
        "stripewise bench report array3d.campaign",
    ),
)
def command() -> None:
    """Measure what a storage can do: benchmark campaigns, their limits and comparisons."""
