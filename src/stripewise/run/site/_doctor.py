# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what works on this machine, and gives remedies for what does not."""

from __future__ import annotations

import itertools
import math
import os
import platform
import shutil
from collections.abc import Sequence
from pathlib import Path

from stripewise.core import temporary_directory
from stripewise.core.errors import RuntimeMissingError, StripewiseError
from stripewise.evidence.containers import Handshake, handshake, read_containers
from stripewise.present import size_text, text_of
from stripewise.run._ask import CommandResult, ask
from stripewise.run.runtime import (
    REMEDIES,
    MpiInstallation,
    Runtime,
    detect_mpis,
    find_runtime,
    mpiexec_words,
    preload_environment,
    program_word,
    ranks_of_command,
)
from stripewise.run.site._base import Check, CheckStatus, fail, ok, warn
from stripewise.storage.machines import known_storage, local_storage, measured_words

_LEAST_SHM_BYTES = 64 << 20
_LEAST_DISK_BYTES = 1 << 30


def run_doctor(command: Sequence[str] = ()) -> list[Check]:
    """Check the machine, the current directory, and a command if there is one.

    Args:
        command: The user's command (`mpiexec -n 8 ./app`), whose program must exist, with a
            processor for each rank.
    """
    mpis = detect_mpis()
    usable = [mpi for mpi in mpis if not mpi.problem]
    checks = [_python(), *_compilers(), *map(_mpi, mpis)]
    checks += [*map(_hdf5, usable), *map(_libraries, usable)]
    if not usable:
        checks.append(
            warn(
                "MPI",
                "no MPI compiler wrapper works: only programs without MPI can be tuned",
                "install one (Debian: mpich libmpich-dev, or openmpi-bin libopenmpi-dev) or "
                "load its module",
            )
        )
    checks += [*_runtime_checks(usable), *_program(command)]
    checks += [_processors(mpis, command), _shared_memory()]
    checks += [*_storage(Path.cwd()), _slurm()]
    return checks


def _python() -> Check:
    return ok("Python", f"{platform.python_version()} on {platform.platform(terse=True)}")


def _program(command: Sequence[str]) -> list[Check]:
    """Check that the program of a command exists."""
    word = program_word(command) if command else ""
    if not word:
        return []
    located = shutil.which(word) or (word if Path(word).is_file() else "")
    if located:
        return [ok("program", located)]
    return [fail("program", f"{word}: no such program", "check its name, its path and PATH")]


def _compilers() -> list[Check]:
    checks = []
    for tool, package in (("cc", "gcc"), ("cmake", "cmake")):
        located = shutil.which(tool)
        if located:
            version = ask([located, "--version"]).text.partition("\n")[0]
            checks.append(ok(tool, f"{located}: {version}"))
        else:
            remedy = f"install it (Debian package {package}); needed for `doctor build` only"
            checks.append(warn(tool, "not on PATH", remedy))
    return checks


def _mpi(mpi: MpiInstallation) -> Check:
    if mpi.problem:
        return warn("MPI", mpi.problem, "install its development files, or take it off PATH")
    launcher = mpi.mpiexec or "no launcher beside it"
    choice = f", MPI-IO: {' or '.join(mpi.mpiio)}" if mpi.mpiio else ""
    return ok("MPI", f"{mpi.label} ({mpi.mpicc}, {launcher}){choice}")


def _hdf5(mpi: MpiInstallation) -> Check:
    if mpi.hdf5 is None:
        return warn(
            "HDF5",
            f"no parallel HDF5 for {mpi.label}: its kernel has no hdf5 back end",
            f"install it (Debian: libhdf5-{mpi.family}-dev) or set HDF5_DIR, then "
            "`stripewise doctor build`; programs with their own HDF5 are tuned all the same",
        )
    return ok("HDF5", f"{mpi.hdf5.version} for {mpi.label} ({mpi.hdf5.include})")


def _libraries(mpi: MpiInstallation) -> Check:
    """Check the I/O libraries, which are optional; without one the kernel lacks a back end."""
    there = {library.title: library.version for library in mpi.libraries}
    found = ", ".join(f"{title} {version}".strip() for title, version in there.items())
    absent = ", ".join(
        f"{title} (set {remedy})" for title, remedy in REMEDIES.items() if title not in there
    )
    if not found:
        return warn("I/O libraries", f"none found for {mpi.label}", f"optional: {absent}")
    detail = f"for {mpi.label}: {found}" + (f"; not found: {absent}" if absent else "")
    return ok("I/O libraries", detail)


def _runtime_checks(mpis: Sequence[MpiInstallation]) -> list[Check]:
    try:
        runtime = find_runtime()
    except RuntimeMissingError as error:
        return [fail("runtime library", str(error).partition(";")[0], "stripewise doctor build")]
    checks = [ok("runtime library", str(runtime.core)), check_preload(runtime)]
    if checks[-1].status is CheckStatus.FAIL:
        return checks
    for mpi in mpis:
        checks += _plugin(runtime, mpi)
    return checks


def _plugin(runtime: Runtime, mpi: MpiInstallation) -> list[Check]:
    plugin = runtime.plugins.get(f"{mpi.family}-{mpi.major}")
    name = f"plug-in for {mpi.label}"
    if plugin is None:
        remedy = f"stripewise doctor build --mpicc {mpi.mpicc}"
        return [warn(name, "not built: programs of this MPI cannot be tuned", remedy)]
    return [ok(name, str(plugin)), check_mpi_run(runtime, mpi)]


def _processors(mpis: Sequence[MpiInstallation], command: Sequence[str]) -> Check:
    usable = usable_processors()
    limit = cgroup_processors()
    detail = f"{usable} usable" + (f" (cgroup limit {limit:g})" if limit else "")
    ranks = ranks_of_command(command)
    if ranks and ranks > usable:
        return warn(
            "processors",
            f"{detail}, the command asks for {ranks} ranks: oversubscribed",
            "use no more ranks than processors; MPICH spins, and timings of I/O settings then "
            "mislead (Open MPI tolerates moderate oversubscription)",
        )
    if not ranks and any(mpi.family == "mpich" for mpi in mpis):
        detail += "; with MPICH use no more ranks than that, or timings mislead"
    return ok("processors", detail)


def parse_cpu_max(text: str) -> float | None:
    """Return the processors that a text like `cpu.max` of cgroup v2 allows; None if unlimited."""
    words = text.split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return None
    return int(words[0]) / int(words[1])


def cgroup_processors(root: Path = Path("/")) -> float | None:
    """Return the processors that the cgroups of this process allow; None if unlimited.

    Args:
        root: Parent of `proc` and `sys` (for tests).
    """
    lines = text_of(root / "proc/self/cgroup").splitlines()
    group = next((line[3:] for line in lines if line.startswith("0::")), "/").strip("/")
    base = root / "sys/fs/cgroup"
    groups = itertools.accumulate(Path(group).parts, Path.joinpath, initial=base)
    texts = [text_of(path / "cpu.max") for path in groups]
    first = base / "cpu"  # cgroup v1
    texts.append(f"{text_of(first / 'cpu.cfs_quota_us')} {text_of(first / 'cpu.cfs_period_us')}")
    limits = [limit for text in texts if (limit := parse_cpu_max(text)) is not None]
    return min(limits, default=None)


def usable_processors() -> int:
    """Return the number of processors available to ranks on this machine, at least 1."""
    count = len(os.sched_getaffinity(0))
    limit = cgroup_processors()
    return max(1, min(count, math.floor(limit) if limit else count))


def _shared_memory() -> Check:
    try:
        free = shutil.disk_usage("/dev/shm").free
    except OSError:
        return warn("/dev/shm", "missing: MPI between ranks of one node is slow or fails")
    if free < _LEAST_SHM_BYTES:
        detail = f"{size_text(free)} free: MPICH and Open MPI may fail to start"
        return warn("/dev/shm", detail, "enlarge it (containers: --shm-size=1g)")
    return ok("/dev/shm", f"{size_text(free)} free")


def _storage(directory: Path) -> list[Check]:
    storage = local_storage(directory)
    mount = storage.mount
    if mount.is_memory:
        remedy = "run where the program's real output goes"
        found = warn(
            "file system", f"{directory} is in memory ({mount.kind}), not on storage", remedy
        )
    else:
        role = "network" if mount.is_network else "local"
        role = "parallel" if mount.is_parallel else role
        detail = f"{directory} is on {mount.kind or 'an unknown type'} ({role})"
        known, problems = known_storage(directory)
        words = f"described as {known}" if known else measured_words(storage)
        detail = f"{detail}; {words or 'not measured (`stripewise machine probe`)'}"
        found = ok("file system", detail)
        if problems:
            found = warn("file system", detail, problems[0])
    try:
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return [found, warn("disk space", f"cannot be determined: {error.strerror}")]
    if free < _LEAST_DISK_BYTES:
        remedy = "a study keeps copies of inputs and outputs: free some space first"
        return [found, warn("disk space", f"{size_text(free)} free in {directory}", remedy)]
    return [found, ok("disk space", f"{size_text(free)} free in {directory}")]


def _slurm() -> Check:
    located = shutil.which("srun")
    if not located:
        return ok("Slurm", "not here (local runs only)")
    answer = ask([located, "--version"])
    if answer.text.strip():
        return ok("Slurm", f"{located}: {answer.text.strip()}")
    reason = (answer.error.strip() or answer.problem or "no output").splitlines()[-1]
    return ok("Slurm", f"{located} does not report its version ({reason}): local runs only")


# Checks of the doctor that run a program with the library and read its records.

_REBUILD = "stripewise doctor build --force"
_PROGRAM = """#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
"""


def run_under(runtime: Runtime, command: Sequence[str]) -> tuple[CommandResult, Handshake]:
    """Run a command with the library; return its outcome and the handshake."""
    with temporary_directory("doctor") as directory:
        environment = preload_environment(runtime, directory=directory)
        answer = ask(command, environment=environment, timeout_seconds=60)
        profile = read_containers(sorted(directory.glob("*.sw")))
        return answer, handshake(profile, command)


def check_preload(runtime: Runtime) -> Check:
    """Check that the library can be preloaded into `true`."""
    name = "preload"
    try:
        answer, seen = run_under(runtime, ["true"])
    except StripewiseError as error:
        return fail(name, str(error))
    if not answer.ok:
        return fail(name, f"`true` fails under {runtime.core}: {_last(answer)}", _REBUILD)
    if not seen.ok:
        detail = _last(answer) if "cannot be preloaded" in answer.error else seen.message
        return fail(name, detail, f"{_REBUILD}; see `LD_PRELOAD={runtime.core} true`")
    return ok(name, f"{runtime.core} loads and records")


def check_mpi_run(runtime: Runtime, mpi: MpiInstallation) -> Check:
    """Check that a program compiled with an MPI runs on two ranks that load the library."""
    name = f"{mpi.label} under the library"
    if mpi.mpiexec is None:
        return warn(name, f"no mpiexec beside {mpi.mpicc}: not tried")
    with temporary_directory("doctor") as directory:
        source, program = directory / "probe.c", directory / "probe"
        source.write_text(_PROGRAM)
        compiled = ask([str(mpi.mpicc), str(source), "-o", str(program)])
        if not compiled.ok:
            return warn(name, f"{mpi.mpicc} cannot link a program: {_last(compiled)}")
        try:
            answer, seen = run_under(runtime, [*mpiexec_words(mpi, 2), str(program)])
        except StripewiseError as error:
            return fail(name, str(error))
    if not answer.ok:
        return warn(name, f"two ranks do not run here: {_last(answer)}")
    if not seen.ok:
        return fail(name, seen.message, f"stripewise doctor build --force --mpicc {mpi.mpicc}")
    return ok(name, f"{seen.seen_ranks} of {seen.expected_ranks} ranks seen")


def _last(answer: CommandResult) -> str:
    output = (answer.error or answer.text).splitlines()
    lines = [line.strip() for line in output if line.strip(" -")]
    return lines[-1] if lines else answer.problem or f"exit code {answer.exit_code}"
