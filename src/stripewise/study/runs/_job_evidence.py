# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads evidence about a script's runs besides the library's: MPI's output, Darshan's logs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.core import FailureCause, Measurement, MpiioOutput, RunStatus, reasons
from stripewise.core.errors import StripewiseError
from stripewise.evidence.facts import observed_files
from stripewise.evidence.readers import (
    find_job_logs,
    logs_of_steps,
    read_evidence,
    read_job_output,
    with_printed,
)
from stripewise.evidence.trace import Evidence, RunProfile, relocated
from stripewise.run import ask
from stripewise.run.launch import asked_to_print, job_of, worked_in
from stripewise.study.workspace import RunLocation, Workspace

_VARIABLES = ("DARSHAN_LOGPATH", "DARSHAN_LOG_PATH", "DARSHAN_LOG_DIR_PATH", "DARSHAN_LOGDIR")
"""Variables with which sites and modules specify the directory of logs.  The first is the usual
one of `--with-logpath-by-env`; the others are those of sites' modules (assumed).
"""
_WHOLE_SECOND = 1.0
"""Resolution of the start time in logs of old versions, in seconds."""
_BY_NOBODY = dict.fromkeys(("writers", "readers"), "Darshan's log keeps all ranks together")
_LOOK_SECONDS = 1.0
_WAIT_SECONDS = 5.0
"""Time to wait for a log: it gets its name after MPI_Finalize and may appear here later."""


def darshan_directory(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the directory of Darshan's logs, from a variable or `darshan-config --log-path`.

    None if it is not specified or does not exist.
    """
    named = [environment.get(name, "") for name in _VARIABLES]
    for text in (*named, _configured_directory(environment)):
        if os.path.isabs(text) and os.path.isdir(text):
            return Path(text)
    return None


def _configured_directory(environment: Mapping[str, str]) -> str:
    answer = ask(["darshan-config", "--log-path"], timeout_seconds=10, environment=environment)
    return answer.text.strip() if answer.exit_code is not None else ""


@dataclass(frozen=True)
class JobEvidence:
    """Reads MPI's output and Darshan's logs of runs.

    Attributes:
        workspace: Workspace of the runs.
        darshan: Directory of the site's Darshan logs; None if there is none.
    """

    workspace: Workspace
    darshan: Path | None = None

    def printed(self, run_id: str, place: RunLocation) -> MpiioOutput:
        """Return what MPI printed in a run, in its outputs or in a log beside its files."""
        record = place.record_directory
        paths = [record / "stderr", record / "stdout"]
        if asked_to_print(record):
            outputs = self.workspace.outputs(run_id)
            tops = (file for file in outputs.files if os.sep not in file.path)
            paths += [outputs.directory / file.path for file in tops if not file.is_link]
        return read_job_output(paths, place.directory, worked_in(record))

    def logged(self, place: RunLocation, run: Measurement) -> tuple[Evidence, ...]:
        """Return Darshan's logs of the tuned program in a run, in order of their start.

        There are several logs if the script starts the program several times.
        """
        number = job_of(place.record_directory)
        if self.darshan is None or not number:
            return ()
        deadline = time.monotonic() + _WAIT_SECONDS
        while not (found := tuple(self._logs(number, run))) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        elsewhere = worked_in(place.record_directory)
        if elsewhere is not None:
            found = tuple(relocated(one, elsewhere, place.directory) for one in found)
        names = {os.path.basename(word) for word in place.command}
        return tuple(one for one in found if _program(one) in names) or found

    def _logs(self, number: int, run: Measurement) -> Iterator[Evidence]:
        """Yield the logs of programs that began and ended within a run; the job may have more."""
        assert self.darshan is not None
        begin, end = run.started_unix_seconds, run.started_unix_seconds + run.elapsed_seconds
        try:
            logs = find_job_logs(self.darshan, number, begin, end)
        except StripewiseError:
            return
        for log in logs_of_steps(logs, {0: (begin, end)})[0]:
            try:
                found = read_evidence(log.path)
            except StripewiseError:
                continue
            start = found.profile.start
            if begin < start + (_WHOLE_SECOND if start.is_integer() else 0.0) and start <= end:
                yield found

    def added(
        self, run_id: str, place: RunLocation, run: Measurement, absent: bool
    ) -> Measurement:
        """Return a measurement completed with what the library could not observe.

        Args:
            run_id: Identity of the run.
            place: Place of the run.
            run: Measurement by the library.
            absent: Whether the library was not in the program at all.
        """
        if absent and run.status is RunStatus.UNSEEN and (logs := self.logged(place, run)):
            run = from_logs(run, logs, place.directory)
        if not run.ok:
            return run
        printed = self.printed(run_id, place).files
        return replace(run, mpiio=printed, files=with_printed(run.files, printed))


def from_logs(run: Measurement, logs: Sequence[Evidence], directory: Path) -> Measurement:
    """Return the measurement of a run according to Darshan's logs, without the library.

    The figures of programs that the script starts one after another are added.  The number of
    processes that made system calls is unknown: Darshan merges all ranks for shared files.
    """
    profiles = [one.profile for one in logs]
    files = [
        replace(file, writers=0, readers=0, missing={**file.missing, **_BY_NOBODY})
        for profile in profiles
        for file in observed_files(profile, directory)
    ]
    return replace(
        run,
        status=RunStatus.OK,
        cause=FailureCause.NONE,
        message="",
        io_seconds=sum(profile.io_seconds for profile in profiles),
        read_bytes=sum(profile.read_bytes for profile in profiles),
        write_bytes=sum(profile.write_bytes for profile in profiles),
        missing=_missing(profiles),
        files=tuple(sorted(files, key=lambda one: (-one.read_bytes - one.write_bytes, one.path))),
    )


def _missing(profiles: Sequence[RunProfile]) -> dict[str, str]:
    """Return the names of figures that are missing or incomplete in a log, with the reason."""
    names = dict.fromkeys(name for profile in profiles for name in profile.missing)
    return {name: reasons(one.missing.get(name, "") for one in profiles) for name in names}


def largest(logs: Sequence[Evidence]) -> Evidence:
    """Return the log of the program that moved most bytes."""
    return max(logs, key=lambda one: one.profile.read_bytes + one.profile.write_bytes)


def _program(evidence: Evidence) -> str:
    """Return the name of the program of a log."""
    words = evidence.profile.command.split()
    return os.path.basename(words[0]) if words else ""
