# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Under which circumstances a surface is recorded, and going on under the same ones."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import stripewise
from stripewise.emulation import EmulatedStorage
from stripewise.errors import StudyError
from stripewise.machines import description_digest, known_storage, local_storage
from stripewise.model import ProgramFacts
from stripewise.runtime import mpi_of_command
from stripewise.surfaces._recording_plan import (
    CONTROL_EVERY,
    REPEATS,
    RecordingOptions,
    recorded_tunables,
)
from stripewise.surfaces._surface import Surface
from stripewise.text import text_of

_TIMEOUT = "timeout_seconds"
_COMPARED = {
    "mpi": "MPI",
    "mpiio": "MPI-IO",
    "hdf5": "HDF5",
    "cpu": "the processor",
    "filesystem": "the file system",
    "emulated": "the emulated storage",
    "emulated digest": "the description of the emulated storage",
}


def known_surface(options: RecordingOptions) -> Surface | None:
    """Return what the file holds already; None: it is to be begun.

    Raises:
        StudyError: It holds something else than what was asked for.
    """
    exists = options.output.exists() and options.output.stat().st_size > 0
    if exists and not options.resume:
        text = f"{options.output} exists already; go on with --resume, or give another -o"
        raise StudyError(text)
    if not exists:
        if not options.command or not options.vary:
            raise StudyError(f"there is no recording in {options.output} to go on with")
        return None
    surface = Surface.load(options.output)
    if not surface.plan:
        raise StudyError(f"{options.output} was not recorded by a plan; give another -o")
    if options.command and options.command != surface.command:
        raise StudyError(
            f"{options.output} is a recording of `{' '.join(surface.command)}`, not of this "
            "command; leave the command out, or give another -o"
        )
    if options.vary and recorded_tunables(options.vary) != dict(surface.tunables):
        raise StudyError(f"{options.output} is a recording of other tunables; leave --vary out")
    return surface


def options_of(surface: Surface, options: RecordingOptions) -> RecordingOptions:
    """Return the options under which a recording goes on: those it was begun with."""
    return replace(
        options,
        command=surface.command,
        sync=_synced(surface),
        timeout_seconds=_timeout(surface, options),
    )


def ignored_options(surface: Surface, options: RecordingOptions) -> Iterator[str]:
    """Say which of the options given now are not those of the recording, and not used."""
    plan = surface.plan
    given = (
        ("--repeats", options.repeats, REPEATS, plan.get("repeats")),
        ("--seed", options.seed, 0, plan.get("seed")),
        ("--control-every", options.control_every, CONTROL_EVERY, plan.get("control_every")),
    )
    for name, value, usual, recorded in given:
        if value not in (usual, recorded):
            yield f"{name} {value} is ignored: the recording was begun with {recorded}"
    if not options.sync and _synced(surface):
        yield "--no-sync is ignored: the recording was begun without it"
    timeout, wanted = _timeout(surface, options), options.timeout_seconds
    if wanted is not None and timeout != wanted:
        yield f"--timeout {wanted:g}s is ignored: the recording was begun with {timeout:g}s"


def provenance_of(
    options: RecordingOptions, facts: ProgramFacts, directory: Path, timeout_seconds: float | None
) -> dict[str, str]:
    """Return versions, machine and storage, without names of hosts or directories.

    Args:
        options: Of the recording.
        facts: What the first run showed.
        directory: Of the runs.
        timeout_seconds: Time limit of a run.
    """
    storage = EmulatedStorage.find(options.storage) if options.storage else None
    described = known_storage(directory)[0] if storage is None else None
    mpi = mpi_of_command(options.command)
    version = " ".join(facts.mpi_version.partition(", package")[0].split())
    found = {
        "stripewise": stripewise.__version__,
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _field(Path("/proc/meminfo"), "MemTotal"),
        "filesystem": facts.filesystem,
        "storage": local_storage(directory).mount.medium if storage is None else "emulated",
        "emulated": storage.identity if storage is not None else "",
        "emulated digest": storage.digest if storage is not None else "",
        "described": described.storage.name if described else "",
        "described digest": description_digest(described.storage) if described else "",
        "mpi": version or (mpi.label if mpi else ""),
        "mpiio": facts.mpiio_implementation,
        "hdf5": mpi.hdf5.version if facts.uses_hdf5 and mpi and mpi.hdf5 else "",
        "synced": "yes" if options.sync else "no",
        _TIMEOUT: f"{timeout_seconds:g}",
    }
    return {name: text for name, text in found.items() if text}


def check_same(
    surface: Surface, facts: ProgramFacts, provenance: Mapping[str, str], path: object
) -> None:
    """Refuse to mix figures of two machines or stacks in one file.

    Raises:
        StudyError: What the first run of this session showed differs from the header.
    """
    differing = []
    if facts.n_ranks != surface.facts.n_ranks:
        differing.append(f"ranks: {surface.facts.n_ranks}, now {facts.n_ranks}")
    for name, title in _COMPARED.items():
        before, now = surface.provenance.get(name, ""), provenance.get(name, "")
        if surface.provenance and before != now:
            differing.append(f"{title}: {before or 'none'}, now {now or 'none'}")
    if differing:
        raise StudyError(
            f"{path} was begun under other circumstances ({'; '.join(differing)}); go on with it "
            "there, or give another -o"
        )


def _synced(surface: Surface) -> bool:
    return surface.provenance.get("synced") != "no"


def _timeout(surface: Surface, options: RecordingOptions) -> float:
    """Return the time limit in the header."""
    text = surface.provenance.get(_TIMEOUT, "")
    try:
        return float(text)
    except ValueError:
        raise StudyError(
            f"the surface {options.output} is damaged: {_TIMEOUT} is {text!r}"
        ) from None


def _field(path: Path, name: str) -> str:
    """Return the first value of a `name: value` file; "" if it has none."""
    found = re.search(rf"^{name}[ \t]*:(.*)", text_of(path), re.MULTILINE)
    return " ".join(found[1].split()) if found else ""
