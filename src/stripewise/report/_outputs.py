# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The files that a study leaves for the user."""

from __future__ import annotations

import json
import os
from pathlib import Path

from stripewise.extras import missing
from stripewise.formats import get
from stripewise.model import JobStudy, StudyResult
from stripewise.owned import OwnedDirectory
from stripewise.report._job_outputs import write_job_outputs
from stripewise.report._json import result_to_json

BEST_FILES = {"best.toml": "toml", "best.xml": "h5tuner", "hints.txt": "mpich-hints"}
"""File to the format that it is in; the TOML one holds everything."""


def write_outputs(result: StudyResult, job: JobStudy | None = None) -> tuple[list[str], list[str]]:
    """Write settings (only if they are an improvement), report and result.

    Args:
        result: What the study found.
        job: Its rungs, if it is the study of a job script; `write_job_outputs` is called too.

    Returns:
        Names of the files, and notes on what a format could not hold.

    Raises:
        StorageError: A file cannot be written.
    """
    directory = OwnedDirectory.find(Path(result.directory), "study")
    names: list[str] = []
    notes: list[str] = []
    if result.improved and result.winner is not None:
        for name, format_name in BEST_FILES.items():
            written = get(format_name).write(result.winner.configuration)
            if not written.text:
                notes.append(f"{name} is not written, it cannot hold: {', '.join(written.lost)}")
                continue
            directory.write(name, os.fsencode(written.text))
            notes += [f"{name} cannot hold: {text}" for text in written.lost]
            names.append(name)
    if why := missing("report"):
        notes.append(f"report.html is not written: {why}")
    else:
        from stripewise.report._html import render_html

        directory.write("report.html", os.fsencode(render_html(result, job)))
        names.append("report.html")
    document = json.dumps(result_to_json(result, job), indent=2)
    directory.write("result.json", f"{document}\n".encode())
    names.append("result.json")
    if job is not None:
        names += write_job_outputs(job, Path(result.directory))
    return names, notes
