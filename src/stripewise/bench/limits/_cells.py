# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines limits, laws and predictions, and converts cases to cells for the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan
from statistics import median

from stripewise.bench._case import Case, CaseRun
from stripewise.bench.campaign import (
    Campaign,
    CaseRates,
    DirectoryStriping,
    figures_of,
    operations_of,
    samples_of,
)
from stripewise.bench.runners import find_runner
from stripewise.core import Value
from stripewise.core.errors import StripewiseError
from stripewise.storage.machines import Storage
from stripewise.storage.results import FIGURES, Measured, Results
from stripewise.storage.stacks import Workload

FACTOR, UNIT = "mpiio.striping_factor", "mpiio.striping_unit"


@dataclass(frozen=True)
class LimitCell(CaseRates):
    """All good runs of a case with the same striping, for one operation.

    Attributes:
        stripe_count: Number of stripes as found or as requested; -1 for all; 0 if unknown.
        stripe_bytes: Stripe size as found or as requested; 0 if unknown.
        pinned: Whether all files are on one selected target.
        stack: Software stack in the model; empty if it has none.
        workload: Workload that was moved; None for metadata, or if the model does not support it.
        doubt: Why the figure is not that of the storage, in words; empty if it is.
    """

    stripe_count: int = 0
    stripe_bytes: int = 0
    pinned: bool = False
    stack: str = ""
    workload: Workload | None = None
    doubt: str = ""

    @property
    def key(self) -> str:
        """Key of the case."""
        return self.case.key

    @property
    def undisturbed(self) -> tuple[float, ...]:
        """Upper half of the rates.

        Other users of a shared storage only make a run slower: repeats have a sharp upper limit
        and a long tail below it (Lockwood et al., UMAMI, PDSW-DISCS 2017).  A limit is what the
        storage does without them.
        """
        middle = self.median
        return tuple(sorted(one for one in self.rates if one >= middle))

    @property
    def best(self) -> float:
        """Median of the upper half."""
        return median(self.undisturbed)

    @property
    def is_alone(self) -> bool:
        """Whether each process or node has its own file."""
        return self.case.layout != "shared" and self.case.mode != "serial"

    @property
    def in_model(self) -> bool:
        """Whether the model can predict the cell."""
        return self.workload is not None and bool(self.stack) and not self.pinned

    @property
    def settings(self) -> dict[str, Value]:
        """Settings in the model's form, with the striping."""
        found: dict[str, Value] = {}
        if self.operation == "read":
            found |= find_runner(self.case.runner).read_settings(self.case, self.stack)
        found |= dict(self.case.settings)
        if self.stripe_count:
            found[FACTOR] = self.stripe_count
        if self.stripe_bytes:
            found[UNIT] = self.stripe_bytes
        return found


def cells_of(campaign: Campaign, own_stack: str) -> list[LimitCell]:
    """Return the cells of a campaign with good runs.

    Args:
        campaign: Campaign with its runs.
        own_stack: Usual MPI-IO stack of the storage.
    """
    doubts = _doubts(campaign)
    found = []
    for case, runs in campaign.of_cases():
        if case.beside:
            continue  # another workload used the storage at the same time
        good = [one for one in runs if one.status == "ok"]
        place = campaign.suite.directories.get(case.directory, DirectoryStriping())
        for layout, group in _by_layout(good, place):
            for operation in operations_of(group):
                rates = tuple(one.rate for one in samples_of(group, operation) if one.seconds > 0)
                if rates:
                    cell = LimitCell(
                        case, operation, rates, *layout, pinned=_is_pinned(case, place)
                    )
                    cell = _modelled(cell, own_stack)
                    doubt = doubts.get((case.key, operation)) or _unsynced(cell)
                    found.append(replace(cell, doubt=doubt))
    return found


def results_of(campaign: Campaign) -> Results:
    """Return the figures of a campaign as results of a benchmark, for `fit_results`.

    Rates are the undisturbed ones; figures from a cache are left out with a note.  Only those
    metadata operations count that loaded the server most.
    """
    own = str(campaign.about.get("stack", "")) or "romio"
    cells = cells_of(campaign, own)
    notes = tuple(f"{one.key}: {one.doubt.rstrip('.')}; left out" for one in cells if one.doubt)
    return Results(measured_of(cells), _operations(cells), notes)


def measured_of(cells: Iterable[LimitCell]) -> tuple[Measured, ...]:
    """Return the cells that the model can predict and that are not in doubt."""
    return tuple(
        Measured(one.key, one.workload, one.stack, one.settings, one.undisturbed)
        for one in cells
        if one.in_model and one.workload is not None and not one.doubt
    )


def _operations(cells: Sequence[LimitCell]) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    for operation, figure in FIGURES.items():
        chosen = [one for one in cells if one.operation == operation]
        if chosen:
            found[figure] = max(chosen, key=lambda one: one.best).undisturbed
    return found


def _by_layout(
    runs: Sequence[CaseRun], place: DirectoryStriping
) -> Iterator[tuple[tuple[int, int], list[CaseRun]]]:
    """Yield stripe count and size with the runs that have them, as found or as requested."""
    groups: dict[tuple[int, int], list[CaseRun]] = {}
    for run in runs:
        count = run.layout.get("stripe_count", place.stripe_count)
        size = run.layout.get("stripe_size_bytes", place.stripe_bytes)
        groups.setdefault((int(count or 0), int(size or 0)), []).append(run)
    yield from groups.items()


def _is_pinned(case: Case, place: DirectoryStriping) -> bool:
    return place.target >= 0 and place.stripe_count == 1 and case.layout != "shared"


def _modelled(cell: LimitCell, own_stack: str) -> LimitCell:
    """Return the cell with the model's inputs, if the model supports the case."""
    if cell.operation not in ("write", "read"):
        return cell
    try:
        runner = find_runner(cell.case.runner)
        work = runner.workload(cell.case)
        stack = runner.stack(cell.case, own_stack)
    except StripewiseError:
        return cell
    if work is None:
        return cell
    writing = cell.operation == "write"
    patterns = tuple(replace(one, writing=writing) for one in work.patterns)
    return replace(cell, stack=stack, workload=replace(work, patterns=patterns))


def _doubts(campaign: Campaign) -> dict[tuple[str, str], str]:
    """Return case and operation to the reason why a figure is that of a cache."""
    return {
        (one.case.key, one.operation): flag.text
        for one in figures_of(campaign)
        for flag in one.flags
        if flag.name == "caching"
    }


def _unsynced(cell: LimitCell) -> str:
    if cell.operation == "write" and not cell.case.sync:
        return "the time of the writes does not hold their fsync"
    if cell.operation == "read" and cell.case.cache == "none":
        return "nothing kept the reads from being answered by a cache"
    return ""


# The limits behind a campaign's figures, and the laws that relate them.

ALL_TARGETS = "all targets together are the limit"
"""Reason why the whole storage has no limit of its own."""


@dataclass(frozen=True)
class Limit:
    """One limit of a storage.

    Attributes:
        figure: Name in a machine description: "client.process_write", "servers.target_read",
            "metadata.create".
        value: Bytes per second; operations per second for metadata; seconds for latencies; 0 to 1
            for shares.
        low / high: Interval of 95 %.
        evidence: Keys of the cases that show it.
        sentence: Description of the limit and of where it was seen, for users.
    """

    figure: str
    value: float
    low: float
    high: float
    evidence: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Law:
    """Relation between figures that is valid here, or is not.

    Attributes:
        name: Name of the law: "stripes", "per-process-saturates", ...
        sentence: Statement with figures: "parallel bandwidth = serial bandwidth x min(stripes,
            nodes)".
        holds: Whether the measured cells follow it.
        error: Median relative distance of the cells concerned.
        evidence: Keys of these cells.
    """

    name: str
    sentence: str
    holds: bool
    error: float
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Predicted:
    """Prediction of a cell by the fitted description.

    Attributes:
        key: Key of the case.
        operation: "write" or "read".
        predicted: Bytes per second.
        measured: Measured median; NaN if it was not run.
        left_out: Whether the cell was left out of the fit.
    """

    key: str
    operation: str
    predicted: float
    measured: float
    left_out: bool = False


@dataclass(frozen=True)
class Limits:
    """Limits of a storage that campaigns show.

    Attributes:
        storage: Description of the storage with the limits as figures.
        limits: Limits of process, file, node, target, the whole, and the metadata server.
        laws: Laws that could be tested.
        undetermined: Figure to why the campaigns do not show it, in words.
        predicted: Predicted cells, measured or not.
        error: Median relative error of the cells left out of the fit; NaN if there were none.
        notes: Further remarks in whole sentences.
    """

    storage: Storage
    limits: tuple[Limit, ...]
    laws: tuple[Law, ...] = ()
    undetermined: Mapping[str, str] = field(default_factory=dict)
    predicted: tuple[Predicted, ...] = ()
    error: float = float("nan")
    notes: tuple[str, ...] = ()

    def unproven_above(self, way: str) -> float:
        """Return the highest measured rate, if no case was limited by the whole; otherwise inf.

        Predictions above it are not proven: the whole may have a lower limit than its targets.

        Args:
            way: "write" or "read".
        """
        why = self.undetermined.get(f"servers.whole_{way}", ALL_TARGETS)
        seen = [
            one.measured for one in self.predicted
            if one.operation == way and not isnan(one.measured)
        ]  # fmt: skip
        return inf if why == ALL_TARGETS or not seen else max(seen)
