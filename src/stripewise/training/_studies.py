# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of studies: of their results, and of the journals of those that have none yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stripewise.errors import StripewiseError, UsageError
from stripewise.inputs import RESULTS, parse_json, read_input
from stripewise.model import BASELINE_ROLES, ProgramFacts, RunRole, RunStatus, from_json
from stripewise.performance import Sample
from stripewise.study import parse_journal
from stripewise.training._believable import check_facts, usable

RESULT, JOURNAL = "result.json", "journal.jsonl"
_TRIED = (RunRole.TRIAL, RunRole.PAIR_WINNER)
_FIRST_LOOK = "first-look"


@dataclass(frozen=True)
class StudyRun:
    """A run of a study that counts.

    Attributes:
        settings: Tunable name -> value, also for some files only.
        io_seconds: Of it.
        case: Of several.
    """

    settings: Mapping[str, Any]
    io_seconds: float
    case: str = ""


@dataclass(frozen=True)
class Studied:
    """What a study saw.

    Attributes:
        provenance: Where it ran.
        facts: By case.
        runs: Those that count.
        n_runs / run_seconds: All of them.
    """

    provenance: Mapping[str, Any]
    facts: Mapping[str, ProgramFacts]
    runs: tuple[StudyRun, ...]
    n_runs: int
    run_seconds: float

    def samples(self, case: str) -> Iterator[Sample]:
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
                yield Sample(self.facts[case], settings, tuple(run.io_seconds for run in runs))


def read_study(path: Path) -> Studied:
    """Read a study's result, or its journal.

    Raises:
        UsageError: It is damaged, or the study did not come to its first look.
    """
    try:
        content = read_input(path, RESULTS)
        found = _of_result(content) if path.name == RESULT else _of_journal(content, path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, StripewiseError):
            raise
        raise UsageError(f"the study in {path} is damaged: {error!r}") from error
    for facts in found.facts.values():
        check_facts(facts, path)
    return found


def _of_result(content: bytes) -> Studied:
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


def _of_journal(content: bytes, path: Path) -> Studied:
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
    """Whether a run was made with nothing set; None: it does not count."""
    kind = RunRole(role)
    if status != RunStatus.OK.value or kind not in (*BASELINE_ROLES, *_TRIED):
        return None
    return kind in BASELINE_ROLES
