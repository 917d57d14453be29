# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the space that a study searches, without points that make no sense."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stripewise.core import ProgramFacts, Striping, Value
from stripewise.settings.tunables._base import Layer, SafetyClass, Tunable
from stripewise.settings.tunables._conditions import romio_name
from stripewise.settings.tunables._registry import (
    acts_per_file,
    all_tunables,
    get,
    scopes,
    settings_on,
    split_scope,
)

_BUFFERING_TUNABLES = {
    "mpiio.cb_nodes",
    "mpiio.cb_buffer_size",
    "mpiio.romio_lustre_co_ratio",
    "mpiio.romio_lustre_ds_in_coll",
}
"""Tunables that act on calls whose data aggregators collect."""


@dataclass(frozen=True)
class Dimension:
    """One dimension of the space: a tunable and its ladder for the program.

    The ladder is empty if strategies choose values from the results of trials.
    """

    tunable: Tunable
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Space:
    """The space that a study searches.

    Attributes:
        dimensions: Dimensions, in order of likely effect.
        left_out: Name of a tunable that is not searched to the reason.
    """

    dimensions: tuple[Dimension, ...]
    left_out: Mapping[str, str]

    @property
    def size(self) -> int:
        """Number of configurations, the default value of each tunable included."""
        return math.prod(len(dimension.values) + 1 for dimension in self.dimensions)

    def positions(self, settings: Mapping[str, Value]) -> tuple[int, ...] | None:
        """Return the position of each tunable's value on its ladder, 0 for the default.

        Return None if the settings are outside the space.
        """
        ladders = {d.tunable.name: (None, *d.values) for d in self.dimensions}
        if any(value not in ladders.get(name, ()) for name, value in settings.items()):
            return None
        return tuple(ladder.index(settings.get(name)) for name, ladder in ladders.items())

    def at(self, positions: Iterable[int]) -> dict[str, Value]:
        """Return the settings whose values are at given positions."""
        pairs = zip(self.dimensions, positions, strict=True)
        return {d.tunable.name: d.values[place - 1] for d, place in pairs if place}

    def point(self, number: int) -> dict[str, Value]:
        """Return the point with a number in [0, size); 0 is the default everywhere."""
        positions = []
        for dimension in self.dimensions:
            number, place = divmod(number, len(dimension.values) + 1)
            positions.append(place)
        return self.at(positions)


def find_space(
    facts: ProgramFacts,
    allowed: Callable[[Tunable], str] = lambda tunable: "",
    *,
    classes: Container[SafetyClass] = (SafetyClass.SAFE, SafetyClass.LAYOUT),
    only: Sequence[str] = (),
    ladders: Mapping[str, Sequence[Value]] | None = None,
) -> Space:
    """Choose the tunables worth searching for a program.

    Args:
        facts: Facts about the program from its first run.
        allowed: Function that returns why a tunable may not be used; empty if it may.
        classes: Safety classes to search.
        only: Names of tunables; if given, no others are searched.
        ladders: Tunable name to values that replace the tunable's own ladder; these tunables are
            searched independent of `only`, and the job's resources only if given here. Tunables
            with values from trials may have an empty ladder.

    Raises:
        UsageError: `only` or `ladders` names a tunable that does not exist.
        ConfigurationError: A value in `ladders` is not valid for its tunable.
    """
    wanted = {get(name).name for name in only}
    given = _checked_ladders(ladders or {}, facts)

    def reasons(tunable: Tunable, rungs: Sequence[Value]) -> Iterator[str]:
        """Yield reasons why it is not searched, most important first, or empty texts."""
        is_given, of_job = tunable.name in given, tunable.layer is Layer.JOB
        if not is_given and wanted and tunable.name not in wanted:
            yield "not requested"
        if not is_given and of_job:
            yield f"only if requested with --{tunable.key.replace('_', '-')}"
        yield tunable.why_not(facts)
        if tunable.safety not in classes and not of_job:
            yield f"class {tunable.safety}: only if requested"
        yield allowed(tunable)
        is_empty = not rungs and not tunable.search.from_trials
        if is_empty and is_given:
            yield "only what the command names is tried"
        if is_empty:
            yield "no value worth trying for this program"
        if tunable.search.by_name and not is_given and tunable.name not in wanted:
            yield f"{tunable.search.by_name}: tried only if named, with --only {tunable.name}"

    dimensions: list[Dimension] = []
    left_out: dict[str, str] = {}
    for tunable in all_tunables():
        rungs = given.get(tunable.name, tunable.search.ladder(facts))
        if reason := next(filter(None, reasons(tunable, rungs)), ""):
            left_out[tunable.name] = reason
        else:
            dimensions.append(Dimension(tunable, rungs))
    return _drop_unreachable(dimensions, left_out, facts)


def _checked_ladders(
    ladders: Mapping[str, Sequence[Value]], facts: ProgramFacts
) -> dict[str, tuple[Value, ...]]:
    """Return the user's ladders with checked, unique values, without values that already act."""
    checked: dict[str, tuple[Value, ...]] = {}
    for name, values in ladders.items():
        tunable = get(name)
        distinct = dict.fromkeys(tunable.check(value) for value in values)
        current = _current(tunable.name, facts)
        if distinct or tunable.search.from_trials:
            checked[tunable.name] = tuple(value for value in distinct if value != current)
    return checked


def _drop_unreachable(
    dimensions: list[Dimension], left_out: dict[str, str], facts: ProgramFacts
) -> Space:
    """Drop tunables that require a value of another tunable that is neither set nor searched."""
    reachable = {
        (dimension.tunable.name, value) for dimension in dimensions for value in dimension.values
    }
    kept: list[Dimension] = []
    for dimension in dimensions:
        missing = [
            f"{name}={value}"
            for name, value in dimension.tunable.requires(facts).items()
            if _current(name, facts) != value and (name, value) not in reachable
        ]
        if missing:
            left_out[dimension.tunable.name] = f"needs {missing[0]}, which is not searched"
        else:
            kept.append(dimension)
    return Space(tuple(kept), left_out)


def _current(name: str, facts: ProgramFacts) -> Value | None:
    """Return the default value of a tunable, if the facts show it."""
    if name == "job.ranks":
        return facts.n_ranks
    if name == "job.burst_buffer_nodes":
        return facts.burst_buffer_nodes
    if name != "mca.io" or not facts.mpiio_implementation:
        return None
    romio = facts.mpiio_implementation == "romio"
    return romio_name(facts) if romio else facts.mpiio_implementation


def is_valid(settings: Mapping[str, Value], facts: ProgramFacts) -> bool:
    """Return whether settings can act together on a program, for every class of files."""
    if any(split_scope(name)[1] and not acts_per_file(name) for name in settings):
        return False
    on_classes = (settings_on(settings, match) for match in ("", *scopes(settings)))
    return all(_act_together(on, facts) for on in on_classes)


def _has_cpus(settings: Mapping[str, Value], facts: ProgramFacts) -> bool:
    """Return whether the job has enough CPUs for its ranks and threads."""
    ranks, threads = settings.get("job.ranks", facts.n_ranks), settings.get("job.threads")
    if not (facts.job_cpus and isinstance(ranks, int) and isinstance(threads, int)):
        return True
    return ranks * threads <= facts.job_cpus


def _act_together(settings: Mapping[str, Value], facts: ProgramFacts) -> bool:
    nodes = settings.get("job.burst_buffer_nodes", facts.burst_buffer_nodes)
    if "job.burst_buffer_files" in settings and not nodes:
        return False
    for name in settings:
        for other, needed in get(name).requires(facts).items():
            if settings.get(other, _current(other, facts)) != needed:
                return False
    if not _has_cpus(settings, facts):
        return False
    direct_writes = settings.get("mpiio.romio_cb_write") == "disable"
    direct_reads = settings.get("mpiio.romio_cb_read") == "disable"
    if settings.get("mpiio.romio_no_indep_rw") is True and (direct_writes or direct_reads):
        return False  # this forces collective buffering
    unbuffered = direct_writes and not facts.amount("read_bytes").most
    if unbuffered or settings.get("mca.fcoll") == "individual":
        return not settings.keys() & _BUFFERING_TUNABLES
    return bool(nodes) or not has_idle_aggregation(settings, facts)  # these are for Lustre only


# Number of ranks that write in ROMIO's Lustre driver, and settings that do not change it.

_AGGREGATORS, _RATIO = "mpiio.cb_nodes", "mpiio.romio_lustre_co_ratio"
_COUNT, _SIZE = "mpiio.striping_factor", "mpiio.striping_unit"


def lustre_aggregators(wanted: int, stripes: int, co_ratio: int) -> int:
    """Return the number of aggregators that ROMIO's Lustre driver uses in a collective write.

    It is a multiple of the stripe count, with at most `co_ratio` aggregators per stripe; or, with
    fewer aggregators than stripes, a divisor of the stripe count.

    Source: ROMIO, adio/ad_lustre/ad_lustre_aggregate.c (Get_striping_info), MPICH 4.0.2.
    """
    if wanted >= stripes:
        return stripes * min(wanted // stripes, co_ratio)
    found = 1
    for divisor in range(2, math.isqrt(stripes) + 1):
        if stripes % divisor:
            continue
        if stripes // divisor <= wanted:
            return stripes // divisor
        if divisor <= wanted:
            found = divisor
    return found


def has_idle_aggregation(settings: Mapping[str, Value], facts: ProgramFacts) -> bool:
    """Return whether a setting for aggregators has no effect on which ranks write."""
    given = settings.keys() & {_AGGREGATORS, _RATIO}
    reads = facts.amount("mpiio_read_bytes").most
    other = facts.mpiio_alternatives or reads or facts.striping is None
    if not given or other or facts.mpiio_driver != "LUSTRE":
        return False
    if _number(settings, _AGGREGATORS, 1) > facts.aggregator_hosts:
        given.discard(_AGGREGATORS)  # other ranks, even if as many
    writers = _writers(settings, facts)
    without = [{n: v for n, v in settings.items() if n != name} for name in given]
    return any(_writers(fewer, facts) == writers for fewer in without)


def _writers(settings: Mapping[str, Value], facts: ProgramFacts) -> int:
    assert facts.striping is not None
    wanted = min(_number(settings, _AGGREGATORS, facts.aggregator_hosts), facts.n_ranks)
    stripes = lustre_stripes(settings, facts.striping)
    return lustre_aggregators(wanted, stripes, _number(settings, _RATIO, 1))


def lustre_stripes(settings: Mapping[str, Value], striping: Striping) -> int:
    """Return the stripe count of a new file; the driver uses all targets if only a size is set."""
    usual = -1 if _SIZE in settings else striping.stripe_count
    count = _number(settings, _COUNT, usual)
    return count if 0 < count <= striping.targets else max(striping.targets, 1)


def _number(settings: Mapping[str, Value], name: str, usual: int) -> int:
    value = settings.get(name, usual)
    return value if isinstance(value, int) else usual
