# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Identifies the storage and software a model holds for, and where models are kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core import ProgramFacts, data_directory, installed_packs

if TYPE_CHECKING:
    from stripewise.storage.machines import Storage


@dataclass(frozen=True)
class Ground:
    """Where a model holds.

    Attributes:
        storage: As users name it: "hopper@1/16" is emulated, "archer2-hdd" described; otherwise
            the type of the file system.
        digest: Digest of the description; of a file system without one, what nodes have in common
            of it, or "".
        stack: A name of `stripewise.storage.stacks`: "romio-lustre", "cray", "ompio".
    """

    storage: str
    digest: str = ""
    stack: str = ""

    def __str__(self) -> str:
        return f"{self.storage} with {self.stack}" if self.stack else self.storage

    def why_not(self, other: Ground) -> str:
        """Say why a model of this ground does not hold on another; "" if it does."""
        if self.storage != other.storage and (not self.digest or self.digest != other.digest):
            return f"it is of {self.storage}, not of {other.storage}"
        if self.digest != other.digest:
            return f"the description of {self.storage} has changed since it was trained"
        if self.stack != other.stack:
            return f"it is of {self.stack or 'no MPI-IO'}, not of {other.stack or 'no MPI-IO'}"
        return ""


def ground_of(facts: ProgramFacts, storage: Storage | None = None, stack: str = "") -> Ground:
    """Return the ground that a program runs on.

    Args:
        facts: Facts of its first run.
        storage: Its description; None: there is none.
        stack: "": what the facts tell.
    """
    from stripewise.storage.simulation import stack_of

    return ground_on(storage, facts.filesystem, stack or stack_of(facts))


def ground_on(storage: Storage | None, filesystem: str, stack: str = "") -> Ground:
    """Return the ground of a described storage, or of a type of file system without one."""
    from stripewise.storage.machines import description_digest

    if storage is None:
        return Ground(filesystem, stack=stack)
    slow = f"@1/{storage.slowdown:g}" if storage.slowdown != 1 else ""
    return Ground(f"{storage.name}{slow}", description_digest(storage), stack)


# Directories of models; apart from their reading, since every adopted run looks there.

OWN_VARIABLE, SITE_VARIABLE = "STRIPEWISE_MODELS", "STRIPEWISE_SITE_MODELS"
PACKED_MODELS = "models"
"""The directory of models in that of an installed pack."""
TABLES = "series"
"""The directory, in one of models, of tables of settings for first runs."""


def own_models() -> Path:
    """Return the user's directory of models."""
    if given := os.environ.get(OWN_VARIABLE):
        return Path(given)
    return data_directory() / "models"


def site_models(policy_paths: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the directories of policies, of the environment, and of installed packs."""
    named = [*policy_paths, os.environ.get(SITE_VARIABLE, "")]
    packed = [path / PACKED_MODELS for path in installed_packs()]
    return tuple(dict.fromkeys([*(Path(path) for path in named if path), *packed]))
