# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads samples from recorded surfaces, study results and journals, and checks them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.core import (
    BASELINE_ROLES,
    ProgramFacts,
    RunRole,
    RunStatus,
    Striping,
    Value,
    from_json,
)
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.core.inputs import RESULTS, parse_json, read_input
from stripewise.evidence.patterns import pattern_of
from stripewise.learning.performance import Ground, Training, TrainingSample, Way
from stripewise.run.runtime import program_name
from stripewise.settings.tunables import get
from stripewise.storage.machines import description_digest, find_storage
from stripewise.storage.simulation import stack_of
from stripewise.study.plan import parse_journal
from stripewise.study.training._surface import Surface, SurfaceRole

_TIMED = frozenset({RunStatus.OK, RunStatus.TIMEOUT})


@dataclass(frozen=True)
class TrainingEvidence(Training):
    """Samples of one ground from one file.

    Attributes:
        path: Path of the file.
        program: Program of a surface; empty for a study.
        storage: Storage of the runs, with the ranks of a node: "hopper@1/16, 2 ranks a node".
    """

    path: Path = Path()
    program: str = ""
    storage: str = ""


def find_evidence(directory: Path) -> tuple[list[TrainingEvidence], list[str]]:
    """Return the evidence in a directory, and why other surfaces and studies are not used.

    Raises:
        UsageError: The directory does not exist or contains none.
    """
    if directory.is_file():
        return read_evidence([directory], directory)
    if not directory.is_dir():
        raise UsageError(
            f"--from {directory}: there is no such directory; give one that holds surfaces or "
            "studies"
        )
    files = sorted((*directory.rglob("*.jsonl"), *directory.rglob(RESULT)))
    return read_evidence([one for one in files if not _is_superseded(one)], directory)


def _is_superseded(path: Path) -> bool:
    """Return whether a file is the journal of a study whose result is beside it."""
    return path.name == JOURNAL and path.with_name(RESULT).exists()


def read_evidence(paths: Iterable[Path], source: Path) -> tuple[list[TrainingEvidence], list[str]]:
    """Return the samples of surfaces and studies, and a line on each file that is not usable.

    Raises:
        UsageError: None of the files is usable.
    """
    found: list[TrainingEvidence] = []
    refused: list[str] = []
    for path in paths:
        try:
            found += (
                _evidence_of_study(path)
                if path.name in (RESULT, JOURNAL)
                else _evidence_of_surface(path)
            )
        except StripewiseError as error:
            refused.append(str(error))
    if not found:
        why = f" ({refused[0]})" if refused else ""
        raise UsageError(
            f"{source} holds no surface and no result of a study that a model could be made "
            f"from{why}"
        )
    return found, refused


def _evidence_of_surface(path: Path) -> Iterator[TrainingEvidence]:
    surface = Surface.load(path)
    check_facts(surface.facts, path)
    ground, way = _ground(surface.provenance, surface.facts, path)
    kernel, samples = _kernel_of(surface.command), []
    for indices in surface.by_settings().values():
        runs = [surface.runs[index] for index in indices]
        times = tuple(map(_seconds, (r for r in runs if r.status in _TIMED)))
        if times and usable(runs[0].settings):
            samples.append(TrainingSample(surface.facts, dict(runs[0].settings), times, kernel))
    warm = sum(run.role is SurfaceRole.WARM_UP for run in surface.runs)
    seconds = sum(run.elapsed_seconds for run in surface.runs)
    if len(surface.runs) > warm:
        yield TrainingEvidence(
            ground, tuple(samples), len(surface.runs), seconds, way, path,
            kernel or program_name(surface.command), surface.provenance.get(way.value, ""),
        )  # fmt: skip


def _kernel_of(command: Sequence[str]) -> str:
    """Return the kernel of a command, whose scales and sizes are one program; empty for others."""
    for word, following in itertools.pairwise(command):
        if word in (Way.SIMULATED, "--pattern"):
            return following
    return ""


def _seconds(run: Any) -> float:
    """Return the I/O seconds of a run; one that was cut off counts as I/O until then."""
    return float(run.io_seconds if run.status is RunStatus.OK else run.elapsed_seconds)


def _evidence_of_study(path: Path) -> Iterator[TrainingEvidence]:
    study = read_study(path)
    share = len(study.facts)
    for case, facts in study.facts.items():
        ground, way = _ground(study.provenance, facts, path)
        yield TrainingEvidence(
            ground, tuple(study.samples(case)), study.n_runs // share,
            study.run_seconds / share, way, path,
        )  # fmt: skip


def _ground(provenance: Any, facts: ProgramFacts, path: Path) -> tuple[Ground, Way]:
    """Return the ground of a file's runs and the way they were made, from its own provenance.

    Raises:
        UsageError: The storage differed from the description of its name.
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


# Runs of studies, from their results or from the journals of unfinished ones.

RESULT, JOURNAL = "result.json", "journal.jsonl"
_TRIED = (RunRole.TRIAL, RunRole.PAIR_WINNER)
_FIRST_LOOK = "first-look"


@dataclass(frozen=True)
class StudyRun:
    """Valid run of a study.

    Attributes:
        settings: Tunable name to value, including those for only some files.
        io_seconds: I/O time of the run.
        case: Name of the run's case, if there are several.
    """

    settings: Mapping[str, Any]
    io_seconds: float
    case: str = ""


@dataclass(frozen=True)
class Studied:
    """Observations of a study.

    Attributes:
        provenance: Machine and storage of the runs.
        facts: Facts by case.
        runs: Valid runs.
        n_runs / run_seconds: Number and total time of all runs.
    """

    provenance: Mapping[str, Any]
    facts: Mapping[str, ProgramFacts]
    runs: tuple[StudyRun, ...]
    n_runs: int
    run_seconds: float

    def samples(self, case: str) -> Iterator[TrainingSample]:
        """Yield a sample for each configuration of a case."""
        times: dict[str, list[StudyRun]] = {}
        for run in self.runs:
            if run.case == case:
                times.setdefault(repr(sorted(run.settings.items())), []).append(run)
        for runs in times.values():
            settings = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in runs[0].settings.items()
            }
            if usable(settings):
                yield TrainingSample(
                    self.facts[case], settings, tuple(run.io_seconds for run in runs)
                )


def read_study(path: Path) -> Studied:
    """Read a study's result or its journal.

    Raises:
        UsageError: The file is damaged, or the study ended before its first facts.
    """
    try:
        content = read_input(path, RESULTS)
        found = (
            _studied_from_result(content)
            if path.name == RESULT
            else _studied_from_journal(content, path)
        )
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, StripewiseError):
            raise
        raise UsageError(f"the study in {path} is damaged: {error!r}") from error
    for facts in found.facts.values():
        check_facts(facts, path)
    return found


def _studied_from_result(content: bytes) -> Studied:
    data = parse_json(content)
    tried = {one["number"]: one["settings"] for one in data["trials"]}
    views = data["cases"] or [{**data, "name": ""}]
    runs = data["runs"]
    counted = (
        StudyRun({} if is_base else tried[run["trial_number"]], run["io_seconds"], run["case"])
        for run in runs
        for is_base in [_is_base(run["role"], run["status"])]
        if is_base is not None
    )
    return Studied(
        dict(data["provenance"]),
        {view["name"]: from_json(ProgramFacts, view["facts"]) for view in views},
        tuple(counted),
        len(runs),
        sum(float(run["seconds"]) for run in runs),
    )


def _studied_from_journal(content: bytes, path: Path) -> Studied:
    records, _, _ = parse_journal(content, path)
    kinds: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        kinds.setdefault(record["kind"], []).append(record)
    planned = {one["run_id"]: one for one in kinds.get("run-planned", ())}
    runs = []
    for record in kinds.get("run-finished", ()):
        plan, seen = planned[record["run_id"]], record["measurement"]
        is_base = _is_base(plan["role"], seen["status"])
        if is_base is not None:
            runs.append(StudyRun(plan["settings"], seen["io_seconds"], plan["case"]))
    looks = [one for one in kinds.get("value", ()) if one["name"].endswith(_FIRST_LOOK)]
    if not looks:
        raise UsageError(f"{path}: the study ended before anything was seen of its program")
    finished = [one["measurement"] for one in kinds.get("run-finished", ())]
    return Studied(
        dict(kinds["study"][0]["provenance"]),
        {
            one["name"].removesuffix(_FIRST_LOOK).removesuffix(":"): from_json(
                ProgramFacts, one["value"]["facts"]
            )
            for one in looks
        },
        tuple(runs),
        len(finished),
        sum(float(one["elapsed_seconds"]) for one in finished),
    )


def _is_base(role: str, status: str) -> bool | None:
    """Return whether a run was made with nothing set; None if it is not valid."""
    kind = RunRole(role)
    if status != RunStatus.OK.value or kind not in (*BASELINE_ROLES, *_TRIED):
        return None
    return kind in BASELINE_ROLES


# Data from elsewhere is not trusted: facts and settings that no run could have are refused.

MOST_RANKS = 100_000_000
CHOOSES_STACK = "mca.io"
_MOST = 1 << 62


def usable(settings: Mapping[str, Value]) -> bool:
    """Return whether a model can use settings: known ones, for all files, of one stack."""
    try:
        for name, value in settings.items():
            get(name).check(value)
    except UsageError:
        return False
    return CHOOSES_STACK not in settings


def check_facts(facts: ProgramFacts, path: Path) -> None:
    """Refuse facts that no run could have shown, because the data may be from elsewhere.

    Raises:
        UsageError: The facts are impossible.
    """
    try:
        for pattern in facts.patterns:
            pattern_of(pattern, facts.n_ranks)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    striping = facts.striping or Striping(1)
    sizes = [value for value in vars(facts).values() if isinstance(value, int | float)]
    least = (facts.n_ranks, facts.n_hosts, striping.targets, striping.stripe_size)
    if min(least) < 1 or striping.stripe_count < -1 or min(sizes) < 0:
        raise UsageError(f"{path}: a size is negative, or there is no rank, no host or no target")
    if (
        max(facts.n_ranks, facts.n_hosts, facts.virtual_nodes) > MOST_RANKS
        or max(*sizes, striping.targets, striping.stripe_count, striping.stripe_size) > _MOST
    ):
        raise UsageError(f"{path}: it has more ranks or bytes than any machine")
