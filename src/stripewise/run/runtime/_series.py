# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings from the second file of a series on: what the ranks need to agree, and its outcome.

The mapping is that of native/include/stripewise/series.h; a test compares the two.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import is_elf, is_static, temporary_directory
from stripewise.core.errors import StorageError
from stripewise.run.runtime._environment import ENV_SERIES

MAGIC = b"SWSERIES"
VERSION = 1
SLOTS = 4096
HEADER = struct.Struct("<8sIIQ7I12x")
REASONS = (
    "its ranks differ in what they open, or in the hints that they give",
    "the table has no settings for such files",
    "nothing was known of a first file when the next one was opened",
    "a rank could not add the hints to those of the program",
    "not every rank was there when the first file was opened",
)
"""Why opens got no settings; the index is the bit of `reasons` (SW_SERIES_*)."""

_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class SeriesOutcome:
    """What came of the settings for later files of a series.

    Attributes:
        opens: Of files by several ranks, that the ranks talked about.
        adopted: Files that were opened with settings.
        first: Number, in its series, of the first such file; 0 if there is none.
        problem: Why the ranks could not talk at all; "" if they could.
        reasons: Why files got no settings, a clause each.
    """

    opens: int = 0
    adopted: int = 0
    first: int = 0
    problem: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """One line for people."""
        if self.adopted:
            plural = "" if self.adopted == 1 else "s"
            return (
                f"from file {self.first} of a series on, settings for such files were applied "
                f"({self.adopted} file{plural})"
            )
        why = self.problem or "; ".join(self.reasons)
        return f"no settings for a series of files: {why}" if why else ""


@dataclass(frozen=True)
class SeriesMapping:
    """The file by which the ranks of a run know that each of them has the library.

    Attributes:
        path: Of the file; None where the ranks shall leave everything alone.
        problem: Why they shall; "" otherwise.
    """

    path: Path | None
    problem: str = ""

    @classmethod
    @contextmanager
    def begin(cls, command: Sequence[str]) -> Iterator[SeriesMapping]:
        """Make the file for a command, and remove it afterwards.

        Where the command cannot be shown to start ranks that all have the library, or this host
        has no file system in memory, there is none.
        """
        if problem := ranks_not_shown(command):
            yield cls(None, problem)
            return
        try:
            with temporary_directory("series", _MEMORY) as directory:
                path = directory / "series"
                header = HEADER.pack(MAGIC, VERSION, SLOTS, *[0] * 8)
                path.write_bytes(header + bytes(4 * SLOTS))
                yield cls(path)
        except StorageError as error:
            yield cls(None, f"{_MEMORY} cannot be used ({error})")

    @property
    def variables(self) -> dict[str, str]:
        """Variables for the command's environment."""
        return {} if self.path is None else {ENV_SERIES: str(self.path)}

    def read(self) -> SeriesOutcome:
        """Return the outcome; call it when the run is over."""
        if self.path is None:
            return SeriesOutcome(problem=self.problem)
        try:
            fields = HEADER.unpack(self.path.read_bytes()[: HEADER.size])
        except (OSError, struct.error):
            return SeriesOutcome(problem=f"{self.path} was lost during the run")
        _, _, _, _, _, _, _, first, opens, adopted, reasons = fields
        said = tuple(text for bit, text in enumerate(REASONS) if reasons >> bit & 1)
        return SeriesOutcome(opens, adopted, first, "", said)


def ranks_not_shown(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Say why a command may start ranks without the library; "" if every rank will have it.

    Whether they are all there is found out by the ranks themselves; this finds, before they
    start, commands for which they never could be.

    Args:
        command: Of the run.
        environment: Of this process, for tests.
    """
    from stripewise.core import drops_preload, executables_in, is_helper, is_launcher

    given = os.environ if environment is None else environment
    names = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES")
    if any(given.get(name, "1") != "1" for name in names):
        return "the job has several nodes, and ranks can only agree on one"
    if ":" in command:
        return "the command starts several programs"
    programs = [path for path in executables_in(command) if not is_launcher(path.name)]
    for path in programs[:1]:
        if is_helper(path.name) or not is_elf(path):
            return f"{path.name} may start programs that do not have the library"
        if is_static(path):
            return f"{path} is statically linked"
        if why := drops_preload(path):
            return f"{path} {why}"
    return "" if programs else "the command names no program"
