# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""For which batch system a script is written, by the directives in its comments.

A directive begins its line, for PBS perhaps behind blanks, and options follow its mark: "# PBS",
"##PBS -q a", "#PBS scripts", "#$Id$" and "#$HOME" are none, nor is what stands in a here-document
or a string.  Flux takes its own behind any marks, and out of the docstrings of Python.

Sources: qsub of POSIX.1-2017 and qsub(1B) of OpenPBS, bsub(1) of LSF 10.1, RFC 36 of Flux,
qsub(1) of Grid Engine 8.1 and of Cobalt, pjsub(1) of Technical Computing Suite, oarsub(1),
ccsalloc(1) of OpenCCS, and job scripts in public repositories for AIP and Unischeduler;
sbatch(1) of Slurm 22.05, which reads its own as far as the first command.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

from stripewise.errors import UsageError
from stripewise.jobs._directives import is_directive_line
from stripewise.jobs._options import header_lines, is_option_line
from stripewise.jobs._shell import Reading
from stripewise.text import printable

_OPTIONS = rb"[ \t]*-"
_SYSTEMS = (
    ("PBS", rb"[ \t]*#PBS" + _OPTIONS),
    ("LSF", rb"#BSUB" + _OPTIONS),
    ("Flux", rb"[^\w\n]*(?:flux|FLUX):[ \t]*(?:-|\"\"\"|''')"),
    ("Cobalt", rb"#COBALT" + _OPTIONS),
    ("PJM (Fujitsu Technical Computing Suite)", rb"#PJM" + _OPTIONS),
    ("Grid Engine", rb"#\$" + _OPTIONS + rb"[A-Za-z]"),
    ("OAR", rb"#OAR" + _OPTIONS),
    ("Moab or ccc_msub", rb"#MSUB" + _OPTIONS),
    ("LoadLeveler", rb"#[ \t]*@[ \t]*(?i:(?:job_type|job_name|class|node|wall_clock_limit"
     rb"|executable|total_tasks|tasks_per_node|node_usage|bg_size|step_name)[ \t]*="
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
_LINE_BEGINS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Heading:
    """What the directives of a script say.

    Attributes:
        slurm: Number of the first line from which sbatch, or its burst buffer, takes something;
            0: there is none.
        late: Number of the first #SBATCH line behind the first command, where sbatch does not
            look; 0: there is none.
        system: Another batch system that has directives here; "": none.
        line: Number of the first of these.
        text: That line.
    """

    slurm: int = 0
    late: int = 0
    system: str = ""
    line: int = 0
    text: str = ""

    @property
    def is_slurm(self) -> bool:
        """Whether the script is Slurm's: its lines count more than those of other systems."""
        return bool(self.slurm or (self.late and not self.system))

    @property
    def is_foreign(self) -> bool:
        """Whether the script is for another batch system."""
        return bool(self.system) and not self.is_slurm

    def refuse_foreign(self, name: str) -> None:
        """Refuse a script for another batch system.

        Raises:
            UsageError: It names the system, and what can be done there.
        """
        if self.is_foreign:
            raise UsageError(
                f"{printable(name)} is a job script for {self.system} (line {self.line}: "
                f"{self.text}), which is not supported yet: Stripewise takes those of Slurm; "
                "nothing was run or written. Inside such a job, put "
                "stripewise in front of the launch line: stripewise tune -- mpiexec ..."
            )

    def notes(self, name: str) -> tuple[str, ...]:
        """Return what a user of a Slurm script should know of its directives."""
        found = []
        if self.late:
            found.append(
                f"{printable(name)}, line {self.late}: #SBATCH behind the first command is not "
                "read by sbatch, and so not heeded: move it above the first command"
            )
        if self.system and self.slurm:
            heeds = self.system in ("PBS", "LSF")  # xlate_batch_script() of sbatch
            more = " (sbatch does, unless --ignore-pbs is among its options)" if heeds else ""
            found.append(
                f"{printable(name)} is taken for Slurm's: its lines for {self.system} (line "
                f"{self.line}: {self.text}) are not heeded{more}"
            )
        return tuple(found)


def is_foreign_line(line: bytes) -> bool:
    """Whether a line is a directive of another batch system than Slurm."""
    return any(mark.match(line) for _, mark in _MARKS)


def read_heading(data: bytes, kind: str, reading: Reading) -> Heading:
    """Return what the directives of a script say.

    Args:
        data: The script.
        kind: Of its interpreter, as of `JobScript`.
        reading: Its commands, which tell comments from texts; empty where it is for no shell.
    """
    bare = data.removeprefix(_BYTE_ORDER_MARK)
    if _ANY.search(bare) is None and not _burst_lines(bare):
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


def _mark(directive: bytes) -> int:
    """Return where the comment begins that a directive is, or the directive where it is none."""
    comment = directive.find(b"#")
    return comment if comment >= 0 else len(directive) - len(directive.lstrip())


def _burst_lines(data: bytes) -> bool:
    return re.search(rb"^#(?:DW|BB|BB_LUA)\s", data, re.MULTILINE) is not None


def _is_slurms(line: bytes) -> bool:
    return (is_option_line(line) and line[7:8].isspace()) or is_directive_line(line)


class _Comments:
    """Tells whether a comment begins at a position of a script."""

    def __init__(
        self, begins: set[int], certain: int, docstrings: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._begins, self._certain, self._docstrings = begins, certain, docstrings

    def __call__(self, place: int) -> bool:
        """Whether one does; what could not be read is taken for one."""
        return place in self._begins or place >= self._certain

    def has_docstring(self, place: int) -> bool:
        """Whether a docstring is there."""
        return any(start < place < end for start, end in self._docstrings)


def _comments(data: bytes, kind: str, reading: Reading) -> _Comments:
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
