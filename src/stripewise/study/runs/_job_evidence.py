# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what tells of a script's runs beside the library: MPI's output and Darshan's logs."""

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
from stripewise.study.workspace import Place, Workspace

_VARIABLES = ("DARSHAN_LOGPATH", "DARSHAN_LOG_PATH", "DARSHAN_LOG_DIR_PATH", "DARSHAN_LOGDIR")
"""Names under which sites and modules tell where logs go.  The first is the usual one of
`--with-logpath-by-env`; the others are those of sites' modules (assumed)."""
_WHOLE_SECOND = 1.0
"""Logs of old versions tell the start without a fraction: it was within that second."""
_BY_NOBODY = dict.fromkeys(("writers", "readers"), "Darshan's log keeps all ranks together")
_LOOK_SECONDS = 1.0
_WAIT_SECONDS = 5.0
"""A log gets its name when MPI_Finalize is over, and may be seen here a moment later."""


def darshan_directory(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return where Darshan's logs go, by a variable or `darshan-config --log-path`.

    None: it is not told, or is not there.
    """
    named = [environment.get(name, "") for name in _VARIABLES]
    for text in (*named, _asked(environment)):
        if os.path.isabs(text) and os.path.isdir(text):
            return Path(text)
    return None


def _asked(environment: Mapping[str, str]) -> str:
    answer = ask(["darshan-config", "--log-path"], timeout_seconds=10, environment=environment)
    return answer.text.strip() if answer.exit_code is not None else ""


@dataclass(frozen=True)
class JobEvidence:
    """Reads what MPI printed and Darshan logged of runs.

    Attributes:
        workspace: Workspace of the runs.
        darshan: Where the site keeps Darshan's logs; None: nowhere.
    """

    workspace: Workspace
    darshan: Path | None = None

    def printed(self, run_id: str, place: Place) -> MpiioOutput:
        """Return what MPI printed of a run: to its outputs, or to a log beside its files."""
        record = place.record_directory
        paths = [record / "stderr", record / "stdout"]
        if asked_to_print(record):
            outputs = self.workspace.outputs(run_id)
            tops = (file for file in outputs.files if os.sep not in file.path)
            paths += [outputs.directory / file.path for file in tops if not file.is_link]
        return read_job_output(paths, place.directory, worked_in(record))

    def logged(self, place: Place, run: Measurement) -> tuple[Evidence, ...]:
        """Return what Darshan logged of the tuned program in a run, in the order of its starts.

        It has several logs if the script starts it several times.
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

    def added(self, run_id: str, place: Place, run: Measurement, absent: bool) -> Measurement:
        """Return a measurement with what the library could not tell.

        Args:
            run_id: Identity of the run.
            place: Place of the run.
            run: What the library told.
            absent: It was not in the program at all.
        """
        if absent and run.status is RunStatus.UNSEEN and (logs := self.logged(place, run)):
            run = from_logs(run, logs, place.directory)
        if not run.ok:
            return run
        printed = self.printed(run_id, place).files
        return replace(run, mpiio=printed, files=with_printed(run.files, printed))


def from_logs(run: Measurement, logs: Sequence[Evidence], directory: Path) -> Measurement:
    """Return a run that the library did not see as Darshan's logs tell of it.

    Programs that the script starts one after the other add up.  How many processes made the
    system calls is not known: of shared files Darshan keeps all ranks together.
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
    """Return, by name, the figures that some log lacks or has in part, and why."""
    names = dict.fromkeys(name for profile in profiles for name in profile.missing)
    return {name: reasons(one.missing.get(name, "") for one in profiles) for name in names}


def largest(logs: Sequence[Evidence]) -> Evidence:
    """Return the log of the program that moved most bytes."""
    return max(logs, key=lambda one: one.profile.read_bytes + one.profile.write_bytes)


def _program(evidence: Evidence) -> str:
    """Return the name of the program that a log is of."""
    words = evidence.profile.command.split()
    return os.path.basename(words[0]) if words else ""
