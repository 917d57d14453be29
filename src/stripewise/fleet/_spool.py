# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs report themselves: one JSON document each in a directory that everybody can write to.

The directory is sticky (mode 1777), so that nobody can change or remove somebody else's report,
and the owner of the file says whose it is.  Nothing here may disturb the job.
"""

from __future__ import annotations

import json
import os
import pwd
import stat
import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stripewise.diagnosis import diagnose, profile_to_json
from stripewise.machines import storage_of_files
from stripewise.model import Configuration, Evidence
from stripewise.patterns import find_patterns
from stripewise.text import finite

FORMAT = "stripewise-report"
VERSION = 1
SUFFIX = ".report.json"
_MOST_BYTES = 4 << 20
_MOST_FILES = 1000
_WAIT_SECONDS = 10.0


def report_of(
    evidence: Evidence, elapsed_seconds: float, exit_code: int, configuration: Configuration
) -> dict[str, Any]:
    """Return the report of a run that has just ended.

    Args:
        evidence: All that its containers tell.
        elapsed_seconds: Wall clock of the command.
        exit_code: Of the command; negative: minus the signal.
        configuration: That it had.
    """
    from stripewise.formats import get

    end = time.time()
    uid = os.geteuid()
    text = get("toml").write(configuration).text if configuration != Configuration() else ""
    return {
        "format": FORMAT,
        "version": VERSION,
        "cluster": os.environ.get("SLURM_CLUSTER_NAME", "")[:64],
        "job_id": os.environ.get("SLURM_JOB_ID", "")[:32],
        "user": _name(uid),
        "uid": uid,
        "start": end - elapsed_seconds,
        "end": end,
        "exit_code": exit_code,
        "settings": {"toml": text} if text else {},
        "profile": _profile(evidence),
    }


def leave_report(report: Mapping[str, Any], directory: Path) -> str:
    """Write a report into a spool, whole or not at all; return why it is not there, or "".

    A storage that does not answer is waited for 10 s.
    """
    problems: list[str] = []
    done = threading.Event()

    def write() -> None:
        try:
            _write(report, directory)
        except OSError as error:
            problems.append(error.strerror or str(error))
        finally:
            done.set()

    threading.Thread(target=write, daemon=True).start()
    if not done.wait(_WAIT_SECONDS):
        problems.append(f"it does not answer within {_WAIT_SECONDS:g} s")
    return f"the run is not reported: {directory}: {problems[0]}" if problems else ""


def _write(report: Mapping[str, Any], directory: Path) -> None:
    mode = os.stat(directory).st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise OSError("everybody could remove reports in it: its mode must be 1777")
    data = json.dumps(finite(report), allow_nan=False).encode()
    name = f"{int(report['end'])}-{uuid.uuid4().hex}"
    hidden, path = directory / f".{name}", directory / f"{name}{SUFFIX}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(hidden, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.rename(hidden, path)
    except BaseException:
        os.unlink(hidden)
        raise


def _profile(evidence: Evidence) -> dict[str, Any]:
    """Return the profile; of many files only those that took most time."""
    profile = evidence.profile
    patterns = find_patterns(evidence.accesses)
    costs = storage_of_files(profile.paths, profile.hosts).costs
    diagnosis = diagnose(evidence, patterns, costs)
    number = _MOST_FILES
    while True:
        document = profile_to_json(diagnosis, patterns, files=number)
        if number == 0 or len(json.dumps(finite(document))) <= _MOST_BYTES:
            return document
        number //= 2


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""
