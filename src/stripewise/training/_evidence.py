# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What was measured before, as samples: recorded surfaces, and the results of studies."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.errors import StripewiseError, UsageError
from stripewise.machines import description_digest, find_storage
from stripewise.model import ProgramFacts, RunStatus
from stripewise.performance import Ground, Sample
from stripewise.runtime import program_name
from stripewise.simulation import stack_of
from stripewise.surfaces import Surface, SurfaceRole
from stripewise.training._believable import check_facts, usable
from stripewise.training._options import Way
from stripewise.training._studies import JOURNAL, RESULT, read_study

_TIMED = frozenset({RunStatus.OK, RunStatus.TIMEOUT})


@dataclass(frozen=True)
class Evidence:
    """Samples of one ground, out of one file.

    Attributes:
        path: Of the file.
        ground: Where they were taken.
        way: How.
        samples: One for each configuration.
        runs / run_seconds: What they cost.
        program: What ran, of a surface; "" for a study.
        storage: As the runs tell it, with the ranks of a node: "hopper@1/16, 2 ranks a node".
    """

    path: Path
    ground: Ground
    way: Way
    samples: tuple[Sample, ...]
    runs: int
    run_seconds: float
    program: str = ""
    storage: str = ""


def find_evidence(directory: Path) -> tuple[list[Evidence], list[str]]:
    """Return what the surfaces and studies in a directory say, and why others there do not count.

    Raises:
        UsageError: There is no such directory, or nothing in it.
    """
    if directory.is_file():
        return read_evidence([directory], directory)
    if not directory.is_dir():
        raise UsageError(
            f"--from {directory}: there is no such directory; give one that holds surfaces or "
            "studies"
        )
    files = sorted((*directory.rglob("*.jsonl"), *directory.rglob(RESULT)))
    return read_evidence([one for one in files if not _is_told_better(one)], directory)


def _is_told_better(path: Path) -> bool:
    """Whether a file is the journal of a study whose result lies beside it."""
    return path.name == JOURNAL and path.with_name(RESULT).exists()


def read_evidence(paths: Iterable[Path], source: Path) -> tuple[list[Evidence], list[str]]:
    """Return the samples of surfaces and studies; what cannot be used is said, a line each.

    Raises:
        UsageError: Not one of the files can be used.
    """
    found: list[Evidence] = []
    refused: list[str] = []
    for path in paths:
        try:
            found += _of_study(path) if path.name in (RESULT, JOURNAL) else _of_surface(path)
        except StripewiseError as error:
            refused.append(str(error))
    if not found:
        why = f" ({refused[0]})" if refused else ""
        raise UsageError(
            f"{source} holds no surface and no result of a study that a model could be made "
            f"from{why}"
        )
    return found, refused


def _of_surface(path: Path) -> Iterator[Evidence]:
    surface = Surface.load(path)
    check_facts(surface.facts, path)
    ground, way = _ground(surface.provenance, surface.facts, path)
    kernel, samples = _kernel_of(surface.command), []
    for indices in surface.by_settings().values():
        runs = [surface.runs[index] for index in indices]
        times = tuple(map(_seconds, (r for r in runs if r.status in _TIMED)))
        acting = dict(surface.key(runs[0].settings))
        settings = {n: value for n, value in runs[0].settings.items() if n in acting}
        if times and usable(settings):
            samples.append(Sample(surface.facts, settings, times, kernel))
    warm = sum(run.role is SurfaceRole.WARM_UP for run in surface.runs)
    seconds = sum(run.elapsed_seconds for run in surface.runs)
    if len(surface.runs) > warm:
        yield Evidence(
            path, ground, way, tuple(samples), len(surface.runs), seconds,
            kernel or program_name(surface.command), surface.provenance.get(way.value, ""),
        )  # fmt: skip


def _kernel_of(command: Sequence[str]) -> str:
    """Return the kernel that was run: its scales and sizes are one program; "" for others."""
    for word, following in itertools.pairwise(command):
        if word in (Way.SIMULATED, "--pattern"):
            return following
    return ""


def _seconds(run: Any) -> float:
    """Return the I/O seconds of a run; one that was cut off counts as all I/O until then."""
    return float(run.io_seconds if run.status is RunStatus.OK else run.elapsed_seconds)


def _of_study(path: Path) -> Iterator[Evidence]:
    study = read_study(path)
    share = len(study.facts)
    for case, facts in study.facts.items():
        ground, way = _ground(study.provenance, facts, path)
        yield Evidence(
            path, ground, way, tuple(study.samples(case)), study.n_runs // share,
            study.run_seconds / share,
        )  # fmt: skip


def _ground(provenance: Any, facts: ProgramFacts, path: Path) -> tuple[Ground, Way]:
    """Return where a file's runs were made, by what it says of that itself.

    Raises:
        UsageError: The storage was not the one that its name stands for.
    """
    for key, way in (("simulated", Way.SIMULATED), ("emulated", Way.EMULATED)):
        if identity := provenance.get(key):
            name, *variants = str(identity).split(", ")
            odd = [one for one in variants if not one.endswith(("a node", "with noise"))]
            if odd:
                raise UsageError(f"{path}: {name} with {odd[0]} is another storage than {name}")
            digest = str(provenance.get(f"{key} digest", ""))
            stack = str(provenance.get("stack", "")) or stack_of(facts)
            return Ground(name, digest, stack), way
    described = str(provenance.get("described", ""))
    digest = str(provenance.get("described digest", ""))
    if described and not digest:
        digest = description_digest(find_storage(described))
    return Ground(described or facts.filesystem, digest, stack_of(facts)), Way.REAL
