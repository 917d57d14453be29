# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files that a study leaves for the user."""

from __future__ import annotations

import json
import os
import shlex
import textwrap
from pathlib import Path

from stripewise.core import JobStudy, OwnedDirectory, StudyResult
from stripewise.core.extras import missing
from stripewise.present import fit_encoding, labelled, line, plural, printable, seconds_text
from stripewise.settings.formats import get
from stripewise.study.report._job_conclusions import against, conclusions, decisions
from stripewise.study.report._job_cost import payback
from stripewise.study.report._job_rungs import WIDTH, rungs_csv, rungs_text, table_lines
from stripewise.study.report._job_study import mpiio_text
from stripewise.study.report._json import result_to_json

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
        from stripewise.study.report._page import render_html

        directory.write("report.html", os.fsencode(render_html(result, job)))
        names.append("report.html")
    document = json.dumps(result_to_json(result, job), indent=2)
    directory.write("result.json", f"{document}\n".encode())
    names.append("result.json")
    if job is not None:
        names += write_job_outputs(job, Path(result.directory))
    return names, notes


# What the study of a job script leaves for people: lines for the terminal, and files.

_PICTURES = (".svg", ".png")
_LABEL = 17


def job_lines(study: JobStudy, *, encoding: str | None = None) -> list[str]:
    """Summarise the study of a job script for a terminal of 80 columns.

    Args:
        study: What it found.
        encoding: Of the terminal; what it cannot show is replaced. None: that of stdout.
    """
    lines = _labelled(
        "job script", [f"{printable(study.script)}, step {study.step}: {_work(study)}"]
    )
    lines += ["", *(f" {row}".rstrip() for row in table_lines(study, WIDTH - 1)), ""]
    lines += _labelled("against", against(study))
    lines += _labelled("result", conclusions(study))
    lines += _labelled("node-hours", [payback(study).text])
    if study.hints:
        lines.append(line("hints", printable(study.hints)))  # one line, to be copied
        lines += _labelled(
            "", [f"lost in this form: {printable(one)}" for one in study.hints_lost]
        )
    return [fit_encoding(text, encoding) for text in lines]


def script_lines(result: StudyResult) -> list[str]:
    """Say which script a study left, and how it is submitted."""
    job = result.job
    if job is None:
        return []
    if job.no_script:
        return _labelled("warning", [f"no script was written: {printable(job.no_script)}"])
    if not job.tuned_script:
        return []
    return [
        line("wrote", printable(job.tuned_script)),
        line("apply", printable(shlex.join(["sbatch", job.tuned_script]))),
    ]


def _work(study: JobStudy) -> str:
    text = f"{plural(len(study.runs), 'configuration')} in {plural(study.n_jobs, 'job')}"
    if study.queue_seconds is not None:
        text += f", {seconds_text(study.queue_seconds)} in the queue"
    return f"{text}, {plural(study.controller_requests, 'request')} to the batch system"


def _labelled(label: str, texts: list[str]) -> list[str]:
    """Lay texts out in lines of 80 columns, of which the first alone has the label."""
    wrapped = [
        part
        for text in texts
        for part in textwrap.wrap(
            text, WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False
        )
    ]
    return labelled(label, wrapped)


def write_job_outputs(study: JobStudy, directory: Path) -> list[str]:
    """Write the tables, decisions and pictures into the directory of the study.

    Every file is for the user alone and is written whole or not at all.  Pictures need the extra
    `report`; without it they are left out.

    Args:
        study: What it found.
        directory: Made by Stripewise for the study.

    Returns:
        Names of the files.

    Raises:
        StudyError: The directory is not one that Stripewise made.
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
        from stripewise.study.report._job_page import job_charts

        for name, drawn in job_charts(study).items():
            files |= {f"{name}{suffix}": picture(drawn.spec, suffix) for suffix in _PICTURES}
    place = OwnedDirectory.find(directory)
    for name, content in files.items():
        place.write(name, content)
    return list(files)


def decisions_text(study: JobStudy) -> str:
    """Return `decisions.txt`: every rung with the rule by which it was made, and what follows."""
    lines = [f"Job script {printable(study.script)}, step {study.step}", ""]
    lines += [*decisions(study), ""]
    if study.stopped_because:
        lines.append(f"The search ended: {printable(study.stopped_because)}.")
    lines += conclusions(study)
    lines += [f"Speed-up against {text}" for text in against(study)]
    return "\n".join([*lines, payback(study).text]) + "\n"
