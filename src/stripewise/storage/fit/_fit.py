# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits a description of storage to benchmark results, each limit with an interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

import numpy as np
from numpy.typing import NDArray

from stripewise.core.errors import UsageError
from stripewise.storage.fit._predict import ModelCase, Ready, bandwidth, bandwidths
from stripewise.storage.machines import Figure, FigureOrigin, Storage
from stripewise.storage.results import Measured, Results
from stripewise.storage.simulation import operation_figure

Vector = NDArray[np.float64]

TOLD = 0.4
"""A figure is determined if its standard deviation is below this: known to a factor of two."""
NOISE = 0.05
"""Relative error of one run without repeats (assumed)."""
LEAST_NOISE = 0.002


@dataclass
class Fitted:
    """A storage description fitted to results.

    Attributes:
        storage: The description; a figure that was fitted has an interval.
        fitted_names: Names of the figures that were fitted.
        undetermined: Figures that the results do not determine, and the reasons.
        error: Median absolute error of the measured bandwidths; NaN without any.
    """

    storage: Storage
    fitted_names: list[str] = field(default_factory=list)
    undetermined: dict[str, str] = field(default_factory=dict)
    error: float = float("nan")


def fit_results(
    results: Results, base: Storage, *, seed: int = 0, least_noise: float = LEAST_NOISE
) -> Fitted:
    """Estimate the limits of a storage.

    Args:
        results: Results of benchmarks on it.
        base: Known properties: targets, nodes, the stack, and figures to keep.
        seed: Seed of the random numbers.
        least_noise: Minimum relative error of a run, even if its repeats agree better: it avoids
            that effects missing in the laws are taken as knowledge of a figure.

    Raises:
        UsageError: The results contain nothing.
    """
    if not results.measured and not results.operations:
        raise UsageError("the results hold no bandwidth and no metadata operation to fit to")
    storage, fitted = base, list[str]()
    undetermined: dict[str, str] = {}
    random = np.random.default_rng(seed)
    for writing in (True, False):
        chosen = [one for one in results.measured if one.writing is writing]
        if chosen:
            fit = _fit_one(chosen, storage, writing, random, least_noise)
            storage = fit.storage
            fitted += fit.fitted_names
            undetermined |= fit.undetermined
    for figure, rates in results.operations.items():
        storage = _with_figure(
            storage, figure, *_operation(base, figure, np.array(rates)), "mdtest"
        )
        fitted.append(figure)
    storage = finished(storage, results)
    return Fitted(storage, fitted, undetermined, _error(storage, results.measured))


def fit_figures(
    results: Results,
    base: Storage,
    expected: Mapping[str, float],
    *,
    seed: int = 0,
    least_noise: float = LEAST_NOISE,
) -> Fitted:
    """Estimate chosen figures of a storage; all others remain unchanged.

    Args:
        results: Results of benchmarks on it, in one direction.
        base: Description with the known figures.
        expected: Figures to estimate, with a first guess in base units.
        seed: Seed of the random numbers.
        least_noise: See `fit_results`.

    Raises:
        UsageError: The results contain no bandwidth.
    """
    if not results.measured:
        raise UsageError("the results hold no bandwidth to fit to")
    return _fit_determined(
        results.measured, base, expected, np.random.default_rng(seed), least_noise,
        worst=lambda spare, spread: max(spare, key=spread.__getitem__),
        why=lambda _: "no measurement was limited by it alone",
    )  # fmt: skip


def _fit_determined(
    chosen: Sequence[Measured], base: Storage, expected: Mapping[str, float],
    random: np.random.Generator, least_noise: float,
    worst: Callable[[Sequence[str], Mapping[str, float]], str], why: Callable[[str], str],
) -> Fitted:  # fmt: skip
    """Fit figures, and leave out those that the results do not determine, one by one.

    Args:
        chosen: Results to explain.
        base: Description with the known figures.
        expected: Figures to estimate, with a first guess in base units.
        random: Random numbers for starts and draws.
        least_noise: See `fit_results`.
        worst: Function from undetermined figures and the spread of all to the one to leave out;
            empty for none.
        why: Function from a figure to the reason why it is undetermined.
    """
    cases, left, undetermined = _cases(chosen, base), dict(expected), dict[str, str]()
    rates, unsure = np.log([_rate(one) for one in chosen]), _errors_of_medians(chosen, least_noise)
    start: Vector | None = None
    while True:
        problem = FitProblem(base, cases, rates, unsure, left)
        place = problem.solve(random, start)
        widths, draws = problem.draws(place, random)
        spread = dict(zip(left, widths, strict=True))
        spare = [name for name, width in spread.items() if width > TOLD] or problem.spare(place)
        name = worst(spare, spread) if spare else ""
        if not name:
            break
        undetermined[name] = why(name)
        start = np.delete(place, list(left).index(name))
        left = {key: value for key, value in left.items() if key != name}
    for name, value, drawn in zip(left, place, draws.T, strict=True):
        low, high = np.exp(np.quantile(drawn, (0.025, 0.975)))
        base = _with_figure(
            base, name, float(np.exp(value)), float(low), float(high), "benchmarks"
        )
    return Fitted(base, list(left), undetermined, _error(base, chosen))


# ---- one direction ---------------------------------------------------------------------------


def _fit_one(
    chosen: Sequence[Measured],
    base: Storage,
    writing: bool,
    random: np.random.Generator,
    least_noise: float,
) -> Fitted:
    """Fit the figures of one direction."""
    way = "write" if writing else "read"
    expected = _expected(chosen, _cases(chosen, base), base, way)
    nodes = max(one.workload.nodes for one in chosen)
    fit = _fit_determined(
        chosen, base, expected, random, least_noise,
        worst=lambda spare, spread: _least_general(spare, nodes) if len(spread) > 1 else "",
        why=lambda name: _why(name, chosen),
    )  # fmt: skip
    if f"servers.target_{way}" not in expected:
        known = {f"servers.target_{way}": "measure from several nodes, or several stripe counts"}
        fit.undetermined = known | fit.undetermined
    return fit


def _expected(
    chosen: Sequence[Measured], cases: Sequence[ModelCase], base: Storage, way: str
) -> dict[str, float]:
    """Return the figures that results of this kind may determine, with a first guess."""
    works = [one.workload for one in chosen]
    rates = np.array([_rate(one) for one in chosen])
    nodes = np.array([one.nodes for one in works])
    ranks = np.array([one.ranks for one in works])
    found = {f"client.process_{way}": float((rates / ranks).max())}
    one_file = [case for case in cases if case.stack not in ("posix-process", "posix-serial")]
    into_one = np.array([case in one_file and case.workload.ranks_per_node > 1 for case in cases])
    shared, own = bool(into_one.any()), bool((~into_one & (ranks > nodes)).any())
    if shared:
        # Several nodes writing one file may meet at its targets; one node shows its own limit.
        by_one = into_one & (nodes == 1)
        found[f"client.file_{way}"] = float((rates / nodes)[by_one if by_one.any() else ...].max())
    found[f"client.node_{way}"] = float((rates / nodes).max()) * (1.2 if shared and not own else 1)
    # One node is itself the limit, unless its rate of one file grows with the stripes.
    if nodes.max() > 1 or len({_objects(case, base) for case in one_file}) > 1:
        used = np.array(
            [min(_objects(case, base), base.value("servers.targets")) for case in cases]
        )
        few = (used < base.value("servers.targets")) & (nodes > used)
        # If files have fewer targets than nodes, these limits show; otherwise they are a guess.
        chosen_few = few if few.any() else np.ones_like(few)
        factor = 1.0 if few.any() else 1.5
        found[f"servers.target_{way}"] = factor * float((rates / used)[chosen_few].max())
    found[f"servers.whole_{way}"] = float(rates.max())
    if way == "write":
        found["client.request"] = 1e-4
    if any(dict(case.settings).get("mpiio.cray_cb_write_lock_mode") == 2 for case in cases):
        found |= {"locks.ahead": 2e-4, "locks.hold": 2e-4, "locks.extent": 5e-6}
    return found


def _objects(case: ModelCase, base: Storage) -> float:
    """Return the number of objects of all files of a job."""
    stripes = dict(case.settings).get("mpiio.striping_factor", base.value("layout.stripe_count"))
    files = case.workload.ranks if case.stack == "posix-process" else 1
    number = float(stripes) if isinstance(stripes, int | float) else 1.0
    return files * (number if number > 0 else base.value("servers.targets"))


def _least_general(names: Sequence[str], nodes: int) -> str:
    """Return which of several indistinguishable figures to leave out first.

    The remaining figures should apply to other jobs: a node's limit rather than that of each
    process, the total limit rather than that of each target, and for a single node its own limit.
    """
    order = ["request", "locks", "servers.target", "client.process", "client.file", "client.node"]
    order.insert(2 if nodes == 1 else len(order), "servers.whole")

    def place(name: str) -> int:
        return next(n for n, word in enumerate(order) if word in name)

    return min(names, key=place, default="")


def _why(name: str, chosen: Sequence[Measured]) -> str:
    sizes = {one.workload.bytes / one.workload.ranks / one.workload.patterns[0].steps
             for one in chosen}  # fmt: skip
    if name == "client.request" and len(sizes) < 2:
        return "vary the transfer size"
    return "no measurement was limited by it alone"


# ---- measurements ----------------------------------------------------------------------------


def _cases(chosen: Sequence[Measured], base: Storage) -> list[ModelCase]:
    stack = base.stack or "romio"
    return [
        ModelCase(one.workload, one.stack or stack, tuple(sorted(one.settings.items())))
        for one in chosen
    ]


def _rate(one: Measured) -> float:
    return float(np.median(one.rates))


def _error(storage: Storage, chosen: Sequence[Measured]) -> float:
    """Return the median absolute error of predicted bandwidths; NaN without any."""
    pairs = zip(chosen, _cases(chosen, storage), strict=True)
    errors = [abs(bandwidth(storage, case) / _rate(one) - 1) for one, case in pairs]
    return float(np.median(errors or [np.nan]))


def _errors_of_medians(chosen: Sequence[Measured], least: float) -> Vector:
    """Return the standard deviation of each median's logarithm, from the spread of all repeats."""
    freedom = sum(len(one.rates) - 1 for one in chosen)
    noise = NOISE
    if freedom > 0:
        logs = [np.log(one.rates) for one in chosen]
        noise = np.sqrt(sum(float(((x - x.mean()) ** 2).sum()) for x in logs) / freedom)
    noise = max(noise, least)
    # For the median of n normal numbers: 1.25 / sqrt(n), and 1 for one or two.
    factors = [(1.25 if len(one.rates) > 2 else 1.0) / len(one.rates) ** 0.5 for one in chosen]
    return noise * np.array(factors)


def _operation(base: Storage, figure: str, rates: Vector) -> tuple[float, float, float]:
    """Return seconds of an operation, and the range of its repeats."""
    name = figure.removeprefix("metadata.")
    middle, low, high = (
        operation_figure(base, name, float(1 / rate))
        for rate in (np.median(rates), rates.max(), rates.min())
    )
    return middle, low, high


def _with_figure(
    storage: Storage, name: str, value: float, low: float, high: float, what: str
) -> Storage:
    source = f"fitted to results of {what} by `stripewise machine fit`"
    ends = (min(low, value), value, max(high, value))
    low, value, high = (float(f"{end:.4g}") for end in ends)
    figure = Figure(value, FigureOrigin.MEASURED, source, low, high)
    return storage.with_figures({name: figure})


# Bandwidths to be explained by figures of a description: the best figures and their errors.

WIDE = 2.0
"""Prior standard deviation of a figure's logarithm: hardly any prior knowledge."""
NOTHING = 0.05
SPARED = 2.0
"""A figure whose removal increases the loss by less is undetermined: a chi-square of 4."""
DRAWS, STARTS, ROUNDS, SCALE = 2000, 3, 25, 2.0
STEP = 1e-4
"""Step of finite differences for derivatives; parameters are logarithms, of order one."""


def minimised(
    residuals: Callable[[Vector], Vector], start: Vector, rounds: int = ROUNDS
) -> tuple[Vector, float]:
    """Return the parameters with the least Huber loss of the residuals, and that loss.

    Args:
        residuals: Function from parameters (k,) to residuals (n,); those beyond `SCALE` count
            linearly.
        start: Initial parameters, shape (k,).
        rounds: Maximum number of steps.
    """
    from scipy.optimize import least_squares

    found = least_squares(
        residuals, start, loss="huber", f_scale=SCALE, diff_step=STEP, max_nfev=rounds,
        ftol=1e-9, xtol=1e-7,
    )  # fmt: skip
    return found.x, float(found.cost)


@dataclass(frozen=True)
class FitProblem:
    """Bandwidths to be explained by figures, all as logarithms."""

    base: Storage
    cases: Sequence[ModelCase]
    rates: Vector
    unsure: Vector
    expected: dict[str, float]

    @cached_property
    def _ready(self) -> list[Ready]:
        return [Ready.of(self.base, case) for case in self.cases]

    def residuals(self, place: Vector) -> Vector:
        values = dict(zip(self.expected, np.exp(place), strict=True))
        moved = with_values(self.base, values)
        found = np.log(bandwidths(moved, self._ready))
        far = (place - np.log(list(self.expected.values()))) / WIDE
        return np.concatenate([(found - self.rates) / self.unsure, far])

    def solve(self, random: np.random.Generator, start: Vector | None) -> Vector:
        """Return the best of several descents, as limits make edges where a descent may stop.

        Args:
            random: Random numbers for initial places.
            start: Place that is known to be good, shape (k,); None if there is none.
        """
        guess = np.log(list(self.expected.values()))
        if not len(guess):
            return guess
        places = [guess, *(guess + random.normal(0.2, 0.4, len(guess)) for _ in range(STARTS))]
        found = [
            minimised(self.residuals, place) for place in (places if start is None else [start])
        ]
        # The first one separates limits that explain the same.
        best = found[0]
        for one in found[1:]:
            best = one if one[1] < best[1] - NOTHING else best
        return best[0]

    def without(self, index: int) -> FitProblem:
        """Return the problem without one of the figures."""
        name = list(self.expected)[index]
        left = {key: value for key, value in self.expected.items() if key != name}
        return replace(self, expected=left)

    def loss(self, place: Vector) -> float:
        """Return half of the weighted squared errors of the rates."""
        from scipy.special import huber

        return float(huber(SCALE, self.residuals(place)[: len(self.rates)]).sum())

    def spare(self, place: Vector) -> list[str]:
        """Return the figures without each of which the rates are explained as well."""
        found = []
        for index, name in enumerate(self.expected):
            simpler, rest = self.without(index), np.delete(place, index)
            if len(rest):
                rest, _ = minimised(simpler.residuals, rest)
            if simpler.loss(rest) - self.loss(place) < SPARED:
                found.append(name)
        return found

    def draws(self, place: Vector, random: np.random.Generator) -> tuple[Vector, Vector]:
        """Return standard deviations (k,), and a first-order bootstrap (draws, k).

        Each draw takes other repeats, which move the figures along the slopes at the optimum;
        effects that the laws cannot explain widen the draws, but do not make a figure
        undetermined.
        """
        if not len(place):
            return place, np.zeros((1, 0))
        from scipy.optimize import approx_fprime

        slopes, left = approx_fprime(place, self.residuals, STEP), self.residuals(place)
        number, free = len(self.rates), len(place)
        misfit = float((left[:number] ** 2).sum()) / max(number - free, 1)
        inflate = np.sqrt(max(misfit, 1.0))
        normal = np.linalg.inv(slopes.T @ slopes + 1e-12 * np.eye(free))
        drawn = random.normal(0, inflate, (DRAWS, number))
        moved = drawn @ (normal @ slopes[:number].T).T
        blind = np.sqrt(np.diag(normal))
        return blind, place + moved


def with_values(storage: Storage, values: Mapping[str, float]) -> Storage:
    """Return a storage with other values of some figures."""
    figures = dict(storage.figures)
    for name, value in values.items():
        known = figures.get(name, Figure(value, FigureOrigin.ASSUMED, "fit"))
        figures[name] = replace(known, value=value, low=None, high=None)
    return replace(storage, figures=figures)


# Starting point of a fit: a storage of which hardly anything is known.

_UNKNOWN = 1e15
"""Bandwidth that limits nothing, but still takes time, in bytes per second."""
_TARGETS = ("servers.target_write", "servers.target_read")


def blank_storage(
    results: Results, *, name: str, targets: int, kind: str = "lustre", stack: str = "romio"
) -> Storage:
    """Return a storage without limits, with the number of nodes in the results.

    Args:
        results: Results that it is to be fitted to.
        name: Name of the description.
        targets: Number of OSTs, burst-buffer nodes or disks.
        kind: One of `stripewise.storage.machines.KINDS`.
        stack: MPI-IO library of its users.
    """
    works = [one.workload for one in results.measured]
    nodes = max((one.nodes for one in works), default=1)
    ranks = max((one.ranks_per_node for one in works), default=1)
    given = "given to `stripewise machine fit`"
    figures = {
        "machine.nodes": Figure(nodes, FigureOrigin.ASSUMED, "the most nodes of the results"),
        "machine.ranks_per_node": Figure(ranks, FigureOrigin.ASSUMED, "the most of the results"),
        "servers.targets": Figure(targets, FigureOrigin.DOCUMENTED, given),
        **{one: Figure(_UNKNOWN, FigureOrigin.ASSUMED, "not known") for one in _TARGETS},
    }
    return Storage(name, "Fitted to benchmark results", kind, stack, figures)


def finished(storage: Storage, results: Results) -> Storage:
    """Return the storage with a bandwidth of targets in both directions.

    Args:
        storage: Fitted storage.
        results: Results; the fastest run replaces a bandwidth that no run determines.

    Raises:
        UsageError: Nothing is known of the targets.
    """
    missing = [one for one in _TARGETS if storage.value(one) >= _UNKNOWN]
    seen = {True: 0.0, False: 0.0}
    for one in results.measured:
        seen[one.writing] = max(seen[one.writing], median(one.rates))
    if missing and not any(seen.values()):
        raise UsageError(
            "the results do not show how fast a target is: add bandwidths, or name a "
            "description to begin with by --like"
        )
    figures = dict(storage.figures)
    for name in missing:
        way = name.rpartition("_")[2]
        most = storage.value(f"servers.whole_{way}")
        value = min(seen[way == "write"] or max(seen.values()), most)
        source = "not shown by the results: as fast as the fastest configuration"
        figures[name] = Figure(float(f"{value:.4g}"), FigureOrigin.ASSUMED, source)
    return replace(storage, figures=figures)
