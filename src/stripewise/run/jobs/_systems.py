# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recognises job scripts of any batch system and refuses to run one as a command.

A directive is at the start of its line, for PBS possibly after blanks, and options follow its
mark: "# PBS", "##PBS -q a", "#PBS scripts", "#$Id$" and "#$HOME" are not directives, and neither
are lines in a here-document or a string.  Flux accepts its directives after any comment marks, and
in docstrings of Python.

Sources: qsub of POSIX.1-2017 and qsub(1B) of OpenPBS, bsub(1) of LSF 10.1, RFC 36 of Flux, qsub(1)
of Grid Engine 8.1 and of Cobalt, pjsub(1) of Technical Computing Suite, oarsub(1), ccsalloc(1) of
OpenCCS, and job scripts in public repositories for AIP and Unischeduler; sbatch(1) of Slurm 22.05,
which reads its directives up to the first command; "Using and Administering" of LoadLeveler 5.1,
chapter "Job command file keywords"; condor_submit(1) of HTCondor 23, whose files are no scripts.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.core.inputs import JOB_SCRIPT, open_input
from stripewise.present import printable
from stripewise.run.jobs._options import header_lines, is_directive_line, is_option_line
from stripewise.run.runtime import program_word
from stripewise.run.shell import (
    Find,
    ParsedScript,
    Submission,
    commands_of_words,
    is_launcher_word,
    kind_of,
    kind_of_name,
    read_commands,
    script_of_words,
    submission_of_words,
)

_OPTIONS = rb"[ \t]*-"
_OF_LOADLEVELER = (
    rb"account_no arguments bg_\w+ blocking bulkxfer checkpoint ckpt_\w+ class cluster_\w+"
    rb" core_limit coschedule cpu_limit cpus_per_core data_limit dependency dstg_\w+"
    rb" environment error executable file_limit group hold host_file image_size initialdir input"
    rb" job_cpu_limit job_name job_type large_page mcm_affinity_options \w+_processors"
    rb" network\.\w+ node node_resources node_topology node_usage notification notify_user output"
    rb" parallel_path preferences requirements resources restart rset rss_limit shell smt"
    rb" stack_limit startdate step_name step_resources task_\w+ tasks_per_node total_tasks"
    rb" user_priority wall_clock_limit"
).split()
"""Keywords of its job command files; not `comment`, which others write too."""
_SYSTEMS = (
    ("PBS", rb"[ \t]*#PBS" + _OPTIONS),
    ("LSF", rb"#BSUB" + _OPTIONS),
    ("Flux", rb"[^\w\n]*(?:flux|FLUX):[ \t]*(?:-|\"\"\"|''')"),
    ("Cobalt", rb"#COBALT" + _OPTIONS),
    ("PJM (Fujitsu Technical Computing Suite)", rb"#PJM" + _OPTIONS),
    ("Grid Engine", rb"#\$" + _OPTIONS + rb"[A-Za-z]"),
    ("OAR", rb"#OAR" + _OPTIONS),
    ("Moab or ccc_msub", rb"#MSUB" + _OPTIONS),
    ("LoadLeveler", rb"#[ \t]*@[ \t]*(?i:(?:" + b"|".join(_OF_LOADLEVELER) + rb")[ \t]*="
     rb"|queue[ \t]*\r?$)"),
    ("NQS", rb"#(?:QSUB|@\$)" + _OPTIONS),
    ("HyperQueue", rb"#HQ" + _OPTIONS),
    ("Donau", rb"#DSUB" + _OPTIONS),
    ("Unischeduler (JHINNO)", rb"#JSUB" + _OPTIONS),
    ("AIP (SkyForm)", rb"#CSUB" + _OPTIONS),
    ("OpenCCS", rb"#CCS" + _OPTIONS + rb"-?[A-Za-z]"),
    ("a batch system that is not known here", rb"#[A-Z]+SUB" + _OPTIONS),
)  # fmt: skip
_MARKS = tuple((name, re.compile(pattern, re.MULTILINE)) for name, pattern in _SYSTEMS)
_ANY = re.compile(
    rb"^(?:" + b"|".join(rb"(?:" + pattern + rb")" for _, pattern in _SYSTEMS) + rb"|#SBATCH\s)",
    re.MULTILINE,
)
_EXECUTABLE = re.compile(rb"^(?i:executable)[ \t]*=.*", re.MULTILINE)
_QUEUE = re.compile(rb"^(?i:queue)\b(?![ \t]*[=(])", re.MULTILINE)
_BURST_BUFFER = re.compile(rb"^#(?:DW|BB|BB_LUA)\s", re.MULTILINE)
_LINE_BEGINS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Heading:
    """Directives of batch systems in a script.

    Attributes:
        slurm: Number of the first line with a directive for sbatch or its burst buffer; 0 if there
            is none.
        late: Number of the first #SBATCH line after the first command, which sbatch ignores; 0 if
            there is none.
        system: Another batch system with directives in the script; empty if there is none.
        line: Number of the first line with these.
        text: Text of that line.
    """

    slurm: int = 0
    late: int = 0
    system: str = ""
    line: int = 0
    text: str = ""

    @property
    def is_slurm(self) -> bool:
        """Whether the script is for Slurm, whose directives take precedence over others."""
        return bool(self.slurm or (self.late and not self.system))

    @property
    def is_foreign(self) -> bool:
        """Whether the script is for another batch system."""
        return bool(self.system) and not self.is_slurm

    def refuse_foreign(self, name: str) -> None:
        """Refuse a script for another batch system.

        Raises:
            UsageError: It is; the message names the system and the remedy.
        """
        if self.is_foreign:
            raise UsageError(
                f"{printable(name)} is a job script for {self.system} (line {self.line}: "
                f"{self.text}), which is not supported yet: Stripewise takes those of Slurm; "
                "nothing was run or written. Inside such a job, put "
                "stripewise in front of the launch line: stripewise tune -- mpiexec ..."
            )

    def notes(self, name: str) -> tuple[str, ...]:
        """Return notes on the directives of a Slurm script for its user."""
        found = []
        if self.late:
            found.append(
                f"{printable(name)}, line {self.late}: #SBATCH after the first command is ignored "
                "by sbatch: move it before the first command"
            )
        if self.system and self.slurm:
            heeds = self.system in ("PBS", "LSF")  # xlate_batch_script() of sbatch
            more = " (sbatch does, unless --ignore-pbs is among its options)" if heeds else ""
            found.append(
                f"{printable(name)} is treated as a Slurm script: its lines for {self.system} "
                f"(line {self.line}: {self.text}) are ignored{more}"
            )
        return tuple(found)


def is_foreign_line(line: bytes) -> bool:
    """Return whether a line is a directive of a batch system other than Slurm."""
    return any(mark.match(line) for _, mark in _MARKS)


def read_heading(data: bytes, kind: str, reading: ParsedScript) -> Heading:
    """Return the directives of batch systems in a script.

    Args:
        data: Bytes of the script.
        kind: Kind of its interpreter; see `JobScript`.
        reading: Its commands, which distinguish comments from strings; empty if it is not for a
            shell.
    """
    bare = data.removeprefix(_BYTE_ORDER_MARK)
    if not bare.startswith(b"#!") and (of_htcondor := _of_htcondor(bare)):
        return of_htcondor
    if _ANY.search(bare) is None and not _BURST_BUFFER.search(bare):
        return Heading()
    header = list(header_lines(bare))
    end_of_header = header[-1][2] if header else 0
    own = [n for n, start, end in header if _is_slurms(bare[start:end])]
    shift = len(data) - len(bare)
    is_comment = _comments(data, kind, reading)
    slurm, late, other = own[0] if own else 0, 0, ("", 0, "")
    for found in _ANY.finditer(bare):
        start = found.start()
        name = next((name for name, mark in _MARKS if mark.match(bare, start)), "")
        place = start + _mark(found[0]) + shift
        is_read = is_comment(place) or (name == "Flux" and is_comment.has_docstring(place))
        if start >= end_of_header and not is_read:
            continue
        number = bare.count(b"\n", 0, start) + 1
        if bare.startswith(b"#SBATCH", start):
            late = late or (number if start >= end_of_header else 0)
        elif not other[0]:
            line = bare[start:].partition(b"\n")[0].decode("utf-8", "replace")
            other = (name, number, printable(" ".join(line.split()))[:60])
    return Heading(slurm, late, *other)


def _of_htcondor(data: bytes) -> Heading | None:
    """Return the heading of a submit description file: `executable = ...`, then `queue`."""
    executable, queue = _EXECUTABLE.search(data), _QUEUE.search(data)
    if executable is None or queue is None:
        return None
    line = printable(" ".join(executable[0].decode("utf-8", "replace").split()))
    return Heading(0, 0, "HTCondor", data.count(b"\n", 0, executable.start()) + 1, line)


def _mark(directive: bytes) -> int:
    """Return the start of the comment of a directive, or of the directive if it is no comment."""
    comment = directive.find(b"#")
    return comment if comment >= 0 else len(directive) - len(directive.lstrip())


def _is_slurms(line: bytes) -> bool:
    return (is_option_line(line) and line[7:8].isspace()) or is_directive_line(line)


class _Comments:
    """Predicate that tells whether a comment begins at a position of a script."""

    def __init__(
        self, begins: set[int], certain: int, docstrings: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._begins, self._certain, self._docstrings = begins, certain, docstrings

    def __call__(self, place: int) -> bool:
        """Return whether a comment begins at a position; unparsed text counts as one."""
        return place in self._begins or place >= self._certain

    def has_docstring(self, place: int) -> bool:
        """Return whether a position is in a docstring."""
        return any(start < place < end for start, end in self._docstrings)


def _comments(data: bytes, kind: str, reading: ParsedScript) -> _Comments:
    if kind == "python":
        return _python_comments(data)
    if kind == "other":
        return _Comments(set(), 0)
    return _Comments(reading.comments, reading.stopped if reading.problem else len(data))


def _python_comments(data: bytes) -> _Comments:
    text = data.decode("latin-1")
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    begins: set[int] = set()
    docstrings: list[tuple[int, int]] = []
    last = tokenize.NEWLINE
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                begins.add(starts[token.start[0] - 1] + token.start[1])
            elif token.type == tokenize.STRING and last in _LINE_BEGINS:
                places = [starts[row - 1] + column for row, column in (token.start, token.end)]
                docstrings.append((places[0], places[1]))
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                last = token.type
    except (tokenize.TokenError, SyntaxError):
        return _Comments(begins, 0)
    return _Comments(begins, len(data), docstrings)


# Command lines that would run a job script here or submit jobs, which are refused.

_BEGINNING_BYTES = 1024
_IN_A_JOB = (
    "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "PJM_JOBID",
    "OAR_JOB_ID", "SGE_TASK_ID", "MSUB_JOBID",
)  # fmt: skip
"""Variables that batch systems set in their jobs."""


def scripts_in(directory: Path) -> Find:
    """Return a function that finds scripts by their paths relative to a directory."""

    def find(path: str) -> bytes | None:
        return _read_script(directory / path)

    return find


def job_script_heading(path: Path, kind: str = "") -> Heading | None:
    """Return the directives of batch systems in a script; None if the script does not exist.

    Args:
        path: Path of the script.
        kind: Kind of its interpreter; empty if the script names it.
    """
    data = _read_script(path)
    if data is None:
        return None
    kind, text = kind or kind_of(data), data.decode("latin-1")
    crlf = data.partition(b"\n")[0].endswith(b"\r")
    return read_heading(data, kind, read_commands(text, kind, crlf))


def check_command(
    words: Sequence[str], directory: Path, command: str, *, once: bool = False
) -> None:
    """Refuse a command line that runs a job script here or submits jobs.

    A Slurm script that is explicitly run by a shell (`bash run.sh`) is accepted.

    Args:
        words: Words of the command line.
        directory: Working directory of the command.
        command: Stripewise command that would run it: "tune".
        once: Whether it runs once and in place, which is harmless in a job of the user.

    Raises:
        UsageError: It does; the message has the script, the line and the remedy.
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
    """Return the command line, and the commands that a launcher or shell text in it starts."""
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
    """Return the path of a script; empty for an installed program."""
    if not word or (kind and not os.path.isfile(directory / word)):
        return ""
    installed = None if kind else shutil.which(os.path.basename(word))
    if "/" in word or kind:
        return "" if installed and Path(installed) == directory / word else word
    return f"./{word}" if not installed and os.path.isfile(directory / word) else ""


def _read_script(path: Path) -> bytes | None:
    """Return the content of a script; None for a program, a directory or a pipe."""
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
            f"{printable(script)} is a job script, and after -- it would run on this host as a "
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
