# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a training: first runs, a plan within the budget, and a surface for each cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from stripewise.core import OwnedDirectory, ProgramFacts, Value
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.learning.adoption import why_not_adoptable
from stripewise.learning.performance import Way
from stripewise.settings import load_policy
from stripewise.settings.tunables import Space, find_space, tunable_of
from stripewise.storage.emulation import EmulatedStorage, EmulationOptions
from stripewise.study.training._cells import (
    expected_ratio,
    first_run,
    program_of,
    record_cell,
    simulate_surface,
)
from stripewise.study.training._configurations import possible_points, recorded_tunables
from stripewise.study.training._plan import (
    PLAN,
    TrainingCell,
    TrainingOptions,
    TrainingPlan,
    find_plan,
    share_out,
)
from stripewise.study.training._recording import RecordingObserver, is_finished
from stripewise.study.training._surface import Surface


class TrainingObserver(RecordingObserver):
    """Receives the events of a training; every method does nothing here."""

    def looking(self, cell: TrainingCell) -> None:
        """A kernel is run for the first time, with nothing set."""

    def settled(self, plan: TrainingPlan) -> None:
        """The plan is complete: what is measured, and about how long that takes."""

    def measuring(self, cell: TrainingCell, number: int, of: int) -> None:
        """The measurement of a cell's configurations begins."""


@dataclass(frozen=True)
class Trained:
    """Result of the measurements of a training.

    Attributes:
        plan: Plan of the training.
        surfaces: Recorded surfaces, one per file.
        unfinished: Cells for which the budget was not sufficient.
    """

    plan: TrainingPlan
    surfaces: tuple[Path, ...]
    unfinished: tuple[TrainingCell, ...] = ()


def train(options: TrainingOptions, observer: TrainingObserver | None = None) -> Trained:
    """Measure the designed configurations of each kernel at each scale, or continue to do so.

    Raises:
        UsageError: A kernel, a tunable or a storage does not exist or is invalid.
        PolicyError: The site's policy forbids a tunable that would be varied.
        StudyError: The directory contains another training.
        ProgramError: A kernel fails with nothing set.
        KeyboardInterrupt: A signal was received; the same call continues from here.
    """
    observer = observer or TrainingObserver()
    recorded_tunables(options.vary)
    if options.machine:
        EmulatedStorage.find(EmulationOptions(options.machine))
    directory = OwnedDirectory.take(options.directory, "training")
    with _removed_on_error(directory), directory.locked():
        plan = _with_first_runs(find_plan(directory, options), directory, observer)
        plan = _with_counts(plan, directory)
        observer.settled(plan)
        _measure(plan, directory, observer)
    done = tuple(plan.surface(cell) for cell in plan.cells if plan.surface(cell).exists())
    left = tuple(cell for cell in plan.cells if not is_finished(plan.surface(cell)))
    return Trained(plan, done, left)


@contextmanager
def _removed_on_error(directory: OwnedDirectory) -> Iterator[None]:
    """Remove the directory again if an error occurs before any cell is known."""
    try:
        yield
    except StripewiseError:
        if directory.read(PLAN) is None:
            directory.discard()
        raise


def _with_first_runs(
    plan: TrainingPlan, directory: OwnedDirectory, observer: TrainingObserver
) -> TrainingPlan:
    """Return the plan with the facts of each kernel and what can be varied."""
    for cell in plan.cells:
        if cell.facts is not None:
            continue
        if plan.options.way is not Way.SIMULATED:
            observer.looking(cell)
        plan = plan.with_cell(_with_first_run(plan.options, cell, directory))
        plan.save(directory)
    return plan


def _with_first_run(
    options: TrainingOptions, cell: TrainingCell, directory: OwnedDirectory
) -> TrainingCell:
    if options.way is Way.SIMULATED:
        program = program_of(options, cell)
        facts, space = program.facts, find_space(program.facts, only=sorted(program.tunables))
        cell = replace(cell, facts=facts, first_seconds=facts.elapsed_seconds)
    else:
        cell, facts = first_run(options, cell, directory)
        space = find_space(facts, load_policy().why_not)
    cell, points = _with_points(options, cell, facts, space)
    around = max(cell.first_seconds - facts.io_seconds, 0.0)
    ratio = expected_ratio(options, cell, points)
    return replace(cell, run_seconds=around + facts.io_seconds * ratio)


def _with_points(
    options: TrainingOptions, cell: TrainingCell, facts: ProgramFacts, space: Space
) -> tuple[TrainingCell, list[Mapping[str, Value]]]:
    """Return the cell with its ladders, and all valid points of them.

    Raises:
        UsageError: Nothing can be varied.
    """
    vary = dict(options.vary) or training_ladders(facts, space)
    if not vary:
        raise UsageError(
            f"{cell.title}: no setting acts on it that a model is made of; name some with --vary"
        )
    points, _ = possible_points(recorded_tunables(vary), facts)
    return replace(cell, vary=vary, possible=len(points)), points


def _with_counts(plan: TrainingPlan, directory: OwnedDirectory) -> TrainingPlan:
    """Return the plan with the number of configurations of each cell.

    A small budget is not spent on tunables that only studies may set.
    """
    if all(cell.configurations for cell in plan.cells):
        return plan
    how, cells = plan.options, plan.cells
    wanted, numbers = (_numbers(cells, how, limit) for limit in (None, how.budget_seconds))
    if numbers != wanted and not how.vary:
        cells = tuple(_adoptable(how, cell) for cell in cells)
        numbers = _numbers(cells, how, how.budget_seconds)
    pairs = zip(cells, numbers, strict=True)
    plan = replace(plan, cells=tuple(replace(c, configurations=n) for c, n in pairs))
    plan.save(directory)
    return plan


def _numbers(
    cells: Sequence[TrainingCell], how: TrainingOptions, seconds: float | None
) -> list[int]:
    return share_out(cells, how.repeats, seconds, how.configurations)


def _adoptable(options: TrainingOptions, cell: TrainingCell) -> TrainingCell:
    """Return the cell with only tunables that may be set automatically, if there are any."""
    assert cell.facts is not None
    vary = {
        name: values
        for name, values in cell.vary.items()
        if not why_not_adoptable(tunable_of(name))
    }
    if not vary or len(vary) == len(cell.vary):
        return cell
    points, _ = possible_points(recorded_tunables(vary), cell.facts)
    return replace(cell, vary=vary, possible=len(points))


def _measure(plan: TrainingPlan, directory: OwnedDirectory, observer: TrainingObserver) -> None:
    options = plan.options
    for number, cell in enumerate(plan.cells, 1):
        path = plan.surface(cell)
        if is_finished(path):
            continue
        observer.measuring(cell, number, len(plan.cells))
        if options.way is Way.SIMULATED:
            assert cell.facts is not None
            points, _ = possible_points(recorded_tunables(cell.vary), cell.facts)
            simulate_surface(options, cell, points, path)
            continue
        allowed = _allowance(plan, number - 1)
        if allowed is None or allowed > 0:
            record_cell(options, cell, path, directory, observer, allowed)


def _allowance(plan: TrainingPlan, place: int) -> float | None:
    """Return a cell's share of the remaining budget; None for no limit."""
    budget = plan.options.budget_seconds
    if budget is None:
        return None
    left = budget - spent_seconds(plan)
    weights = [
        0.0 if is_finished(plan.surface(cell)) else cell.configurations * cell.run_seconds
        for cell in plan.cells[place:]
    ]
    return left * weights[0] / sum(weights) if sum(weights) else left


def spent_seconds(plan: TrainingPlan) -> float:
    """Return the time of all runs so far: first runs and those of the surfaces."""
    recorded = (Surface.load(p) for c in plan.cells if (p := plan.surface(c)).exists())
    runs = sum(run.elapsed_seconds for surface in recorded for run in surface.runs)
    first = sum(cell.first_seconds for cell in plan.cells)
    return runs + (first if plan.options.way is not Way.SIMULATED else 0.0)


# Values that a training measures: the published ladders, limited to what suits the program.
#
# Source: Behzad et al., doi 10.1145/3309205, and H5Tuner's evo/h5evolve_h5write.py: stripe counts,
# stripe sizes, aggregators; other tunables have the ladders that a study would search.

COUNTS = (4, 8, 16, 24, 32, 48, 64, 96, 128)
SIZES_MIB = (1, 2, 4, 8, 16, 32, 64, 128)
AGGREGATORS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256)
ALL_TARGETS = -1
MOST_POINTS = 60_000
"""Largest number of points; beyond it the least important tunables are left out."""

COUNT, SIZE, NODES, BUFFER = (
    f"mpiio.{name}" for name in ("striping_factor", "striping_unit", "cb_nodes", "cb_buffer_size")
)
SHAPING = (
    COUNT,
    NODES,
    SIZE,
    BUFFER,
    "mca.fcoll",
    "mpiio.romio_cb_write",
    "mpiio.romio_cb_read",
    "mpiio.cray_cb_nodes_multiplier",
    "mpiio.cray_cb_write_lock_mode",
    "mpiio.romio_lustre_co_ratio",
    "mpiio.romio_ds_write",
    "mpiio.romio_ds_read",
    "hdf5.alignment",
)
"""Tunables that shape the requests to the storage, the most important first."""
_MIB = 1 << 20
_SMALLEST_STRIPE = 64 << 10
_FEW_TARGETS = 16


def training_ladders(facts: ProgramFacts, space: Space) -> dict[str, tuple[Value, ...]]:
    """Return the values to measure of each tunable besides its default.

    Args:
        facts: Facts of a run of the kernel with nothing set.
        space: Space that a study of it would search.
    """
    own = {dimension.tunable.name: dimension.values for dimension in space.dimensions}
    published = {
        COUNT: _counts(facts),
        SIZE: _sizes(facts),
        NODES: tuple(n for n in AGGREGATORS if n <= facts.n_ranks),
        BUFFER: _sizes(facts, 4 * _MIB),
    }
    ladders = {
        name: _in_order((*own[name], *published.get(name, ()))) for name in SHAPING if name in own
    }
    while len(ladders) > 1 and _size(ladders) > MOST_POINTS:
        ladders.popitem()
    return ladders


def _size(ladders: Mapping[str, Sequence[Value]]) -> int:
    return prod(len(values) + 1 for values in ladders.values())


def _counts(facts: ProgramFacts) -> tuple[int, ...]:
    """Return the stripe counts below the number of targets, except the default; then all."""
    if facts.striping is None:
        return (*COUNTS, ALL_TARGETS)
    targets, usual = facts.striping.targets, facts.striping.stripe_count
    few = (1, 2) if targets < _FEW_TARGETS else ()
    counts = [count for count in (*few, *COUNTS) if count < targets and count != usual]
    return (*counts, *([ALL_TARGETS] if usual not in (ALL_TARGETS, targets) else []))


def _sizes(facts: ProgramFacts, least: int = _SMALLEST_STRIPE) -> tuple[int, ...]:
    """Return eight sizes, each twice the one before; the largest divides the data in 4 or more.

    For the data of the published runs these are 1 to 128 MiB.
    """
    moved = max(facts.write_bytes, facts.read_bytes)
    largest = SIZES_MIB[-1] * _MIB
    while largest > max(moved // 4, least):
        largest //= 2
    usual = facts.striping.stripe_size if facts.striping else 0
    sizes = [largest >> step for step in range(len(SIZES_MIB))]
    return tuple(size for size in reversed(sizes) if size >= least and size != usual)


def _in_order(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return distinct values: numbers by size, all targets (-1) last; others in given order."""
    distinct = tuple(dict.fromkeys(values))
    numbers = [n for n in distinct if isinstance(n, int) and not isinstance(n, bool)]
    if len(numbers) < len(distinct):
        return distinct
    return tuple(sorted(numbers, key=lambda n: (n == ALL_TARGETS, n)))
