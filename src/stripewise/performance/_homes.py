# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directories of models; apart from their reading, since every adopted run looks there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stripewise.policy import installed_packs

OWN_VARIABLE, SITE_VARIABLE = "STRIPEWISE_MODELS", "STRIPEWISE_SITE_MODELS"
PACKED_MODELS = "models"
"""The directory of models in that of an installed pack."""
TABLES = "series"
"""The directory, in one of models, of tables of settings for first runs."""


def own_models() -> Path:
    """Return the user's directory of models."""
    if given := os.environ.get(OWN_VARIABLE):
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if not os.path.isabs(base):
        base = os.devnull
    return Path(base) / "stripewise" / "models"


def site_models(policy_paths: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the directories of policies, of the environment, and of installed packs."""
    named = [*policy_paths, os.environ.get(SITE_VARIABLE, "")]
    packed = [path / PACKED_MODELS for path in installed_packs()]
    return tuple(dict.fromkeys([*(Path(path) for path in named if path), *packed]))
