# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses a job script: the resources it requests, and how it starts its ranks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from stripewise.core.errors import UsageError
from stripewise.core.inputs import JOB_SCRIPT
from stripewise.present import printable
from stripewise.run.jobs._options import (
    Directive,
    JobOption,
    persistent_maker,
    read_directives,
    read_options,
    sbatch_arguments,
)
from stripewise.run.jobs._systems import Heading, read_heading
from stripewise.run.runtime import read_launcher
from stripewise.run.shell import (
    Effects,
    Find,
    LaunchLine,
    Move,
    ParsedScript,
    Submission,
    Surroundings,
    effects_of,
    find_submission,
    interpreter,
    kind_of,
    read_commands,
    read_launches,
    read_moves,
)
from stripewise.run.slurm import least_count, parse_seconds

# Resources that a script's options request.


@dataclass(frozen=True)
class JobResources:
    """Resources of a job; None if the script does not set one as a number.

    For a heterogeneous job, these are the resources of its first part.

    Attributes:
        nodes: Minimum number of nodes.
        ranks / ranks_per_node / cpus_per_task: Values of --ntasks, --ntasks-per-node and
            --cpus-per-task.
        wall_seconds: Time limit of the job.
        account / partition / qos / constraint / job_name / array: Values of these options as
            written.
        is_heterogeneous: Whether the job has several parts.
        requeue: Whether the script permits or forbids to requeue the job; None if it does neither.
    """

    nodes: int | None = None
    ranks: int | None = None
    ranks_per_node: int | None = None
    cpus_per_task: int | None = None
    wall_seconds: int | None = None
    account: str | None = None
    partition: str | None = None
    qos: str | None = None
    constraint: str | None = None
    job_name: str | None = None
    array: str | None = None
    is_heterogeneous: bool = False
    requeue: bool | None = None


def read_resources(options: Sequence[JobOption], is_heterogeneous: bool) -> JobResources:
    """Return the resources that options request; if an option is repeated, the last one counts."""
    values = {option.name: option.value for option in options if option.component == 0}
    flags = [option.name for option in options if option.name in ("requeue", "no-requeue")]
    return JobResources(
        nodes=least_count(values.get("nodes") or ""),
        ranks=least_count(values.get("ntasks") or ""),
        ranks_per_node=least_count(values.get("ntasks-per-node") or ""),
        cpus_per_task=least_count(values.get("cpus-per-task") or ""),
        wall_seconds=parse_seconds(values.get("time") or ""),
        account=values.get("account"),
        partition=values.get("partition"),
        qos=values.get("qos"),
        constraint=values.get("constraint"),
        job_name=values.get("job-name"),
        array=values.get("array"),
        is_heterogeneous=is_heterogeneous,
        requeue=flags[-1] == "requeue" if flags else None,
    )


# A job script: the resources it requests, and how it starts its ranks.

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LAUNCHER = re.compile(r"(?<![\w.-])(srun|aprun|orterun|mpirun|mpiexec)(?![\w-])")


@dataclass(frozen=True)
class JobScript:
    """A job script, as bytes and as its parsed parts.

    Attributes:
        data: Bytes of the script.
        name: Name for messages.
        kind: Kind of interpreter: "sh" (sh, bash, ksh, zsh, dash), "csh" (csh, tcsh), "python" or
            "other".
        options: The #SBATCH options.
        burst_buffer: The #DW, #BB and #BB_LUA lines.
        launches: The commands that start MPI ranks.
        moves: The commands that change the directory.
        resources: Resources that the options request.
        submission: The first command that submits another job; None if there is none.
        heading: Directives of batch systems in the script.
        problem: Why the commands could not be parsed to the end; empty if they were.
        is_crlf: Whether the first line ends in a carriage return and a newline.
        breaks: Positions of lines before which another line may be inserted.
    """

    data: bytes
    name: str
    kind: str
    options: tuple[JobOption, ...]
    burst_buffer: tuple[Directive, ...]
    launches: tuple[LaunchLine, ...]
    moves: tuple[Move, ...]
    resources: JobResources
    submission: Submission | None
    heading: Heading
    problem: str = ""
    is_crlf: bool = False
    breaks: tuple[int, ...] = field(default=(0,), repr=False)

    @classmethod
    def parse(
        cls, data: bytes, name: str = "job script", find: Find = lambda path: None
    ) -> JobScript:
        """Parse a script.

        Args:
            data: Content of the script.
            name: Name for messages.
            find: Function that finds the scripts that it calls.

        Raises:
            UsageError: It is empty, too large, binary, for another batch system, or has no #!
                line, or a #SBATCH line has an unclosed quote.
        """
        _check_size(data, name)
        kind, is_crlf = kind_of(data), data.partition(b"\n")[0].endswith(b"\r")
        text = data.decode("latin-1")
        reading = read_commands(text, kind, is_crlf)
        heading = read_heading(data, kind, reading)
        heading.refuse_foreign(name)
        _check_beginning(data, name)
        try:
            options, is_heterogeneous = read_options(data)
        except UsageError as error:
            raise UsageError(f"{printable(name)}: {error}") from None
        return cls(
            data=data,
            name=printable(name),
            kind=kind,
            options=options,
            burst_buffer=read_directives(data),
            launches=read_launches(text, reading),
            moves=read_moves(text, reading),
            resources=read_resources(options, is_heterogeneous),
            submission=find_submission(data, kind, reading, find),
            heading=heading,
            problem=_problem(text, reading),
            is_crlf=is_crlf,
            breaks=tuple(reading.breaks),
        )

    def check_no_submission(self, *, requeues: bool = False) -> None:
        """Refuse a script that submits, changes or ends jobs itself.

        Args:
            requeues: Whether it may requeue its own job and change others, since it runs
                unchanged.

        Raises:
            UsageError: It does; the message has the line.
        """
        if (found := self.submission) is not None:
            where = found.script and f" in {printable(found.script)}, which it calls,"
            if requeues and not found.submits:
                return
            if found.is_requeue:
                raise UsageError(
                    f"{self.name} restarts its own job ({found.command},{where} line "
                    f"{found.line}), and a study's jobs hold many runs: take the command out of "
                    "a copy of the script, and tune that"
                )
            if not found.submits:
                raise UsageError(
                    f"{self.name} ends or changes jobs itself ({found.command},{where} line "
                    f"{found.line}), which each run would do again: take the command out of a "
                    "copy of the script, and tune that"
                )
            raise UsageError(
                f"{self.name} submits jobs itself ({found.command},{where} line {found.line}), "
                "which runs of it would do again and again: tune the script that it submits"
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on its directives for the user."""
        return self.heading.notes(self.name)

    @property
    def dos_problem(self) -> str:
        """Why sbatch refuses the script because of its line ends; empty if it does not."""
        place = self.data.find(b"\r\n")
        if place < 0:
            return ""
        line = self.data.count(b"\n", 0, place) + 1
        return (
            f"{self.name}, line {line} has a DOS line ending (CRLF), which sbatch refuses; run "
            f"dos2unix {self.name}"
        )

    def check_persistent(self) -> None:
        """Refuse directives that create or remove a persistent burst buffer.

        Raises:
            UsageError: There is one; each run would create it again, or remove it with the user's
                data.
        """
        if line := persistent_maker(self.burst_buffer):
            raise UsageError(
                f"{self.name}, line {line.line}: `#BB {printable(' '.join(line.words))}` would "
                "make or remove a persistent burst buffer in each run: submit that line in a job "
                "of its own, and take it out of this script"
            )

    def sbatch_arguments(self, drop: Collection[str] = ()) -> tuple[str, ...]:
        """Return the #SBATCH options as arguments of sbatch: `--name=value`.

        The parts of a heterogeneous job are separated by ":".

        Args:
            drop: Long names of options to leave out.
        """
        return sbatch_arguments(self.options, drop)

    def effects(self, around: Surroundings) -> Effects:
        """Return the effects of the shell lines on files outside a run's directory."""
        return effects_of(self.data, self.kind, around, self.is_crlf)

    def launch(self, step: int | None = None) -> LaunchLine:
        """Return the launch line with a number, or the only one.

        Raises:
            UsageError: There is none, none with that number, or more than one and no number is
                given.
        """
        if not self.launches:
            raise UsageError(f"{self.name}: {self._why_none}")
        if step is None and len(self.launches) == 1 and not self._is_cut:
            return self.launches[0]
        listed = _listed(self.launches)
        if step is None and self._is_cut:
            raise UsageError(
                f"{self.name}: {self.problem}, so there may be more launch lines than these; "
                f"choose one with --step N ({listed})"
            )
        if step is None:
            raise UsageError(
                f"{self.name}: {len(self.launches)} launch lines; choose one with --step N "
                f"({listed})"
            )
        if not 1 <= step <= len(self.launches):
            raise UsageError(f"{self.name}: no launch line {step}; there are these: {listed}")
        return self.launches[step - 1]

    def certain_launch(self, step: int | None = None) -> LaunchLine:
        """Return the launch line with a number, or the only one, if its program is certain.

        Raises:
            UsageError: See `launch`, or its program is uncertain.
        """
        launch = self.launch(step)
        if launch.problem:
            raise UsageError(
                f"{self.name}, line {launch.first_line}: {launch.problem}; write the launcher, "
                "its options and one program out in this line"
            )
        return launch

    @cached_property
    def _is_cut(self) -> bool:
        """Whether the unparsed part may contain launch lines."""
        if not self.problem:
            return False
        stopped = self.breaks[-2] if len(self.breaks) > 1 else 0
        last = max((launch.end for launch in self.launches), default=0)
        rest = self.data[max(stopped, last) :].decode("latin-1")
        return _LAUNCHER.search(rest) is not None

    @property
    def _why_none(self) -> str:
        if self.kind in ("python", "other"):
            return (
                f"the script is for {interpreter(self.data) or 'another program'}, and launch "
                "lines are found in shell scripts only; write the launch line in a shell script"
            )
        if self.problem:
            shell = interpreter(self.data)
            return f"no launch line found, and {self.problem}; check the script with {shell} -n"
        return (
            "no launch line found; write the program's start as srun, mpirun, mpiexec or aprun "
            "by its name"
        )


def _check_size(data: bytes, name: str) -> None:
    shown = printable(name)
    if not data.strip():
        raise UsageError(f"{shown}: the script is empty; name the file of a job script")
    if len(data) > JOB_SCRIPT.file_bytes:
        raise UsageError(
            f"{shown}: {len(data)} bytes, and sbatch takes {JOB_SCRIPT.file_bytes} at most; "
            f"{JOB_SCRIPT.remedy}"
        )
    if b"\0" in data:
        raise UsageError(
            f"{shown}: holds NUL bytes, so it is not a script; name the job script, not the "
            "program"
        )


def _check_beginning(data: bytes, name: str) -> None:
    shown = printable(name)
    if data.startswith(_BYTE_ORDER_MARK):
        raise UsageError(
            f"{shown}: begins with a byte order mark, so that sbatch finds no interpreter; save "
            "it as UTF-8 without BOM"
        )
    if not data.startswith(b"#!"):
        first = data.partition(b"\n")[0][:40].decode("utf-8", "replace")
        raise UsageError(
            f"{shown}: the first line is {printable(first)!r}, and sbatch demands an interpreter "
            "there; write #!/bin/bash as the first line"
        )


def _problem(text: str, reading: ParsedScript) -> str:
    if not reading.problem:
        return ""
    line = text.count("\n", 0, reading.stopped) + 1
    return f"line {line} is not understood ({reading.problem})"


def _listed(launches: Sequence[LaunchLine]) -> str:
    """Return a list of launch lines for a message."""
    shown = [
        f"{each.number}: line {each.first_line}, {_short(each.text)}" for each in launches[:9]
    ]
    more = [f"and {len(launches) - 9} more"] if len(launches) > 9 else []
    return "; ".join([*shown, *more])


def _short(text: str) -> str:
    shown = printable(" ".join(text.replace("\\\n", " ").split()))
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


# CPUs that a job requests and that srun does not pass on to its tasks.
#
# Source: release notes of Slurm 22.05: srun no longer reads SLURM_CPUS_PER_TASK, which sbatch
# sets; it uses its own --cpus-per-task, or SRUN_CPUS_PER_TASK.

VARIABLE = "SRUN_CPUS_PER_TASK"
_SAID = re.compile(rf"^[^#\n]*\b{VARIABLE}\b".encode(), re.MULTILINE)


def missing_cpus(
    script: JobScript, environment: Mapping[str, str], step: int | None = None
) -> Iterator[str]:
    """Yield a warning for each srun whose tasks lack the CPUs that the job requests.

    Args:
        script: The user's script.
        environment: Environment in which the job is submitted.
        step: Number of the launch line to check; None for all.
    """
    wanted = script.resources.cpus_per_task or 1
    if wanted < 2 or script.resources.is_heterogeneous:
        return
    if environment.get(VARIABLE) or _SAID.search(script.data):
        return
    for launch in script.launches:
        if step in (None, launch.number) and _is_silent(launch):
            yield (
                f"{script.name}, line {launch.first_line}: tasks of srun do not get the {wanted} "
                f"CPUs each that #SBATCH --cpus-per-task={wanted} asks for, since Slurm 22.05: "
                f"write srun --cpus-per-task={wanted}, or export {VARIABLE}={wanted} before it"
            )


def _is_silent(launch: LaunchLine) -> bool:
    """Return whether a line is a parsed srun that sets no CPUs, not even by a variable."""
    if launch.launcher != "srun" or launch.problem:
        return False
    return not read_launcher([text for text, _ in launch.known]).cpus_per_rank
