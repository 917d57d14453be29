# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits a description of the storage to cells, and predicts cells with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import nan
from statistics import fmean, median, stdev

from stripewise.bench._case import CaseRun, RunFigure
from stripewise.bench.campaign import Campaign
from stripewise.bench.limits._cells import (
    ALL_TARGETS,
    FACTOR,
    LimitCell,
    Predicted,
    cells_of,
    measured_of,
)
from stripewise.bench.limits._plateaus import Plateau, chosen_target
from stripewise.core.errors import StripewiseError
from stripewise.storage.fit import Fitted, ModelCase, bandwidth, fit_figures, fit_results
from stripewise.storage.machines import SPEC_OF, Dimension, Figure, FigureOrigin, Storage
from stripewise.storage.results import Measured, Results

LEAST_NOISE = 0.02
"""Least relative error of a run: effects outside of the laws limit what a figure can show."""
LAWS = 0.04
"""Relative error of a limit due to the laws (chosen: two standard deviations of `LEAST_NOISE`)."""
_EXCHANGE = {"exchange.bandwidth": 1e10, "exchange.round": 2e-4}
_ROUNDS = {"servers.jitter": 0.3, "client.turns": 0.3}
"""Jitter and turns in a round, which waits for the slowest target that a node writes in turn."""
_AHEAD = {"locks.ahead": 2e-4, "locks.hold": 2e-4, "locks.extent": 5e-6}
_MULTIPLIER = "mpiio.cray_cb_nodes_multiplier"
_LOCK_MODE = "mpiio.cray_cb_write_lock_mode"
_ASKED, _TARGET = "servers.target_request", "servers.target_write"
_OF_TARGETS = {_ASKED: 1e-4, "servers.jitter": 0.3}
_SAME = 0.1
"""Relative distance up to which all targets together count as the whole."""


def fit_cells(
    cells: Sequence[LimitCell], base: Storage, seeing: Iterable[Plateau], seed: int
) -> Fitted:
    """Fit a description to cells; it already contains the limits of metadata.

    Args:
        cells: Cells of data.
        base: Description before the fit.
        seeing: Plateaus of the same cells.
        seed: Seed of the random numbers.
    """
    on_chosen = [found for way in ("write", "read") if (found := chosen_target(cells, way))]
    request_cost = next((request for _, request in on_chosen if request[0]), None)
    target = next(
        (one.value for one, _ in on_chosen if one.direct and one.figure == _TARGET), None
    )
    if request_cost and _ASKED not in base.figures:
        base = base.with_figures({_ASKED: _request_figure(*request_cost)})
    basic = [one for one in cells if _is_basic(one)]
    others = [one for one in cells if not _is_basic(one)]
    chosen = measured_of(basic) or measured_of(others)
    if not chosen:
        return Fitted(base)
    fit = _fit_requests(chosen, base, seed, target)
    if request_cost and fit.storage.figures[_ASKED] is base.figures[_ASKED]:
        fit.fitted_names.append(_ASKED)
    for way in ("write", "read"):
        _join_whole(fit, base, way)
    _allow_for_laws(fit)
    for one in seeing:
        if one.figure.startswith("servers.whole") and not one.reached:
            _leave_out(fit, base, one.figure, "rates still grow with the nodes")
        if one.figure.startswith(("client.process", "servers.target")) and one.reached:
            _set_direct_limits(fit, one)
    through = measured_of(others) if basic else ()
    if through:
        _fit_exchange(fit, through, seed)
    return fit


def _fit_requests(
    chosen: tuple[Measured, ...], base: Storage, seed: int, target: float | None
) -> Fitted:
    """Fit the limits, and if possible the cost of requests and the variation of targets.

    Otherwise the limit of the whole would be mistaken for what its targets do with small requests,
    or for what the slowest of them allows for files of each process.

    Args:
        chosen: Measurements to fit.
        base: Description before the fit.
        seed: Seed of the random numbers.
        target: Bytes per second of a selected target; None if unknown.
    """
    fit = fit_results(Results(chosen), base, seed=seed, least_noise=LEAST_NOISE)
    writes = tuple(one for one in chosen if one.writing)
    fitted = []
    for name, guess in _OF_TARGETS.items():
        if name in base.figures or "servers.target_write" not in fit.fitted_names:
            continue
        start = fit.storage
        if target is not None:
            figure = replace(start.figures[_TARGET], value=target, low=None, high=None)
            start = start.with_figures({_TARGET: figure})
        expected = {
            one: start.value(one) for one in fit.fitted_names
            if one.endswith("_write") and (target is None or one != _TARGET)
        }  # fmt: skip
        more = fit_figures(
            Results(writes), start, {**expected, name: guess}, seed=seed, least_noise=LEAST_NOISE
        )
        if name not in more.fitted_names or more.error > fit.error + LEAST_NOISE:
            continue
        base = base.with_figures({name: more.storage.figures[name]})
        fit = fit_results(Results(chosen), base, seed=seed, least_noise=LEAST_NOISE)
        fitted.append(name)
    fit.fitted_names += fitted
    return fit


def _request_figure(value: float, low: float, high: float) -> Figure:
    numbers = (float(f"{one:.3g}") for one in (value, low, high))
    middle, least, most = numbers
    return Figure(middle, FigureOrigin.MEASURED, "transfers of two sizes to a target", least, most)


def predicted(storage: Storage, cell: LimitCell) -> float | None:
    """Return the bandwidth of a cell with a description; None if the model does not support it."""
    if not cell.in_model or cell.workload is None:
        return None
    case = ModelCase(cell.workload, cell.stack, tuple(sorted(cell.settings.items())))
    try:
        return bandwidth(storage, case)
    except StripewiseError:
        return None


def evidence_of(figure: str, storage: Storage, cells: Iterable[LimitCell]) -> tuple[str, ...]:
    """Return the keys of the cells that would be slower if a figure was worse."""
    known = storage.figures[figure]
    is_rate = SPEC_OF[figure].dimension is Dimension.BANDWIDTH
    worse, least = (1 / 1.05, 0.5) if is_rate else (1.05, 0.1)
    moved = replace(known, value=known.value * worse, low=None, high=None)
    slower = storage.with_figures({figure: moved})
    found = []
    for cell in cells:
        before, after = predicted(storage, cell), predicted(slower, cell)
        if before and after and (before / after - 1) > least * 0.05:
            found.append(cell.key)
    return tuple(dict.fromkeys(found))


def _is_basic(cell: LimitCell) -> bool:
    """Return whether the time contains no exchange between processes."""
    return cell.stack.startswith("posix") and (cell.case.mode != "serial" or cell.case.ranks == 1)


def _join_whole(fit: Fitted, base: Storage, way: str) -> None:
    """Remove the limit of the whole if it equals that of all targets."""
    whole, target = f"servers.whole_{way}", f"servers.target_{way}"
    if whole not in fit.fitted_names or target not in fit.fitted_names:
        return
    together = fit.storage.value(target) * fit.storage.value("servers.targets")
    if abs(fit.storage.value(whole) / together - 1) > _SAME:
        return
    _leave_out(fit, base, whole, ALL_TARGETS)


def _leave_out(fit: Fitted, base: Storage, name: str, why: str) -> None:
    """Restore the base's value of a figure that the cases do not show."""
    if name not in fit.fitted_names:
        return
    figures = {key: one for key, one in fit.storage.figures.items() if key != name}
    if name in base.figures:
        figures[name] = base.figures[name]
    fit.storage = replace(fit.storage, figures=figures)
    fit.fitted_names.remove(name)
    fit.undetermined[name] = why


def _allow_for_laws(fit: Fitted) -> None:
    """Widen intervals by the errors of the laws, which repeats do not show."""
    figures = dict(fit.storage.figures)
    for name in fit.fitted_names:
        one = figures[name]
        if one.low is not None and one.high is not None:
            low, high = one.low / (1 + LAWS), one.high * (1 + LAWS)
            figures[name] = replace(one, low=float(f"{low:.4g}"), high=float(f"{high:.4g}"))
    fit.storage = replace(fit.storage, figures=figures)


def _set_direct_limits(fit: Fitted, seen: Plateau) -> None:
    """Set the limits of one process and of a selected target that the fit does not show.

    The fit attributes a process's limit to its node's file if both are equally fast, and it does
    not use cases whose files are all on one target, which directly show that target's limit.  No
    limit is below a measured rate: if the fit says so, it has mistaken something else (locks of a
    shared file) for the limit.
    """
    if seen.figure in fit.fitted_names:
        fitted = fit.storage.figures[seen.figure]
        if not seen.direct and seen.low <= (fitted.value if fitted.high is None else fitted.high):
            return
        fit.fitted_names.remove(seen.figure)
    figure = Figure(
        float(f"{seen.value:.4g}"), FigureOrigin.MEASURED,
        "the highest rate, which no more exceed",
        float(f"{seen.low / (1 + LAWS):.4g}"), float(f"{seen.high * (1 + LAWS):.4g}"),
    )  # fmt: skip
    fit.storage = fit.storage.with_figures({seen.figure: figure})
    fit.fitted_names.insert(0, seen.figure)
    fit.undetermined.pop(seen.figure, None)


def _fit_exchange(fit: Fitted, through: Sequence[Measured], seed: int) -> None:
    """Fit the cost of collective calls in addition to the limits of processes and targets."""
    expected = dict(_EXCHANGE)
    if any(one.settings.get(_LOCK_MODE) == 2 for one in through):
        expected |= _AHEAD
    if any(one.settings.get(FACTOR) != 1 for one in through):
        expected |= _ROUNDS
    if any(_shares_targets(one) for one in through):
        expected["locks.revoke"] = 1e-3
    known = {key: value for key, value in expected.items() if key not in fit.storage.figures}
    if not known:
        return
    found = fit_figures(
        Results(tuple(through)), fit.storage, known, seed=seed, least_noise=LEAST_NOISE
    )
    fit.storage = found.storage
    fit.fitted_names += found.fitted_names
    fit.undetermined |= found.undetermined


def _shares_targets(one: Measured) -> bool:
    """Return whether several aggregators write to a target with the default locks."""
    number = one.settings.get(_MULTIPLIER, 1)
    return isinstance(number, int) and number > 1 and not one.settings.get(_LOCK_MODE)


def noise_of(cells: Sequence[LimitCell]) -> float:
    """Return the median coefficient of variation of repeats; 0 if there are none."""
    spreads = [stdev(one.rates) / fmean(one.rates) for one in cells if len(one.rates) > 2]
    return median(spreads or [0.0])


# Predictions of a fitted description: cells that were measured, left out, or not run.

EVERY = 4
"""Interval of cells that are left out of the fit that predicts them."""
_LEAST = 6
"""Number of cells below which none is left out."""


def left_out(
    cells: Sequence[LimitCell], fit: Callable[[Sequence[LimitCell]], Storage]
) -> list[Predicted]:
    """Predict cells that are left out of a fit: every fourth, and those of the most nodes.

    Args:
        cells: Cells that the model supports, in the order of the suite.
        fit: Returns the description fitted to given cells.
    """
    if len(cells) < _LEAST:
        return []
    most = max(one.case.nodes for one in cells)
    by_place = {id(one) for place, one in enumerate(cells) if place % EVERY == EVERY - 1}
    largest = {id(one) for one in cells if one.case.nodes > most / 2} if most > 1 else set()
    found: dict[tuple[str, str], Predicted] = {}
    for chosen in (by_place, largest):
        kept = [one for one in cells if id(one) not in chosen]
        if not chosen or len(kept) < _LEAST // 2:
            continue
        storage = fit(kept)
        for one in compared(storage, [one for one in cells if id(one) in chosen]):
            found[one.key, one.operation] = replace(one, left_out=True)
    return list(found.values())


def compared(storage: Storage, cells: Iterable[LimitCell]) -> Iterator[Predicted]:
    """Yield measured cells with the predictions of a description."""
    for one in cells:
        value = predicted(storage, one)
        if value is not None:
            yield Predicted(one.key, one.operation, value, one.best)


def not_run(storage: Storage, campaign: Campaign, own_stack: str) -> Iterator[Predicted]:
    """Yield predictions for the cells of a suite that have no good run."""
    runs = []
    for case, made in campaign.of_cases():
        if case.operation != "metadata" and not any(one.status == "ok" for one in made):
            ways = ("write", "read")[: 1 + (case.operation == "write-read")]
            runs.append(
                CaseRun(case.key, 1, "ok", tuple(RunFigure(way, 1.0, 1.0) for way in ways))
            )
    for cell in cells_of(replace(campaign, runs=tuple(runs)), own_stack):
        value = predicted(storage, cell)
        if value is not None:
            yield Predicted(cell.key, cell.operation, value, nan)


def error_of(found: Iterable[Predicted]) -> float:
    """Return the median relative error of left-out cells; NaN if there are none."""
    errors = [abs(one.predicted / one.measured - 1) for one in found if one.left_out]
    return median(errors) if errors else nan
