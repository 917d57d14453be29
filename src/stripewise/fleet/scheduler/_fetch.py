# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Asks sacct for the jobs of a time, a day at a time."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from tempfile import TemporaryFile

from stripewise.fleet.scheduler._parsed import Parsed
from stripewise.fleet.scheduler._sacct import FIELDS, READ_BYTES, WRITE_BYTES, parse_sacct
from stripewise.fleet.scheduler._window import Window
from stripewise.slurm import SlurmError, SlurmMissingError, one_line

OF_NEWER = ("restarts", "sluid")
"""Asked of a Slurm that knows them: Restarts came in 23.11 or later, SLUID in 24.11."""
_DROPPED = ("SACCT_", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN", "SLURM_CLUSTERS")
"""What changes the output of sacct.  Source: sacct(1), ENVIRONMENT VARIABLES."""


@dataclass(frozen=True)
class Sacct:
    """How sacct is asked.

    Attributes:
        clusters: As for its option --clusters: names with commas, "all", "" for its own.
        timeout_seconds: For the jobs of one day.
        environment: In which it is run; None: this process's.
    """

    clusters: str = ""
    timeout_seconds: float = 600.0
    environment: Mapping[str, str] | None = None

    def read(self, window: Window) -> Iterator[Parsed]:
        """Return the jobs that waited or ran at any moment of a time, those of a day at a time.

        A job that runs for several days comes with each; what is told last holds.  Without the
        rights of an operator, sacct lists the user's own jobs only where the site hides others;
        of a cluster that slurmdbd does not know it lists nothing.

        Args:
            window: Which time.

        Raises:
            SlurmMissingError: There is no sacct.
            SlurmError: It fails, or does not end in time.
        """
        columns = self._columns()
        for day in window.days():
            yield parse_sacct(self._run(self._words(columns, day)))

    def _words(self, columns: Sequence[str], day: Window) -> list[str]:
        return [
            *("--allusers", "--parsable2", "--duplicates", "--noconvert"),
            f"--delimiter=|{secrets.randbelow(10**9):09}|",
            *([f"--clusters={self.clusters}"] if self.clusters else []),
            f"--starttime={_moment(day.start)}",
            f"--endtime={_moment(day.end)}",
            f"--format={','.join(columns)}",
        ]

    def _columns(self) -> list[str]:
        """Return the columns to ask for: with one that it does not know, sacct fails."""
        known = " ".join(self._run(["--helpformat"])).lower().split()
        further = [name for name in (*OF_NEWER, READ_BYTES, WRITE_BYTES) if name in known]
        return [*FIELDS[:-1], *further, FIELDS[-1]]

    def _run(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the lines of what sacct prints; they may be more than memory is for."""
        given = os.environ if self.environment is None else self.environment
        kept = {name: text for name, text in given.items() if not name.startswith(_DROPPED)}
        path = shutil.which("sacct", path=given.get("PATH"))
        if path is None:
            raise SlurmMissingError(
                "there is no sacct on PATH: read the jobs on a host with Slurm's commands, or "
                "give a file with the output of sacct"
            )
        environment = kept | {"TZ": "UTC", "LC_ALL": "C"}
        with TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    [path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                    env=environment,
                )  # fmt: skip
            except OSError as error:
                raise SlurmError(f"cannot run {path}: {error.strerror or error}") from error
            yield from self._printed(process)
            if process.returncode:
                said.seek(0)
                why = one_line(said.read(1 << 16).decode("utf-8", "replace"))
                raise SlurmError(
                    f"sacct failed: {why or f'exit code {process.returncode}'}; check that "
                    "slurmdbd runs and that this user may ask it"
                )

    def _printed(self, process: subprocess.Popen[bytes]) -> Iterator[str]:
        """Yield lines until a program ends; end it after some time."""
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.timeout_seconds, end)
        timer.start()
        with process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    yield line.decode("utf-8", "replace").removesuffix("\n")
                process.wait()
            finally:
                timer.cancel()
                process.kill()
        if late.is_set():
            raise SlurmError(
                f"sacct did not end within {self.timeout_seconds:g} s; slurmdbd is busy: try again"
            )


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
