# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which tunables are searched for a program, and which points make no sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stripewise.model import ProgramFacts, Value
from stripewise.tunables._base import Dimension, Layer, SafetyClass, Space, Tunable
from stripewise.tunables._registry import all_tunables, get
from stripewise.tunables._scopes import acts_per_file, scopes, settings_on, split_scope

SEARCHED_CLASSES = frozenset({SafetyClass.SAFE, SafetyClass.LAYOUT})


def find_space(
    facts: ProgramFacts,
    allowed: Callable[[Tunable], str] | None = None,
    *,
    classes: frozenset[SafetyClass] = SEARCHED_CLASSES,
    only: Sequence[str] = (),
    ladders: Mapping[str, Sequence[Value]] | None = None,
) -> Space:
    """Choose the tunables worth searching for a program.

    Args:
        facts: What its first run showed.
        allowed: Returns the reason why a tunable may not be used; "" if it may.
        classes: Classes to search.
        only: Names; if given, no other tunable is searched.
        ladders: Tunable name to values that the user wants tried instead of the tunable's own;
            such tunables are searched whatever `only` says, and the job's resources not without.

    Raises:
        UsageError: `only` or `ladders` names a tunable that does not exist.
        ConfigurationError: A value of `ladders` is not one of that tunable.
    """
    wanted = {get(name).name for name in only}
    given = _given(ladders or {})
    dimensions: list[Dimension] = []
    left_out: dict[str, str] = {}
    for knob in all_tunables():
        if knob.name in given:
            rungs = tuple(v for v in given[knob.name] if v != _current(knob.name, facts))
            reason = _why_not(knob, facts, allowed, classes)
            reason = reason or ("" if rungs else "only what the command says is to be tried")
        else:
            reason, rungs = _judge(knob, facts, allowed, classes, wanted)
        if reason:
            left_out[knob.name] = reason
        else:
            dimensions.append(Dimension(knob, rungs))
    return _drop_unreachable(dimensions, left_out, facts)


def _given(ladders: Mapping[str, Sequence[Value]]) -> dict[str, tuple[Value, ...]]:
    """Return the user's ladders with checked values, each value once."""
    checked: dict[str, tuple[Value, ...]] = {}
    for name, values in ladders.items():
        knob = get(name)
        checked[knob.name] = tuple(dict.fromkeys(knob.check(value) for value in values))
    return {name: values for name, values in checked.items() if values}


def _judge(
    knob: Tunable,
    facts: ProgramFacts,
    allowed: Callable[[Tunable], str] | None,
    classes: frozenset[SafetyClass],
    wanted: set[str],
) -> tuple[str, tuple[Value, ...]]:
    if wanted and knob.name not in wanted:
        return "not asked for", ()
    if knob.layer is Layer.JOB:
        return f"only on request: --{knob.key.replace('_', '-')}", ()
    if why := _why_not(knob, facts, allowed, classes):
        return why, ()
    rungs = knob.ladder(facts)
    if rungs and knob.by_name and knob.name not in wanted:
        return f"{knob.by_name}: tried only if named, with --only {knob.name}", ()
    return ("" if rungs else "no value worth trying for this program"), rungs


def _why_not(
    knob: Tunable,
    facts: ProgramFacts,
    allowed: Callable[[Tunable], str] | None,
    classes: frozenset[SafetyClass],
) -> str:
    if why := knob.why_not(facts):
        return why
    if knob.safety not in classes and knob.layer is not Layer.JOB:
        return f"class {knob.safety}: only on request"
    return allowed(knob) if allowed else ""


def _drop_unreachable(
    dimensions: list[Dimension], left_out: dict[str, str], facts: ProgramFacts
) -> Space:
    """Drop tunables that need a value of another tunable that is neither there nor searched."""
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
    """Value that a tunable has unasked, where the facts tell."""
    if name == "job.ranks":
        return facts.n_ranks
    if name != "mca.io" or not facts.mpiio_implementation:
        return None
    if facts.mpiio_implementation == "romio":
        return next((a for a in facts.mpiio_alternatives if a.startswith("romio")), "romio321")
    return facts.mpiio_implementation


def point_problem(settings: Mapping[str, Value], facts: ProgramFacts) -> str:
    """Return why these settings cannot act together, on any class of files; "" if they can."""
    for name in settings:
        if split_scope(name)[1] and not acts_per_file(name):
            return f"{split_scope(name)[0]} acts on the whole job, not on some files"
    on_classes = (settings_on(settings, match) for match in ("", *scopes(settings)))
    return next((why for on in on_classes if (why := _problem_on_files(on, facts))), "")


def _problem_on_files(settings: Mapping[str, Value], facts: ProgramFacts) -> str:
    for name, value in settings.items():
        knob = get(name)
        for other, needed in knob.requires(facts).items():
            has = settings.get(other, _current(other, facts))
            if has != needed:
                return f"{name} acts only with {other}={needed}"
        if name == "mpiio.romio_no_indep_rw" and value is True:
            for other in ("mpiio.romio_cb_write", "mpiio.romio_cb_read"):
                if settings.get(other) == "disable":
                    return f"{name} forces collective buffering; {other}=disable forbids it"
    if settings.get("mpiio.romio_cb_write") == "disable" and _only_writes(facts):
        for name in ("mpiio.cb_nodes", "mpiio.cb_buffer_size"):
            if name in settings:
                return f"{name} has no effect with mpiio.romio_cb_write=disable"
    if settings.get("mca.fcoll") == "individual":
        for name in ("mpiio.cb_nodes", "mpiio.cb_buffer_size"):
            if name in settings:
                return f"{name} has no effect with mca.fcoll=individual"
    return ""


def _only_writes(facts: ProgramFacts) -> bool:
    return facts.read_bytes == 0
