# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A training: first runs, a plan within the budget, and a surface for each pattern and scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from stripewise.adoption import why_not_unasked
from stripewise.emulation import EmulatedStorage, EmulationOptions
from stripewise.errors import StripewiseError, UsageError
from stripewise.model import ProgramFacts, Value
from stripewise.owned import OwnedDirectory
from stripewise.policy import load_policy
from stripewise.surfaces import (
    RecordingObserver,
    Surface,
    possible_points,
    recorded_tunables,
)
from stripewise.training._ladders import training_ladders
from stripewise.training._options import TrainingOptions, Way
from stripewise.training._plan import PLAN, Cell, Plan, find_plan
from stripewise.training._recorded import Allowance, finished, first_run, record_cell
from stripewise.training._simulated import (
    expected_ratio,
    program_of,
    simulate_surface,
)
from stripewise.training._sizes import share_out
from stripewise.tunables import Space, find_space, tunable_of


class TrainingObserver(RecordingObserver):
    """Told what happens; all of it does nothing here."""

    def looking(self, cell: Cell) -> None:
        """A kernel is run for the first time, with nothing set."""

    def settled(self, plan: Plan) -> None:
        """It is known what is measured, and about how long that takes."""

    def measuring(self, cell: Cell, number: int, of: int) -> None:
        """The configurations of a cell come next."""


@dataclass(frozen=True)
class Trained:
    """What a training left.

    Attributes:
        plan: What was to be measured.
        surfaces: What is recorded, a file each.
        unfinished: Cells for which the budget did not last.
    """

    plan: Plan
    surfaces: tuple[Path, ...]
    unfinished: tuple[Cell, ...] = ()


def train(options: TrainingOptions, observer: TrainingObserver | None = None) -> Trained:
    """Measure the designed set of configurations of each kernel at each scale, or go on with it.

    Raises:
        UsageError: A kernel, a tunable or a storage does not exist, or is impossible.
        PolicyError: The site's policy forbids what is to be varied.
        StudyError: The directory holds another training.
        ProgramError: A kernel fails with nothing set.
        KeyboardInterrupt: A signal came; the same call goes on from here.
    """
    observer = observer or TrainingObserver()
    recorded_tunables(options.vary)
    if options.machine:
        EmulatedStorage.find(EmulationOptions(options.machine))
    directory = OwnedDirectory.take(options.directory, "training")
    with _kept_if_begun(directory), directory.locked():
        plan = _looked_at(find_plan(directory, options), directory, observer)
        plan = _settled(plan, directory)
        observer.settled(plan)
        _measure(plan, directory, observer)
    done = tuple(plan.surface(cell) for cell in plan.cells if plan.surface(cell).exists())
    left = tuple(cell for cell in plan.cells if not finished(plan.surface(cell)))
    return Trained(plan, done, left)


@contextmanager
def _kept_if_begun(directory: OwnedDirectory) -> Iterator[None]:
    """Remove the directory again if an error came before anything was known."""
    try:
        yield
    except StripewiseError:
        if directory.read(PLAN) is None:
            directory.discard()
        raise


def _looked_at(plan: Plan, directory: OwnedDirectory, observer: TrainingObserver) -> Plan:
    """Return the plan with what each kernel does, and what can be varied of it."""
    for cell in plan.cells:
        if cell.facts is not None:
            continue
        if plan.options.way is not Way.SIMULATED:
            observer.looking(cell)
        plan = plan.with_cell(_seen(plan.options, cell, directory))
        plan.save(directory)
    return plan


def _seen(options: TrainingOptions, cell: Cell, directory: OwnedDirectory) -> Cell:
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
    options: TrainingOptions, cell: Cell, facts: ProgramFacts, space: Space
) -> tuple[Cell, list[Mapping[str, Value]]]:
    """Return the cell with its ladders, and all points of them that can act.

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


def _settled(plan: Plan, directory: OwnedDirectory) -> Plan:
    """Return the plan with the number of configurations of each cell.

    A budget for fewer than wanted is not spent on what only studies may set.
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


def _numbers(cells: Sequence[Cell], how: TrainingOptions, seconds: float | None) -> list[int]:
    wanted = [cell.wanted for cell in cells]
    return share_out(wanted, how.repeats, seconds, how.configurations)


def _adoptable(options: TrainingOptions, cell: Cell) -> Cell:
    """Return the cell with only what may be set for a program unasked, if there is any of that."""
    assert cell.facts is not None
    vary = {
        name: values for name, values in cell.vary.items() if not why_not_unasked(tunable_of(name))
    }
    if not vary or len(vary) == len(cell.vary):
        return cell
    points, _ = possible_points(recorded_tunables(vary), cell.facts)
    return replace(cell, vary=vary, possible=len(points))


def _measure(plan: Plan, directory: OwnedDirectory, observer: TrainingObserver) -> None:
    options = plan.options
    for number, cell in enumerate(plan.cells, 1):
        path = plan.surface(cell)
        if finished(path):
            continue
        observer.measuring(cell, number, len(plan.cells))
        if options.way is Way.SIMULATED:
            assert cell.facts is not None
            points, _ = possible_points(recorded_tunables(cell.vary), cell.facts)
            simulate_surface(options, cell, points, path)
            continue
        allowed = _allowance(plan, number - 1)
        if allowed is None or allowed > 0:
            record_cell(options, cell, path, directory, Allowance(observer, allowed))


def _allowance(plan: Plan, place: int) -> float | None:
    """Return a cell's part of what is left of the budget; None: no limit."""
    budget = plan.options.budget_seconds
    if budget is None:
        return None
    left = budget - spent_seconds(plan)
    weights = [
        0.0 if finished(plan.surface(cell)) else cell.configurations * cell.run_seconds
        for cell in plan.cells[place:]
    ]
    return left * weights[0] / sum(weights) if sum(weights) else left


def spent_seconds(plan: Plan) -> float:
    """Return how long all runs took so far: the first ones, and those of the surfaces."""
    recorded = (Surface.load(p) for c in plan.cells if (p := plan.surface(c)).exists())
    runs = sum(run.elapsed_seconds for surface in recorded for run in surface.runs)
    first = sum(cell.first_seconds for cell in plan.cells)
    return runs + (first if plan.options.way is not Way.SIMULATED else 0.0)
