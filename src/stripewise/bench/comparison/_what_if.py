# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Replays surveyed applications on candidate systems, and finds which serves them best.

A profile contains how much was moved, in how many files and operations, but not how: each process
is assumed to have its own files, to move them in calls of one size, and to do so at the same time
as all others.  Profiles count operations that never reach a server (seeks); the number that do is
between the number of files and the total, and the interval covers both.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from math import ceil, exp, log, sqrt
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from stripewise.bench.campaign import seconds_of, size_of
from stripewise.bench.comparison._cells import Floats
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.core.inputs import SURVEY, parse_toml, read_input
from stripewise.settings.tunables import first_problem
from stripewise.storage.machines import SPEC_OF, Figure, Storage
from stripewise.storage.simulation import Limit, Rates, Simulated, simulate
from stripewise.storage.stacks import Stretch, TracedCalls, Turns, Workload

# Surveyed applications: their I/O profiles, in a file of TOML or CSV.


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


_Size = Annotated[int, BeforeValidator(size_of), Field(ge=0, le=1 << 60)]
_Seconds = Annotated[float, BeforeValidator(seconds_of), Field(ge=0, le=1e9)]
_Count = Annotated[int, BeforeValidator(_number), Field(ge=0, le=10**12)]
_Ranks = Annotated[int, BeforeValidator(_number), Field(ge=1, le=10_000_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Application(_Strict):
    """I/O profile of one run of an application; a table of the file.

    Attributes:
        name: Short unique name.
        title: One line for users.
        ranks: Number of MPI processes; 1 without MPI.
        threads: Number of cores of each rank.
        run_seconds: Elapsed time of the run; 0 if unknown.
        io_seconds: I/O time on the profiled system; 0 if unknown.
        read_bytes / write_bytes: Bytes moved by all ranks.
        files_read / files_written: Number of different files.
        readers / writers: Number of processes that move the data; 0 if each file has its own, up
            to the number of ranks.
        metadata_operations: Number of counted operations, including those that never reach a
            server (seeks); 0 if unknown.
        transfer_bytes: Bytes of one call.
        jobs: Number of simultaneous runs.
    """

    name: Annotated[str, Field(min_length=1, max_length=64)]
    title: Annotated[str, Field(max_length=200)] = ""
    ranks: _Ranks = 1
    threads: _Ranks = 1
    run_seconds: Annotated[_Seconds, Field(alias="run_time")] = 0.0
    io_seconds: Annotated[_Seconds, Field(alias="io_time")] = 0.0
    read_bytes: Annotated[_Size, Field(alias="read")] = 0
    write_bytes: Annotated[_Size, Field(alias="write")] = 0
    files_read: _Count = 0
    files_written: _Count = 0
    readers: _Count = 0
    writers: _Count = 0
    metadata_operations: _Count = 0
    transfer_bytes: Annotated[_Size, Field(ge=1, alias="transfer")] = 1 << 20
    jobs: _Ranks = 1

    @property
    def least_operations(self) -> int:
        """Least number of operations that reach the metadata server: each file is opened."""
        return self.files_read + self.files_written

    @model_validator(mode="after")
    def _complete(self) -> Application:
        """Refuse contradictory values, and fill in missing ones."""
        for moved, number, way, files_ in (
            (self.read_bytes, self.files_read, "read", "files_read"),
            (self.write_bytes, self.files_written, "write", "files_written"),
        ):
            if moved and not number:
                raise ValueError(f"{way} is given without {files_}: give the number of files")
        if not self.read_bytes + self.metadata_operations + self.least_operations:
            raise ValueError("no I/O: give read, write or metadata_operations")
        self.title = self.title or self.name
        if self.metadata_operations:
            self.metadata_operations = max(self.metadata_operations, self.least_operations)
        return self


class Survey(_Strict):
    """Applications of a centre; the content of a whole file.

    Attributes:
        version: Version of the file format.
        name: Name of the survey.
        title: One line for users.
        source: Who profiled the applications.
        applications: Applications in the order of the file.
    """

    version: Literal[1] = 1
    name: Annotated[str, Field(min_length=1, max_length=64)] = "survey"
    title: Annotated[str, Field(max_length=200)] = ""
    source: Annotated[str, Field(max_length=1000)] = ""
    applications: Annotated[
        list[Application], Field(min_length=1, max_length=1000, alias="application")
    ]


_KNOWN = [
    one.alias or name for form in (Survey, Application) for name, one in form.model_fields.items()
]


def survey_names() -> tuple[str, ...]:
    """Return the names of the surveys that come with Stripewise."""
    folder = resources.files("stripewise.bench") / "surveys"
    return tuple(sorted(one.name[:-5] for one in folder.iterdir() if one.name.endswith(".toml")))


def find_survey(name: str) -> Survey:
    """Return a survey that comes with Stripewise, or one from a file.

    Args:
        name: Name of a survey, or path of a file of TOML or CSV.

    Raises:
        UsageError: There is neither such a survey nor such a file.
        ConfigurationError: The file cannot be read or is malformed.
    """
    if name in survey_names():
        file = resources.files("stripewise.bench") / "surveys" / f"{name}.toml"
        return parse_survey(file.read_text(encoding="utf-8"), f"{name}.toml")
    path = Path(name)
    if path.suffix not in (".toml", ".csv") and not path.exists():
        raise UsageError(
            f"there is no survey {name!r}: give the path of a file of TOML or CSV, or one of "
            f"{', '.join(survey_names())}"
        )
    try:
        text = read_input(path, SURVEY).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: a survey is UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or error}: give a file") from error
    return parse_survey(text, str(path))


def parse_survey(text: str, name: str) -> Survey:
    """Parse a survey from TOML, or from CSV if the name ends with .csv.

    Raises:
        ConfigurationError: The text is malformed, or two applications have the same name.
    """
    try:
        data = _document_of_csv(text, name) if name.endswith(".csv") else parse_toml(text)
        survey = Survey.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN)}") from error
    except (ValueError, csv.Error) as error:
        raise ConfigurationError(f"{name}: no survey ({error})") from error
    names = [one.name for one in survey.applications]
    for one in names:
        if names.count(one) > 1:
            raise ConfigurationError(f"{name}: two applications are called {one!r}: rename one")
    return survey


def _document_of_csv(text: str, name: str) -> dict[str, Any]:
    """Return rows in the form of parsed TOML; empty cells are left out."""
    rows = [
        {(key or "").strip(): (value or "").strip() for key, value in row.items() if value}
        for row in csv.DictReader(io.StringIO(text, newline=""), restkey="too many cells")
    ] if _is_flat(text) else []  # fmt: skip
    return {"name": Path(name).stem[:64] or "survey", "application": rows}


def _is_flat(text: str) -> bool:
    """Return whether no row has more cells than the header."""
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if lines and any(len(one) > len(lines[0]) for one in lines):
        raise ValueError("a row has more cells than the first line has names")
    return bool(lines)


DRAWS = 200
_SEED = 4


@dataclass(frozen=True)
class SystemPrediction:
    """Predicted I/O of one application on one system.

    Attributes:
        application: Application that runs.
        machine: Name of the system.
        nodes: Number of nodes of the job there.
        seconds: I/O time with the described figures.
        low / high: Interval of 95 %, from those of the figures and of the operations.
        limits: Components of the time, the most limiting first.
        load: Share of the servers' time that all simultaneous jobs need; above 1 they wait for
            each other; NaN if the run time is unknown.
        busiest: Resource of `load`: "target", "whole" or "metadata".
        why_not: Why it cannot run there; empty if it can.
    """

    application: Application
    machine: str
    nodes: int
    seconds: float
    low: float
    high: float
    limits: tuple[Limit, ...]
    load: float
    busiest: str
    why_not: str = ""

    @property
    def bottleneck(self) -> str:
        """Main limit, in words."""
        return self.limits[0].words if self.limits else ""


@dataclass(frozen=True)
class Candidate:
    """One system with the whole workload.

    Attributes:
        storage: Description of the system's storage.
        answers: Answers in the order of the applications.
        seconds: I/O time of all jobs of the survey, one after another.
        low / high: Interval of 95 % of the time.
        factor: `seconds` of the first system relative to its own; above 1 if it is faster.
        factor_low / factor_high: Interval of 95 % of the factor.
        best: Probability that it is the fastest of all, as far as intervals are known.
        without_interval: Figures in use that are assumed and have no interval.
    """

    storage: Storage
    answers: tuple[SystemPrediction, ...]
    seconds: float
    low: float
    high: float
    factor: float
    factor_low: float
    factor_high: float
    best: float
    without_interval: tuple[str, ...]


@dataclass(frozen=True)
class WhatIf:
    """Survey on candidate systems.

    Attributes:
        survey: Survey of applications.
        candidates: Systems in the given order.
    """

    survey: Survey
    candidates: tuple[Candidate, ...]

    @property
    def ranking(self) -> tuple[Candidate, ...]:
        """The candidates, the fastest first."""
        return tuple(sorted(self.candidates, key=lambda one: one.seconds))


def what_if(survey: Survey, storages: Sequence[Storage], draws: int = DRAWS) -> WhatIf:
    """Replay the applications of a survey on described systems.

    Args:
        survey: Survey of applications.
        storages: Candidate systems.
        draws: Number of draws from the intervals of figures.

    Raises:
        UsageError: There is no candidate, or two have the same name.
    """
    names = [one.name for one in storages]
    if not storages:
        raise UsageError("give a candidate: a description's name or path")
    if len(set(names)) < len(names):
        raise UsageError(f"two of the systems have one name ({', '.join(names)}): rename one")
    times = [_times(survey, one, draws) for one in storages]
    weights = np.array([one.jobs for one in survey.applications], dtype=float)
    totals = [np.nansum(one * weights, axis=1) for one in times]
    fastest = np.argmin(np.array(totals)[:, 1:], axis=0)
    candidates = []
    for place, storage in enumerate(storages):
        answers = tuple(
            _answer(one, storage, times[place][1:, at])
            for at, one in enumerate(survey.applications)
        )
        factors = totals[0] / np.maximum(totals[place], 1e-12)
        candidates.append(
            Candidate(
                storage, answers, float(totals[place][0]), *_interval(totals[place][1:]),
                float(factors[0]), *_interval(factors[1:]), float(np.mean(fastest == place)),
                _without_interval(storage),
            )
        )  # fmt: skip
    return WhatIf(survey, tuple(candidates))


def _times(survey: Survey, storage: Storage, draws: int) -> Floats:
    """Return the I/O seconds of each application; the first row is as described, `(1 + n, m)`."""
    chance = np.random.default_rng(_SEED)
    rows = [_row(survey, storage, [0.5] * len(survey.applications))]
    for _ in range(draws):
        drawn = _drawn(storage, chance)
        rows.append(_row(survey, drawn, chance.random(len(survey.applications)).tolist()))
    return np.array(rows)


def _row(survey: Survey, storage: Storage, shares: Sequence[float]) -> list[float]:
    return [
        float("nan") if _why_not(one, storage) else _simulated(one, storage, share).seconds
        for one, share in zip(survey.applications, shares, strict=True)
    ]


def _drawn(storage: Storage, chance: np.random.Generator) -> Storage:
    """Return the storage with figures drawn from their intervals; logs are normal."""
    figures: dict[str, Figure] = dict(storage.figures)
    for name, figure in storage.figures.items():
        low, high = figure.low, figure.high
        if low is None or high is None or not 0 < low < high or figure.value <= 0:
            continue
        deviation = log(high / low) / 3.92
        value = sqrt(low * high) * exp(float(chance.normal(0, deviation)))
        if SPEC_OF[name].dimension.value == "count":
            value = max(1.0, round(value))
        figures[name] = replace(figure, value=min(value, SPEC_OF[name].most))
    return replace(storage, figures=figures)


def _without_interval(storage: Storage) -> tuple[str, ...]:
    return tuple(
        name
        for name, one in storage.figures.items()
        if one.kind.value == "assumed" and one.low is None and not name.startswith("machine.")
    )


def _interval(values: NDArray[np.float64]) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not known.size:
        return float("nan"), float("nan")
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)


def _answer(application: Application, storage: Storage, drawn: Floats) -> SystemPrediction:
    nodes = nodes_of(application, storage)
    why_not = _why_not(application, storage)
    if why_not:
        nan = float("nan")
        return SystemPrediction(
            application, storage.name, nodes, nan, nan, nan, (), nan, "", why_not
        )
    found = _simulated(application, storage, 0.5)
    load, busiest = _load(application, found)
    return SystemPrediction(
        application, storage.name, nodes, found.seconds, *_interval(drawn), found.limits, load,
        busiest,
    )  # fmt: skip


def nodes_of(application: Application, storage: Storage) -> int:
    """Return the number of nodes that a job needs on a system."""
    cores = max(int(storage.value("machine.ranks_per_node")), 1)
    return ceil(application.ranks / max(cores // application.threads, 1))


def _why_not(application: Application, storage: Storage) -> str:
    nodes, most = nodes_of(application, storage), storage.value("machine.nodes")
    if nodes > most:
        return f"it needs {nodes:,} nodes, and {storage.name} has {most:,.0f}"
    return ""


def _load(application: Application, found: Simulated) -> tuple[float, str]:
    """Return the share of the servers' time that all jobs need, and of which servers.

    Jobs are assumed to use all targets equally; of an operation, only the server's own time makes
    others wait, not the network latency.
    """
    if not application.run_seconds:
        return float("nan"), ""
    storage, rates = found.storage, Rates.of(found.storage)
    busy = {"target": 0.0, "whole": 0.0, "metadata": 0.0}
    for writing, amount, files in (
        (False, application.read_bytes, application.files_read),
        (True, application.write_bytes, application.files_written),
    ):
        speed = rates.write if writing else rates.read
        requests = max(amount / application.transfer_bytes, files if amount else 0)
        busy["target"] += amount / speed["target"] + requests * rates.target_request
        busy["whole"] += amount / speed["whole"]
    busy["target"] /= max(storage.value("servers.targets"), 1)
    for time in found.phases:
        for name, number in time.phase.metadata.items():
            busy["metadata"] += number * rates.operation(name, found.layout.stripe_count)
    most = max(busy, key=lambda one: busy[one])
    return application.jobs * busy[most] / application.run_seconds, most


def _simulated(application: Application, storage: Storage, share: float) -> Simulated:
    """Return the simulated I/O of an application.

    Args:
        application: Application that runs.
        storage: Storage on which it runs.
        share: Position of the logarithm of its server operations between its number of files (0)
            and all counted operations (1).
    """
    nodes = nodes_of(application, storage)
    per_node = ceil(application.ranks / nodes)
    work = Workload((), nodes, per_node, own=tuple(_stretches(application, nodes, share)))
    return simulate(storage, work, storage.stack or "posix-process")


def _stretches(application: Application, nodes: int, share: float) -> list[Stretch]:
    one = application
    found = []
    for writing, files in ((False, one.files_read), (True, one.files_written)):
        if files:
            found.append(_moved(one, nodes, writing, files))
    least = max(one.least_operations, 1)
    rest = least * (one.metadata_operations / least) ** share - least
    if one.metadata_operations and rest > 0:
        turns = Turns(one.ranks, (), {"stat": rest / one.ranks})
        found.append(Stretch("other metadata", (), (turns,)))
    return found


def _moved(one: Application, nodes: int, writing: bool, files: int) -> Stretch:
    """Return the data that processes move, each in its own files, one after another."""
    amount = one.write_bytes if writing else one.read_bytes
    movers = one.writers if writing else one.readers
    processes = min(one.ranks, files, movers or files)
    operation: Mapping[str, float] = {"create" if writing else "open": files / processes}
    calls: tuple[TracedCalls, ...] = ()
    counts: tuple[float, ...] = ()
    if amount:
        size = float(min(one.transfer_bytes, max(amount / files, 1.0)))
        counts = (amount / processes / size,)
        calls = (
            TracedCalls(
                writing, processes, min(nodes, processes), counts[0], size,
                files=max(round(files / processes), 1), different=processes,
                reach_bytes=max(round(amount / files), 1),
            ),
        )  # fmt: skip
    name = "write" if writing else "read"
    return Stretch(name, calls, (Turns(processes, counts, operation),))


def answer_json(answer: SystemPrediction) -> dict[str, Any]:
    """Return an answer as plain data."""
    return {
        "application": answer.application.name,
        "nodes": answer.nodes,
        "seconds": answer.seconds,
        "low": answer.low,
        "high": answer.high,
        "measured_seconds": answer.application.io_seconds or None,
        "limits": [
            {"resource": one.resource, "share": one.share, "words": one.words}
            for one in answer.limits
        ],
        "jobs": answer.application.jobs,
        "load": answer.load,
        "busiest": answer.busiest,
        "why_not": answer.why_not,
    }
