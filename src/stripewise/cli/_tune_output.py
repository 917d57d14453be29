# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The files that a study leaves for the user."""

from __future__ import annotations

import json
from pathlib import Path

from stripewise.cli._common import finite
from stripewise.formats import get, write_text
from stripewise.model import StudyResult
from stripewise.report import render_html, result_to_json

BEST_FILES = {"best.toml": "toml", "best.xml": "h5tuner", "hints.txt": "mpich-hints"}
"""File to the format that it is in; the TOML one holds everything."""


def write_outputs(result: StudyResult) -> tuple[list[str], list[str]]:
    """Write settings (only if they are an improvement), report and result.

    Returns:
        Names of the files, and notes on what a format could not hold.

    Raises:
        StorageError: A file cannot be written.
    """
    directory = Path(result.directory)
    names: list[str] = []
    notes: list[str] = []
    if result.improved and result.winner is not None:
        for name, format_name in BEST_FILES.items():
            written = get(format_name).write(result.winner.configuration)
            if not written.text:
                notes.append(f"{name} is not written, it cannot hold: {', '.join(written.lost)}")
                continue
            write_text(directory / name, written.text)
            notes += [f"{name} cannot hold: {text}" for text in written.lost]
            names.append(name)
    write_text(directory / "report.html", render_html(result))
    document = json.dumps(finite(result_to_json(result)), indent=2)
    write_text(directory / "result.json", document + "\n")
    return [*names, "report.html", "result.json"], notes
