# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Identifies the storage and software to which a model applies, and locates stored models."""

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
    """Storage and software to which a model applies.

    Attributes:
        storage: Name that users know: "hopper@1/16" is emulated, "archer2-hdd" described;
            otherwise the type of the file system.
        digest: Digest of the description; without one, of what all nodes know of the file system;
            may be empty.
        stack: Name of a stack in `stripewise.storage.stacks`: "romio-lustre", "cray", "ompio".
    """

    storage: str
    digest: str = ""
    stack: str = ""

    def __str__(self) -> str:
        return f"{self.storage} with {self.stack}" if self.stack else self.storage

    def why_not(self, other: Ground) -> str:
        """Return why a model of this ground does not apply to another; empty if it does."""
        if self.storage != other.storage and (not self.digest or self.digest != other.digest):
            return f"it is of {self.storage}, not of {other.storage}"
        if self.digest != other.digest:
            return f"the description of {self.storage} has changed since it was trained"
        if self.stack != other.stack:
            return f"it is of {self.stack or 'no MPI-IO'}, not of {other.stack or 'no MPI-IO'}"
        return ""


def ground_of(facts: ProgramFacts, storage: Storage | None = None, stack: str = "") -> Ground:
    """Return the ground on which a program runs.

    Args:
        facts: Facts of the program's first run.
        storage: Description of the storage; None if there is none.
        stack: Name of the stack; empty for the one that the facts show.
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


# Directories of models; a separate part because every automatic run needs them.

OWN_VARIABLE, SITE_VARIABLE = "STRIPEWISE_MODELS", "STRIPEWISE_SITE_MODELS"
PACKED_MODELS = "models"
"""Name of the directory of models within an installed pack."""
TABLES = "series"
"""Name of the directory of tables for first runs within a directory of models."""


def own_models() -> Path:
    """Return the user's directory of models."""
    if given := os.environ.get(OWN_VARIABLE):
        return Path(given)
    return data_directory() / "models"


def site_models(policy_paths: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the model directories of policies, the environment and installed packs."""
    named = [*policy_paths, os.environ.get(SITE_VARIABLE, "")]
    packed = [path / PACKED_MODELS for path in installed_packs()]
    return tuple(dict.fromkeys([*(Path(path) for path in named if path), *packed]))
