# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the doctor: really run something under the library and read back what it left."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from stripewise.errors import StripewiseError
from stripewise.owned import temporary_directory
from stripewise.readers import Handshake, handshake, read_containers
from stripewise.runtime._environment import preload_environment
from stripewise.runtime._kernels import mpiexec_words
from stripewise.runtime._locate import Runtime
from stripewise.runtime._mpi import MpiInstallation
from stripewise.runtime._process import ask

_REBUILD = "stripewise runtime build --force"
_PROGRAM = """#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
"""


class CheckStatus(StrEnum):
    """Outcome; only FAIL makes Stripewise unusable."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What.
        status: Outcome.
        detail: What was found, one line.
        remedy: What to do; "" where nothing is to be done.
    """

    name: str
    status: CheckStatus
    detail: str
    remedy: str = ""


def ok(name: str, detail: str) -> Check:
    """All is well."""
    return Check(name, CheckStatus.OK, detail)


def warn(name: str, detail: str, remedy: str = "") -> Check:
    """Usable, with a caveat."""
    return Check(name, CheckStatus.WARN, detail, remedy)


def fail(name: str, detail: str, remedy: str = "") -> Check:
    """Not usable."""
    return Check(name, CheckStatus.FAIL, detail, remedy)


def run_under(
    runtime: Runtime, command: Sequence[str]
) -> tuple[subprocess.CompletedProcess[str], Handshake]:
    """Run a command under the library; return its outcome and the handshake."""
    with temporary_directory("doctor") as directory:
        environment = preload_environment(runtime, directory=directory)
        answer = ask(command, environment=environment, timeout_seconds=60)
        profile = read_containers(sorted(directory.glob("*.sw")))
        return answer, handshake(profile, command)


def check_preload(runtime: Runtime) -> Check:
    """Preload into `true`."""
    name = "preload"
    try:
        answer, seen = run_under(runtime, ["true"])
    except StripewiseError as error:
        return fail(name, str(error))
    if answer.returncode:
        return fail(name, f"`true` fails under {runtime.core}: {_last(answer)}", _REBUILD)
    if not seen.ok:
        detail = _last(answer) if "cannot be preloaded" in answer.stderr else seen.message
        return fail(name, detail, f"{_REBUILD}; see `LD_PRELOAD={runtime.core} true`")
    return ok(name, f"{runtime.core} loads and records")


def check_mpi_run(runtime: Runtime, mpi: MpiInstallation) -> Check:
    """Compile a program with an MPI, run it on two ranks and look for their marks."""
    name = f"{mpi.label} under the library"
    if mpi.mpiexec is None:
        return warn(name, f"no mpiexec beside {mpi.mpicc}: not tried")
    with temporary_directory("doctor") as directory:
        source, program = directory / "probe.c", directory / "probe"
        source.write_text(_PROGRAM)
        compiled = ask([str(mpi.mpicc), str(source), "-o", str(program)])
        if compiled.returncode:
            return warn(name, f"{mpi.mpicc} cannot link a program: {_last(compiled)}")
        try:
            answer, seen = run_under(runtime, [*mpiexec_words(mpi, 2), str(program)])
        except StripewiseError as error:
            return fail(name, str(error))
    if answer.returncode:
        return warn(name, f"two ranks do not run here: {_last(answer)}")
    if not seen.ok:
        return fail(name, seen.message, f"stripewise runtime build --force --mpicc {mpi.mpicc}")
    return ok(name, f"{seen.seen_ranks} of {seen.expected_ranks} ranks seen")


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip(" -")]
    return lines[-1].strip() if lines else f"exit code {done.returncode}"
