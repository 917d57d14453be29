# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes and reads the reports that `stripewise run` leaves in a spool, one for each run."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from stripewise.centre.database._records import user_name
from stripewise.centre.database.ingest._base import Feed, InputReading
from stripewise.centre.database.ingest._profile_record import Origin, clean, documents, record_of
from stripewise.core import Configuration
from stripewise.core.errors import TraceError
from stripewise.core.inputs import REPORT, parse_json, read_input
from stripewise.evidence.trace import Evidence
from stripewise.present import finite

_INTEGER = {"type": ["integer", "null"], "minimum": 0, "maximum": (1 << 62) - 1}
_TIME = {"type": ["number", "null"], "minimum": 0, "maximum": 1 << 40}
_NAME = {"type": "string", "maxLength": 255}


class ReportFeed(Feed):
    """A report of one run; its user is the owner of the file."""

    name = "report"
    summary = "a report of `stripewise run` (STRIPEWISE_REPORTS)"
    budget = REPORT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether an input begins with the name of the report format."""
        return head.startswith(f'{{"format": "{FORMAT}"'.encode())

    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read a report.

        Raises:
            TraceError: The input is not a valid report.
        """
        try:
            data = parse_json(read_input(path, REPORT))
        except (OSError, ValueError) as error:
            raise TraceError(f"{path}: no report of a run: {error}") from error
        check_report(data, str(path))
        document = {**data["profile"], "job_id": data["job_id"] or ""}
        where = replace(
            origin, kind="report", cluster=origin.cluster or clean(data["cluster"], 64)
        )
        try:
            record = record_of(
                document,
                where,
                user=clean(data["user"]),
                uid=data["uid"],
                start_at=data["start"],
                end_at=data["end"],
            )
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise TraceError(
                f"{path}: no profile of a run: a figure is missing: {error}"
            ) from error
        return InputReading((record,))


def check_report(data: Any, name: str) -> None:
    """Raise an error if data are not a valid report.

    Raises:
        TraceError: The data differ from the schema; the message states where.
    """
    import jsonschema

    error = jsonschema.exceptions.best_match(_validator().iter_errors(data))
    if error is not None:
        where = ".".join(map(str, error.absolute_path)) or "the document"
        raise TraceError(
            f"{name}: no report of version {VERSION}: {where}: {error.message[:200]}: report "
            "with the same version of Stripewise"
        )


def schema() -> dict[str, Any]:
    """Return the JSON schema of a report."""
    text = (files("stripewise.centre.database.ingest") / "profile.schema.json").read_text("utf-8")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": False,
        "required": ["format", "version", "cluster", "job_id", "user", "uid", "start", "end",
                     "exit_code", "profile", "settings"],
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "cluster": {"type": "string", "maxLength": 64},
            "job_id": {"type": "string", "maxLength": 32},
            "user": _NAME,
            "uid": _INTEGER,
            "start": _TIME,
            "end": _TIME,
            "exit_code": {"type": "integer", "minimum": -255, "maximum": 255},
            "settings": {"type": "object"},
            "profile": {"$ref": "profile"},
        },
        "$defs": {"profile": {**json.loads(text), "$id": "profile"}},
    }  # fmt: skip


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


# Runs report themselves, with one JSON document each, in a directory that everybody can write to.
#
# The directory is sticky (mode 1777), so that nobody can change or remove another user's report,
# and the owner of the file is the user of the run. Nothing here may disturb the job.

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
        evidence: Evidence from the run's containers.
        elapsed_seconds: Wall-clock time of the command.
        exit_code: Exit code of the command; a negative one is minus the signal.
        configuration: Configuration of the run.
    """
    from stripewise.settings.formats import get

    end = time.time()
    uid = os.geteuid()
    text = get("toml").write(configuration).text if configuration != Configuration() else ""
    return {
        "format": FORMAT,
        "version": VERSION,
        "cluster": os.environ.get("SLURM_CLUSTER_NAME", "")[:64],
        "job_id": os.environ.get("SLURM_JOB_ID", "")[:32],
        "user": user_name(uid),
        "uid": uid,
        "start": end - elapsed_seconds,
        "end": end,
        "exit_code": exit_code,
        "settings": {"toml": text} if text else {},
        "profile": _profile(evidence),
    }


def leave_report(report: Mapping[str, Any], directory: Path) -> str:
    """Write a report into a spool, whole or not at all; return why that failed, or "".

    It waits at most 10 s for a storage system that does not answer.
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


def _profile(evidence: Evidence) -> Any:
    """Return the profile; if there are many files, with only those that took most time."""
    numbers = (_MOST_FILES >> halved for halved in range(_MOST_FILES.bit_length() + 1))
    for document in documents(evidence, numbers):
        if len(json.dumps(finite(document))) <= _MOST_BYTES:
            break
    return document
