# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A host on which job scripts of others run: every command of a centre is a stub that is noted.

Launchers note their words and start the first word that is a command; programs note theirs, and
leave a file where they work.  `sbatch`, `scancel` and the like only note that they were called.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from stripewise.cli import main
from stripewise.run.slurm import RateLimiter

LAUNCHERS = "srun mpirun mpiexec mpiexec.hydra mpirun_rsh orterun aprun ibrun jsrun flux".split()
SUBMITTERS = (
    "sbatch salloc scancel strigger qsub bsub msub pjsub oarsub condor_submit scrontab sattach"
).split()
OTHERS = (
    "module ml conda mamba spack singularity apptainer shifter podman-hpc sbcast sgather ssh mail"
    " numactl likwid-pin hpcrun parallel dask-scheduler matlab sinfo squeue sacct lfs hsi htar"
    " nvidia-smi globus nsys remora ddt stage_in_rpm myquota seff showquota"
).split()
_STUB = """#!/bin/sh
noted=$(printf '<%s>' "$@" | tr '\\n' ' ')
printf '%s\\n' "${0##*/} @$PWD $noted" >> "$TRACE"
"""
_LAUNCHER = (
    _STUB
    + """name=${0##*/} out='' before=''
while [ $# -gt 0 ]; do
    case $before in -o | --output) [ "$name" = srun ] && out=$1 ;; esac
    case $1 in
        --output=*) out=${1#*=} ;;
        -* | [0-9]*) ;;
        *) case $before in
            -o | -e | --output | --error | -D | --chdir | -wdir | --wdir | -x | -genv) ;;
            *) if [ ! -d "$1" ] && command -v "$1" >/dev/null 2>&1; then break; fi ;;
           esac ;;
    esac
    before=$1
    shift
done
[ $# -gt 0 ] || exit 0
out=$(printf '%s' "$out" | sed "s/%j/$SLURM_JOB_ID/g; s/%t/0/g; s/%s/0/g; s/%[a-zA-Z]/x/g")
if [ -n "$out" ]; then exec "$@" > "$out"; fi
exec "$@"
"""
)
_PASSES = (
    _STUB
    + """while [ $# -gt 0 ]; do
    case $1 in -* | */ | *=*) ;; *) [ ! -x "$(command -v "$1")" ] || exec "$@" ;; esac
    shift
done
"""
)
_PROGRAM = """#!/usr/bin/perl
use Cwd; my $name = $0; $name =~ s{.*/}{};
my $words = join '', map { "<$_>" } @ARGV; $words =~ s/\\n/ /g;
sub note { my $file; open $file, '>>', $_[0]; syswrite $file, $_[1]; }
note($ENV{TRACE}, "$name @" . getcwd() . " $words\\n");
note($ENV{OUTPUT} || "out.$name", "ran $name @ARGV\\n");
print "$name is done\\n";
"""
_WRAPPER = _STUB + 'exec "$@"\n'
_SCONTROL = (
    """#!/bin/sh
case "$*" in
    *'show partition'*) cat "$STUBS/../partitions" ;;
    *'show burst'*) cat "$STUBS/../burst" ;;
    *show*) ;;
    *)
"""
    + _STUB.partition("\n")[2]
    + " ;;\nesac\n"
)
_BURST = """\
Name=datawarp DefaultPool=wlm_pool Granularity=200GiB TotalSpace=1600GiB FreeSpace=1600GiB
"""
_PARTITIONS = (
    "normal batch standard regular compute debug short long gpu cpu large small main workq work"
    " skylake epyc"
).split()


@dataclass(frozen=True)
class Said:
    """What a command of the product answered."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that it said, in one line."""
        return " ".join(f"{self.out} {self.err}".split())


@dataclass(frozen=True)
class Ran:
    """What a job did: the commands that it called, the files that it left, and its ends."""

    calls: tuple[str, ...]
    files: Mapping[str, bytes]
    codes: tuple[int, ...]


class JobHost:
    """A user's directory on a host with Slurm's commands, none of which does anything.

    Attributes:
        work: Directory from which the job is submitted.
        files: What is in it at first, by path.
        lustre: Directory that stands for /lustre when scripts run.
    """

    def __init__(
        self,
        room: Path,
        files: Mapping[str, bytes],
        programs: Sequence[str],
        links: Mapping[str, str],
    ) -> None:
        self.room, self.work = room, room / "work"
        self.lustre, self.home = room / "lustre", room / "home"
        self._files, self._links = files, links
        self._trace = room / "trace"
        self._write_stubs(programs)
        self.reset()

    def _write_stubs(self, programs: Sequence[str]) -> None:
        stubs = {
            **dict.fromkeys((*SUBMITTERS, *OTHERS), _STUB),
            **dict.fromkeys(LAUNCHERS, _LAUNCHER),
            **dict.fromkeys(
                "singularity apptainer shifter numactl nsys remora ddt".split(), _PASSES
            ),
            **dict.fromkeys((one for one in programs if "/" not in one), _PROGRAM),
            "scontrol": _SCONTROL,
            "stub-wrap": _WRAPPER,
        }
        (self.room / "bin").mkdir()
        for name, text in stubs.items():
            _executable(self.room / "bin" / name, text)
        self._programs = [one for one in programs if "/" in one]
        (self.room / "burst").write_text(_BURST)
        rows = (
            f"PartitionName={name} Default={'YES' if name == 'normal' else 'NO'} "
            "DefaultTime=01:00:00 MaxNodes=UNLIMITED MaxTime=7-00:00:00 State=UP TotalNodes=9000\n"
            for name in _PARTITIONS
        )
        (self.room / "partitions").write_text("".join(rows))

    def reset(self) -> None:
        """Make all directories as they were at first."""
        for path in (self.work, self.lustre, self.home, self.room / "bb"):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        (self.home / ".bash_profile").write_text(f'PATH="{self.room}/bin:$PATH"\n')
        for name, data in self._files.items():
            path = self._place(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if data.startswith(b"#!"):
                path.chmod(0o755)
        for name, target in self._links.items():
            (self.work / name).symlink_to(target.replace("/lustre", str(self.lustre)))
        for name in self._programs:
            _executable(self._place(name), _PROGRAM)

    def _place(self, name: str) -> Path:
        return self.room / name.lstrip("/") if name.startswith("/lustre") else self.work / name

    def here(self, text: bytes) -> bytes:
        """Return a script in which /lustre is the directory that stands for it."""
        return text.replace(b"/lustre", os.fsencode(self.lustre))

    # -- the product ----------------------------------------------------------------------------

    def product(self, words: Sequence[str], environment: Mapping[str, str]) -> Said:
        """Run a command of the product in the user's directory."""
        out, err, code = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), 0
        given = {**os.environ, **self._environment("/home/me"), **environment}
        limiter = RateLimiter(poll_seconds=0.05, status_per_minute=6000, actions_per_minute=6000)
        with contextlib.ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ, given, clear=True))
            stack.enter_context(patch("stripewise.run.slurm._client.SHARED", limiter))
            stack.enter_context(contextlib.chdir(self.work))
            stack.enter_context(redirect_stdout(out))
            stack.enter_context(redirect_stderr(err))
            try:
                main(list(words))
            except SystemExit as end:
                code = int(end.code or 0)
        out.flush()
        return Said(code, out.buffer.getvalue().decode("utf-8", "replace"), err.getvalue())

    def _environment(self, home: str) -> dict[str, str]:
        return {
            "PATH": f"{self.room}/bin:/usr/bin:/bin",
            "STUBS": f"{self.room}/bin",
            "TRACE": str(self._trace),
            "HOME": home,
            "USER": "me",
            "LOGNAME": "me",
        }

    # -- jobs -----------------------------------------------------------------------------------

    def calls(self) -> list[str]:
        """Return the calls of stubs since the last time, and forget them."""
        text = self._trace.read_text("utf-8", "replace") if self._trace.exists() else ""
        self._trace.unlink(missing_ok=True)
        return [self._as_first(line) for line in text.splitlines()]

    def run(self, script: str, nodes: int, elements: Sequence[str], **more: str) -> Ran:
        """Run a script as a job, or once for each element of an array, one after the other."""
        self.calls()
        codes, said = [], []
        for number, element in enumerate(elements or [""]):
            done = self._run(script, nodes, number, element, more)
            codes.append(done.returncode)
            said.append(done.stdout)
        files = dict(self.files())
        files["standard output"] = self._as_first(b"".join(said).decode("latin-1")).encode()
        return Ran(tuple(self.calls()), files, tuple(codes))

    def _run(
        self, script: str, nodes: int, number: int, element: str, more: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {
            **self._environment(str(self.home)),
            "LC_ALL": "C.UTF-8",
            "SLURM_JOB_ID": str(4711 + number),
            "SLURM_JOBID": str(4711 + number),
            "SLURM_SUBMIT_DIR": str(self.work),
            "SLURM_JOB_NAME": "job",
            "SLURM_JOB_NODELIST": "n1",
            "SLURM_NTASKS": "4",
            "SLURM_NPROCS": "4",
            "SLURM_NNODES": str(nodes),
            "SLURM_JOB_NUM_NODES": str(nodes),
            "SLURM_CPUS_PER_TASK": "2",
            "DW_JOB_STRIPED": f"{self.room}/bb",
            "FAST": f"{self.room}/bb",
            **more,
        }
        if element:
            environment |= {"SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": element}
        alive, held = os.pipe()  # all that the job starts holds its end, until the last has ended
        try:
            return subprocess.run(
                [str(self.work / script)],
                cwd=self.work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(held,),
                timeout=60,
            )
        finally:
            os.close(held)
            select.select([alive], [], [], 20)
            os.close(alive)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield all files of the user with their content, and links with their targets."""
        for top in (self.work, self.lustre, self.home):
            for path in sorted(top.rglob("*")):
                name = str(path.relative_to(self.room))
                if "removed.stripewise-" in name or name.startswith("work/run."):
                    continue
                if path.is_symlink():
                    yield name, self._as_first(os.readlink(path)).encode()
                elif path.is_file():
                    text = path.read_bytes().decode("latin-1")
                    yield name, self._as_first(text).encode("latin-1")

    def _as_first(self, text: str) -> str:
        """Return a text as a run in the user's own directory would write it."""
        there = re.escape(f"{self.room}/bb") + r"/stripewise-[0-9]+-[0-9]+/work\b"
        return re.sub(there, str(self.work), text)


def _executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
