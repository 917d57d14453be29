# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports that `stripewise run` leaves in a spool: one JSON document each."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from stripewise.errors import TraceError
from stripewise.fleet._of_profile import Origin, clean, record_of
from stripewise.fleet._spool import FORMAT, VERSION
from stripewise.fleet.ingest._base import Feed, Reading
from stripewise.inputs import REPORT, parse_json, read_input

_INTEGER = {"type": ["integer", "null"], "minimum": 0, "maximum": (1 << 62) - 1}
_TIME = {"type": ["number", "null"], "minimum": 0, "maximum": 1 << 40}
_NAME = {"type": "string", "maxLength": 255}


class ReportFeed(Feed):
    """A report of one run; its user is whoever owns the file."""

    name = "report"
    summary = "a report of `stripewise run` (STRIPEWISE_REPORTS)"
    budget = REPORT

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether it begins with the name of its format."""
        return head.startswith(f'{{"format": "{FORMAT}"'.encode())

    def read(self, path: Path, origin: Origin) -> Reading:
        """Read a report.

        Raises:
            TraceError: It is not of this form.
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
        return Reading((record,))


def check_report(data: Any, name: str) -> None:
    """Refuse data that are no report.

    Raises:
        TraceError: With where they differ from the schema.
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
    text = (files("stripewise.fleet.ingest") / "profile.schema.json").read_text("utf-8")
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
