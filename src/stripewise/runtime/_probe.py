# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Really run something under the library and read back what it left."""

from __future__ import annotations

from collections.abc import Sequence

from stripewise.errors import StripewiseError
from stripewise.owned import OwnedDirectory
from stripewise.readers import Handshake, handshake, read_containers
from stripewise.runtime._check import Check, fail, ok, warn
from stripewise.runtime._environment import preload_environment
from stripewise.runtime._locate import Runtime
from stripewise.runtime._mpi import MpiInstallation
from stripewise.runtime._process import Answer, ask
from stripewise.runtime._processors import usable_processors

_REBUILD = "stripewise runtime build --force"
_PROGRAM = """#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
"""


def run_under(runtime: Runtime, command: Sequence[str]) -> tuple[Answer, Handshake]:
    """Run a command under the library; return its outcome and the handshake."""
    with OwnedDirectory.temporary("doctor") as directory:
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
    if not answer.ok:
        return fail(name, f"`true` fails under {runtime.core}: {_last(answer)}", _REBUILD)
    if not seen.ok:
        detail = _last(answer) if "cannot be preloaded" in answer.err else seen.message
        return fail(name, detail, f"{_REBUILD}; see `LD_PRELOAD={runtime.core} true`")
    return ok(name, f"{runtime.core} loads and records")


def check_mpi_run(runtime: Runtime, mpi: MpiInstallation) -> Check:
    """Compile a program with an MPI, run it on two ranks and look for their marks."""
    name = f"{mpi.label} under the library"
    if mpi.mpiexec is None:
        return warn(name, f"no mpiexec beside {mpi.mpicc}: not tried")
    with OwnedDirectory.temporary("doctor") as directory:
        source, program = directory / "probe.c", directory / "probe"
        source.write_text(_PROGRAM)
        compiled = ask([str(mpi.mpicc), str(source), "-o", str(program)])
        if not compiled.ok:
            return warn(name, f"{mpi.mpicc} cannot link a program: {_last(compiled)}")
        command = [str(mpi.mpiexec), *_oversubscribe(mpi), "-n", "2", str(program)]
        try:
            answer, seen = run_under(runtime, command)
        except StripewiseError as error:
            return fail(name, str(error))
    if not answer.ok:
        return warn(name, f"two ranks do not run here: {_last(answer)}")
    if not seen.ok:
        return fail(name, seen.message, f"stripewise runtime build --force --mpicc {mpi.mpicc}")
    return ok(name, f"{seen.seen_ranks} of {seen.expected_ranks} ranks seen")


def _oversubscribe(mpi: MpiInstallation) -> list[str]:
    few = mpi.family == "openmpi" and usable_processors() < 2
    return ["--oversubscribe"] if few else []


def _last(answer: Answer) -> str:
    lines = [line for line in (answer.err or answer.out).splitlines() if line.strip(" -")]
    return lines[-1].strip() if lines else f"exit code {answer.code}"
