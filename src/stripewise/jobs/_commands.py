# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Command lines that would run a job script here, or submit jobs: refused before anything runs."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from stripewise.errors import UsageError
from stripewise.inputs import JOB_SCRIPT, open_input
from stripewise.jobs._csh import read_csh
from stripewise.jobs._shell import Reading, read_shell
from stripewise.jobs._submits import (
    Find,
    commands_of_words,
    script_of_words,
    submission_of_words,
)
from stripewise.jobs._submitters import Submission, kind_of, kind_of_name
from stripewise.jobs._systems import Heading, read_heading
from stripewise.jobs._variables import is_launcher_word
from stripewise.runtime import program_word
from stripewise.text import printable

_BEGINNING_BYTES = 1024
_IN_A_JOB = (
    "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "PJM_JOBID",
    "OAR_JOB_ID", "SGE_TASK_ID", "MSUB_JOBID",
)  # fmt: skip
"""Variables of which batch systems set one in their jobs."""


def scripts_in(directory: Path) -> Find:
    """Return what finds the scripts of a directory that are called by their paths."""

    def find(path: str) -> bytes | None:
        return _read_script(directory / path)

    return find


def job_script_heading(path: Path, kind: str = "") -> Heading | None:
    """Return what the directives of a script say; None where there is no script.

    Args:
        path: Of the script.
        kind: Of the interpreter that reads it; "": it names its own.
    """
    data = _read_script(path)
    if data is None:
        return None
    kind, text = kind or kind_of(data), data.decode("latin-1")
    crlf = data.partition(b"\n")[0].endswith(b"\r")
    reading = Reading()
    if kind in ("sh", "csh"):
        reading = read_shell(text, crlf) if kind == "sh" else read_csh(text, crlf)
    return read_heading(data, kind, reading)


def check_command(
    words: Sequence[str], directory: Path, command: str, *, once: bool = False
) -> None:
    """Refuse a command line that runs a job script here, or that submits jobs.

    A job script that a shell is told to run (`bash run.sh`) is wanted so, if it is Slurm's.

    Args:
        words: The command line.
        directory: Where it runs.
        command: Of Stripewise, which would run it: "tune".
        once: It runs once, and in place: in a job of the user's that is nobody's harm.

    Raises:
        UsageError: With the script, the line, and what to do.
    """
    if once and any(os.environ.get(name) for name in _IN_A_JOB):
        return
    find = scripts_in(directory)
    for line in _lines(words):
        word, kind = script_of_words(line)
        path = _path(word, directory, kind)
        heading = job_script_heading(directory / path, kind) if path else None
        if heading is not None:
            heading.refuse_foreign(word)
            if heading.is_slurm and not kind:
                raise UsageError(_is_job_script(line[line.index(word) :], command))
        found = submission_of_words([path or w if w == word else w for w in line], find)
        if found is not None and not (once and not found.submits):
            raise UsageError(_submits(found, command))


def _lines(words: Sequence[str]) -> list[list[str]]:
    """Return the command line, and what a launcher or the text of a shell in it starts."""
    found = [list(words), *commands_of_words(words)]
    for place, word in enumerate(words):
        if is_launcher_word(word):
            program = program_word(words[place:])
            later = words.index(program, place) if program in words[place + 1 :] else len(words)
            shell = later - 1 if kind_of_name(words[later - 1]) != "other" else later
            found.append(list(words[shell:]))
            break
    return [line for line in found if line]


def _path(word: str, directory: Path, kind: str) -> str:
    """Return the path of a script; "" of a program that is installed for all."""
    if not word or (kind and not os.path.isfile(directory / word)):
        return ""
    installed = None if kind else shutil.which(os.path.basename(word))
    if "/" in word or kind:
        return "" if installed and Path(installed) == directory / word else word
    return f"./{word}" if not installed and os.path.isfile(directory / word) else ""


def _read_script(path: Path) -> bytes | None:
    """Return what a script holds; None where there is none: a program, a directory, a pipe."""
    try:
        with open_input(path) as stream:
            beginning = stream.read(_BEGINNING_BYTES)
            is_binary = b"\0" in beginning and not beginning.startswith(b"#!")
            if is_binary or not beginning.strip():
                return None
            return beginning + stream.read(JOB_SCRIPT.file_bytes)
    except (OSError, ValueError):
        return None


def _is_job_script(line: Sequence[str], command: str) -> str:
    script, *rest = line
    run = f"stripewise {command} -- bash {printable(shlex.join(line))}"
    here = f"{run} to run it here all the same"
    if command == "tune":
        as_job = shlex.join([script, "--", *rest] if rest else [script])
        return (
            f"{printable(script)} is a job script, and behind -- it would run on this host as a "
            f"program: give stripewise tune {printable(as_job)} to tune its jobs, or {here}"
        )
    return (
        f"{printable(script)} is a job script, and would run on this host as a program: submit it "
        f"with sbatch, with stripewise {command} in front of its launch line, or give {here}"
    )


def _submits(found: Submission, command: str) -> str:
    where = f"{printable(found.script.removeprefix('./'))}, line {found.line}: "
    if not found.submits:
        return (
            f"{where if found.script else ''}{found.command} ends or changes jobs, which each run "
            f"would do again: nothing was run; leave it out of what stripewise {command} runs"
        )
    what = f"{where if found.script else ''}{found.command} submits a job"
    if command in ("run", "trace"):
        return (
            f"{what}, which runs elsewhere and would not be seen: put stripewise {command} in "
            "front of the launch line in the script that is submitted"
        )
    return (
        f"{what}, which each run would do again: nothing was run; give the script that is "
        f"submitted: stripewise {'tune' if command != 'tune' else command} run.sh"
    )
