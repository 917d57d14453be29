# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the output files of a study."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

from stripewise.core import JobStudy, OwnedDirectory, StudyResult
from stripewise.core.extras import missing
from stripewise.present import fit_encoding, line, printable
from stripewise.present.renderers import block_lines
from stripewise.settings.formats import get
from stripewise.study.report._job_conclusions import against, conclusions, decisions
from stripewise.study.report._job_cost import payback
from stripewise.study.report._job_page import (
    MPIIO_TITLE,
    job_charts,
    job_conclusions,
    job_hints,
    job_lead,
    mpiio_tables,
)
from stripewise.study.report._job_rungs import WIDTH, rungs_csv, rungs_text, terminal_table
from stripewise.study.report._json import result_to_json

BEST_FILES = {"best.toml": "toml", "best.xml": "h5tuner", "hints.txt": "mpich-hints"}
"""File name to its format; only the TOML file contains everything."""


def write_outputs(result: StudyResult, job: JobStudy | None = None) -> tuple[list[str], list[str]]:
    """Write settings (only if they are an improvement), report and result.

    Args:
        result: Result of the study.
        job: Rungs of a job script's study; then `write_job_outputs` is called too.

    Returns:
        Names of the files, and notes on what a format cannot express.

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
                notes.append(
                    f"{name} is not written, as it cannot hold: {', '.join(written.lost)}"
                )
                continue
            directory.write(name, os.fsencode(written.text))
            notes += [f"{name} cannot hold: {text}" for text in written.lost]
            names.append(name)
    if why := missing("report"):
        notes.append(f"report.html is not written: {why}")
    else:
        from stripewise.study.report._content import render_html

        directory.write("report.html", os.fsencode(render_html(result, job)))
        names.append("report.html")
    document = json.dumps(result_to_json(result, job), indent=2)
    directory.write("result.json", f"{document}\n".encode())
    names.append("result.json")
    if job is not None:
        names += write_job_outputs(job, Path(result.directory))
    return names, notes


# Output of a job script's study for people: lines for the terminal, and files.

_PICTURES = (".svg", ".png")


def job_lines(study: JobStudy, *, encoding: str | None = None) -> list[str]:
    """Summarise the study of a job script for a terminal of 80 columns.

    Args:
        study: Rungs of the study.
        encoding: Encoding of the terminal; unsupported characters are replaced.  None for that
            of stdout.
    """
    table = block_lines(terminal_table(study), WIDTH - 1)
    lines = [
        *block_lines(job_lead(study), WIDTH),
        *("", *(f" {row}".rstrip() for row in table), ""),
        *block_lines(job_conclusions(study), WIDTH),
    ]
    for block in job_hints(study):
        lines += ["", f" {block.title}", *block_lines(block, WIDTH)]
    return [fit_encoding(text, encoding) for text in lines]


def script_lines(result: StudyResult) -> list[str]:
    """Return lines on the script that a study wrote, and how it is submitted."""
    job = result.job
    if job is None:
        return []
    if job.no_script:
        return [line("warning", f"no script was written: {printable(job.no_script)}")]
    if not job.tuned_script:
        return []
    return [
        line("wrote", printable(job.tuned_script)),
        line("apply", printable(shlex.join(["sbatch", job.tuned_script]))),
    ]


def write_job_outputs(study: JobStudy, directory: Path) -> list[str]:
    """Write the tables, decisions and charts into the directory of the study.

    Every file is private to the user and written atomically.  Charts need the extra `report`;
    without it they are left out.

    Args:
        study: Rungs of the study.
        directory: Directory that Stripewise created for the study.

    Returns:
        Names of the files.

    Raises:
        StudyError: Stripewise did not create the directory.
        StorageError: A file cannot be written.
    """
    texts = {
        "rungs.txt": rungs_text(study),
        "rungs.csv": rungs_csv(study),
        "decisions.txt": decisions_text(study),
    }
    if study.mpiio:
        texts["mpiio.txt"] = mpiio_text(study)
    files = {name: os.fsencode(text) for name, text in texts.items()}
    if not missing("report"):
        from stripewise.present import picture

        for name, drawn in job_charts(study).items():
            files |= {f"{name}{suffix}": picture(drawn.spec, suffix) for suffix in _PICTURES}
    place = OwnedDirectory.find(directory)
    for name, content in files.items():
        place.write(name, content)
    return list(files)


def decisions_text(study: JobStudy) -> str:
    """Return `decisions.txt`: every rung with the rule that created it, and the conclusions."""
    lines = [f"Job script {printable(study.script)}, step {study.step}", ""]
    lines += [*decisions(study), ""]
    if study.stopped_because:
        lines.append(f"The search ended: {printable(study.stopped_because)}.")
    lines += conclusions(study)
    lines += [f"Speed-up against {text}" for text in against(study)]
    return "\n".join([*lines, payback(study).text]) + "\n"


def mpiio_text(study: JobStudy) -> str:
    """Return `mpiio.txt`: a table for each file."""
    lines = [MPIIO_TITLE]
    for table in mpiio_tables(study):
        lines += ["", printable(table.title), *block_lines(replace(table, total=""))]
    return "\n".join(lines) + "\n"
