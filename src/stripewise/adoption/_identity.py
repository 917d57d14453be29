# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which program a command runs, and where: known before it starts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.knowledge import Profiles
from stripewise.machines import find_mount
from stripewise.runtime import program_file, program_name, program_word, ranks_of_command

if TYPE_CHECKING:
    from stripewise.emulation import EmulatedStorage

_ENV_RANKS = ("SLURM_NTASKS", "PBS_NP")


@dataclass(frozen=True)
class Identity:
    """A program that is about to run.

    Attributes:
        program: Its name.
        file: Its file; None where that is not known.
        executable_sha256: Of that file; "" where it is not known.
        n_ranks: That the command asks for; 1 where it does not say.
        ground: Digest of ranks and storage.
        identity: Digest of all of it and the arguments.
    """

    program: str
    file: Path | None
    executable_sha256: str
    n_ranks: int
    ground: str
    identity: str


def identify(
    command: Sequence[str],
    directory: Path,
    profiles: Profiles,
    *,
    storage: EmulatedStorage | None = None,
    sync: bool = False,
) -> Identity:
    """Find out which program a command runs.

    Args:
        command: To be run.
        directory: It runs in.
        profiles: Keep digests of executables.
        storage: That is emulated.
        sync: Whether it waits for the storage.
    """
    file = program_file(command, directory)
    executable = profiles.digest_of(file) if file is not None else ""
    ranks = ranks_of_command(command) or next(filter(None, map(os.environ.get, _ENV_RANKS)), "")
    if storage is not None:
        place = (storage.identity, storage.digest)
    else:
        mount = find_mount(directory)
        place = (mount.kind, mount.source)
    ground = _digest("1", str(ranks), str(sync), *place)
    arguments = _after(command, program_word(command))
    name = program_name(command)
    n_ranks = int(ranks) if str(ranks).isdigit() else 1
    whole = _digest(ground, executable, *arguments)
    return Identity(name, file, executable, n_ranks, ground, whole)


def _after(command: Sequence[str], word: str) -> Sequence[str]:
    return command[list(command).index(word) + 1 :] if word in command else ()


def _digest(*words: str) -> str:
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:32]
