# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Builds a configuration from settings, and finds impossible or unsafe settings."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from stripewise.core import (
    FILE_LAYERS,
    Configuration,
    DatasetRule,
    FileRule,
    JobSettings,
    ProgramFacts,
    Value,
)
from stripewise.core.errors import ConfigurationError
from stripewise.settings.tunables._base import Layer, SafetyClass
from stripewise.settings.tunables._hdf5 import DATASET_KEYS
from stripewise.settings.tunables._registry import (
    find,
    get,
    hint_text,
    scoped,
    scopes,
    settings_on,
    split_scope,
    suggest_key,
    tunable_of,
)


def build_configuration(
    settings: Mapping[str, Value], facts: ProgramFacts | None = None
) -> Configuration:
    """Create the Configuration that applies settings to all files or to those named.

    Implied settings are added unless given; the settings also replace values that the program sets
    itself.

    Args:
        settings: Tunable name to value; a name may have `@` and a glob for the files that match.
        facts: Facts about the program; without them one host is assumed.

    Raises:
        UsageError: A tunable does not exist.
        ConfigurationError: A value is not valid for its tunable.
    """
    checked: dict[str, Value] = {}
    for name, value in settings.items():
        tunable = tunable_of(name)
        checked[scoped(tunable.name, split_scope(name)[1])] = tunable.check(value)
    of_all = with_implied(settings_on(checked, ""), facts)
    rules = [_rule("*", of_all)]
    for match in scopes(checked):
        given = settings_on(checked, match)
        complete = with_implied({**of_all, **given}, facts)
        own = {name for name in checked if split_scope(name)[1] == match}
        kept = {n: v for n, v in complete.items() if n not in of_all or scoped(n, match) in own}
        rules.append(_rule(match, kept))
    layers = _by_layer(of_all)
    environment = {name: str(value) for name, value in layers[Layer.ENVIRONMENT].items()}
    job = JobSettings(layers[Layer.MCA], environment, **layers[Layer.JOB])
    return Configuration(tuple(rule for rule in rules if not rule.is_empty), job)


def with_implied(settings: Mapping[str, Value], facts: ProgramFacts | None) -> dict[str, Value]:
    """Return settings with those they imply, unless these are given."""
    from stripewise.settings.tunables._space import (
        is_valid,  # needed by strategies, not by each run
    )

    complete = dict(settings)
    for name, value in settings.items():
        for other, implied in get(name).implies(value, facts).items():
            # An implied hint is useless with an implementation that ignores it.
            if facts is None or is_valid({**complete, other: implied}, facts):
                complete.setdefault(other, implied)
    return complete


def _by_layer(settings: Mapping[str, Value]) -> dict[str, dict[str, Any]]:
    layers: dict[str, dict[str, Any]] = {layer: {} for layer in Layer}
    for name, value in settings.items():
        tunable = get(name)
        layers[tunable.layer][tunable.key] = value
    return layers


def _rule(match: str, settings: Mapping[str, Value]) -> FileRule:
    layers = _by_layer(settings)
    of_files: dict[str, Any] = {name: layers[name] for name in FILE_LAYERS}
    return FileRule(match, override=True, **of_files)


def all_settings(configuration: Configuration) -> Iterator[tuple[str, Layer, str, Value]]:
    """Yield the place, layer, key and value of every setting."""
    for number, rule in enumerate(configuration.files, 1):
        for layer, settings in rule.layers.items():
            for key, value in settings.items():
                yield f"file {number} ({rule.match})", Layer(layer), key, value
        for dataset in rule.datasets:
            for key, value in dataset.hdf5.items():
                where = f"file {number} ({rule.match}), dataset {dataset.match}"
                yield where, Layer.HDF5, key, value
    for key, value in configuration.job.mca.items():
        yield "job", Layer.MCA, key, value
    job = configuration.job
    for name, wanted in (*job.resources.items(), *job.burst_buffer.items()):
        yield "job", Layer.JOB, name, wanted


def settings_class(configuration: Configuration) -> SafetyClass:
    """Return the most dangerous safety class in a configuration.

    Unknown tunables and environment variables count as contract, since their effects are unknown.
    """
    tunables = [find(layer, key) for _, layer, key, _ in all_settings(configuration)]
    classes = {tunable.safety if tunable else SafetyClass.CONTRACT for tunable in tunables}
    for name in configuration.job.environment:
        variable = find(Layer.ENVIRONMENT, name)
        classes.add(variable.safety if variable else SafetyClass.CONTRACT)
    return max(classes, key=list(SafetyClass).index, default=SafetyClass.SAFE)


def canonical_value(layer: Layer, key: str, value: Value) -> Value:
    """Return a setting's value in its canonical type, which is text for an unknown hint.

    Raises:
        ConfigurationError: The value is not valid for that tunable or for any.
    """
    tunable = find(layer, key)
    if tunable is not None:
        return tunable.check(value)
    if not isinstance(value, str | int | float):
        raise ConfigurationError(f"{layer.value}.{key} = {value!r}: give a text or a number")
    return hint_text(value)


# Settings that are impossible in a configuration, and those that have no effect.

_LARGEST_CHUNK_ELEMENTS = 2**32 - 1
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLOSED = {Layer.HDF5: "HDF5 property", Layer.JOB: "resource of a job"}
"""Layers whose unknown settings are refused."""
_OTHER_STACK_HINTS = frozenset({"access_style", "nb_proc", "filename"})


def check_configuration(configuration: Configuration) -> list[str]:
    """Return the errors in a configuration, a line each, which forbid to apply it."""
    problems = list(_value_problems(configuration))
    for rule in configuration.files:
        if not rule.match or "\0" in rule.match:
            problems.append(f"a file rule has the match {rule.match!r}: give a glob such as '*'")
        problems += [p for d in rule.datasets for p in _dataset_problems(rule.match, d)]
    combined: dict[str, str] = {}  # a problem is reported for the first rule that has it
    for where, hints in _effective_hints(configuration):
        for problem in _combination_problems(hints):
            combined.setdefault(problem, f"{where}: {problem}")
    job = configuration.job
    problems += [*combined.values(), *_environment_problems(job.environment)]
    if job.threads is not None and "OMP_NUM_THREADS" in job.environment:
        problems.append("job: threads and environment both set OMP_NUM_THREADS: take one out")
    return problems


def configuration_warnings(configuration: Configuration) -> list[str]:
    """Return the settings that may have no effect, or only under a condition, a line each."""
    warnings = [
        f"{where}: {name} is not a known {kind}{close}; it is passed on as it is"
        for where, name, kind, close in _unknown(configuration)
    ]
    for where, layer, key, _ in all_settings(configuration):
        tunable = find(layer, key)
        if tunable is not None and tunable.safety is SafetyClass.CONTRACT:
            name = tunable.name
            warnings.append(f"{where}: {name} can break a program: {tunable.summary}")
    return warnings + list(_ineffective(configuration))


def misspelt_settings(configuration: Configuration) -> list[str]:
    """Return unknown hints and parameters with names close to known ones, a line each."""
    return [
        f"{where}: {name} is not a known {kind}{close}"
        for where, name, kind, close in _unknown(configuration)
        if close
    ]


def _unknown(configuration: Configuration) -> Iterator[tuple[str, str, str, str]]:
    """Yield the place, name and kind of each unknown setting, with a suggestion."""
    for where, layer, key, _ in all_settings(configuration):
        if find(layer, key) is None and layer not in _CLOSED and key not in _OTHER_STACK_HINTS:
            kind = layer.settings.rpartition(" ")[2].removesuffix("s")
            yield where, f"{layer.value}.{key}", kind, suggest_key(key, layer)


def _value_problems(configuration: Configuration) -> Iterator[str]:
    for where, layer, key, value in all_settings(configuration):
        if layer in _CLOSED and find(layer, key) is None:
            yield f"{where}: no {_CLOSED[layer]} is called {key!r}{suggest_key(key, layer)}"
            continue
        try:
            canonical_value(layer, key, value)
        except ConfigurationError as error:
            yield f"{where}: {error}"
            continue
        if not key or "\0" in key or (isinstance(value, str) and "\0" in value):
            yield f"{where}: {layer.value}.{key!r}: empty name or zero byte"
        elif layer is Layer.HDF5 and isinstance(value, list | tuple):
            if why := _list_problem(key, value):
                yield f"{where}: hdf5.{key} = {list(value)}: {why}"


def _list_problem(key: str, value: Sequence[int]) -> str:
    if key == "chunk" and math.prod(value) > _LARGEST_CHUNK_ELEMENTS:
        return "more than 2^32 - 1 elements"
    if key == "alignment" and value[1] < 1:
        return "the alignment, [1], must be at least 1"
    if key == "mdc" and value[0] > value[1]:
        return "the initial size, [0], is larger than the largest, [1]"
    return ""


def _dataset_problems(match: str, dataset: DatasetRule) -> Iterator[str]:
    if not dataset.match or "\0" in dataset.match:
        yield f"file {match}: a dataset has the match {dataset.match!r}: give one such as '/*'"
    for key in dataset.hdf5:
        if key not in DATASET_KEYS and find(Layer.HDF5, key) is not None:
            yield (
                f"file {match}, dataset {dataset.match}: {key} belongs to the file, not to a"
                f" dataset (which takes {', '.join(sorted(DATASET_KEYS))})"
            )


def _effective_hints(configuration: Configuration) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield the hints that act together: those of each rule added to earlier rules of its glob."""
    for number, rule in enumerate(configuration.files, 1):
        hints: dict[str, Value] = {}
        for earlier in configuration.files[:number]:
            if earlier.match in ("*", rule.match):
                hints.update(earlier.mpiio)
        yield f"file {number} ({rule.match})", hints


def _combination_problems(hints: Mapping[str, Value]) -> Iterator[str]:
    disabled = [k for k in ("romio_cb_write", "romio_cb_read") if hints.get(k) == "disable"]
    aggregators_only = hints.get("romio_no_indep_rw") is True
    if aggregators_only and disabled:
        yield (
            f"romio_no_indep_rw=true forces collective buffering, {disabled[0]}=disable forbids"
            " it: take one of them out"
        )
    if hints.get("cray_cb_write_lock_mode") == 1:
        if not aggregators_only:
            yield "cray_cb_write_lock_mode=1 needs romio_no_indep_rw=true"
        elif disabled:
            yield f"cray_cb_write_lock_mode=1 cannot be combined with {disabled[0]}=disable"
    if hints.get("romio_cb_pfr") in ("enable", "automatic") and disabled:
        yield f"romio_cb_pfr={hints['romio_cb_pfr']} cannot be combined with {disabled[0]}=disable"


def _environment_problems(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if not _VARIABLE.fullmatch(name):
            yield f"job.environment: {name!r} is not a valid name of an environment variable"
        elif "\0" in value:
            yield f"job.environment: {name} holds a zero byte"
        elif name == "LD_PRELOAD" or name.startswith("STRIPEWISE_"):
            yield f"job.environment: {name} is set by Stripewise itself: take it out"


def _ineffective(configuration: Configuration) -> Iterator[str]:
    implementation = str(configuration.job.mca.get("io", ""))
    for where, hints in _effective_hints(configuration):
        if "cb_buffer_size" in hints and any(k.startswith("romio_lustre_") for k in hints):
            yield f"{where}: ROMIO's Lustre driver ignores cb_buffer_size in collective writes"
        if hints.get("cb_nodes", 1) != 1 and "cb_config_list" not in hints:
            yield f"{where}: on one host ROMIO uses one aggregator unless cb_config_list=*:*"
        romio_only = [k for k in hints if k.startswith("romio_")]
        if implementation == "ompio" and romio_only:
            yield f"{where}: {romio_only[0]} has no effect with mca.io=ompio"
    if implementation.startswith("romio"):
        for key in configuration.job.mca:
            if key.startswith(("io_ompio_", "fcoll", "fbtl", "fs_")):
                yield f"job: mca.{key} has no effect with mca.io={implementation}"
    if any("page_buffer_size" in rule.hdf5 for rule in configuration.files):
        yield "page_buffer_size: files that were created without paged file space fail to open"


# Variables that a configuration may set: those of I/O and MPI that load and start no code.
#
# Configurations are passed on between users.  A variable of the loader, a shell or a launcher
# could run arbitrary code of the author; it needs the consent of the user who applies it.

ENVIRONMENT = (
    "BGLOCKLESSMPIO_F_TYPE", "GPFSMPIO_*", "IOBUF_PARAMS", "MPICH_MPIIO_*", "ROMIO_*",
    "I_MPI_EXTRA_FILESYSTEM", "I_MPI_EXTRA_FILESYSTEM_FORCE", "I_MPI_EXTRA_FILESYSTEM_LIST",
    "HDF5_DO_MPI_FILE_SYNC", "HDF5_MPI_OPT_TYPES", "HDF5_USE_FILE_LOCKING", "PNETCDF_*",
    "FI_OFI_RXM_SAR_LIMIT", "FORT_BLOCKSIZE", "FORT_BUFFERCOUNT", "FORT_BUFFERED",
    "GFORTRAN_FORMATTED_BUFFER_SIZE", "GFORTRAN_UNBUFFERED_*", "GFORTRAN_UNFORMATTED_BUFFER_SIZE",
    "OMP_DYNAMIC", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "OMP_SCHEDULE",
)  # fmt: skip
"""Globs of variables that a configuration may set."""
MCA_PREFIX = "OMPI_MCA_"
MCA_FRAMEWORKS = frozenset(
    {"btl", "coll", "fbtl", "fcoll", "fs", "io", "mpi", "osc", "pml", "sharedfp"}
)
"""First words of the MCA parameters that a configuration may set."""
_CODE = re.compile(
    r"(^|_)(path|paths|file|files|filename|dir|directory|agent|prefix|env|cmd|command|exec|program"
    r"|library|plugin|tool|hook|abort|debugger|signal)(_|$)"
)
"""Words in MCA parameters that name files to load, start or write."""


def refused_variables(configuration: Configuration, allowed: Collection[str] = ()) -> list[str]:
    """Return the names of job variables in a configuration that could run code.

    Args:
        configuration: Configuration of any origin.
        allowed: Names that the user who applies it has allowed.
    """
    job = configuration.job
    names = [*job.environment, *(MCA_PREFIX + key for key in job.mca)]
    return [name for name in names if name not in allowed and not _is_tuning(name)]


def _is_tuning(name: str) -> bool:
    if name.startswith(MCA_PREFIX):
        key = name.removeprefix(MCA_PREFIX)
        return key.partition("_")[0] in MCA_FRAMEWORKS and not _CODE.search(key)
    return any(fnmatchcase(name, glob) for glob in ENVIRONMENT)
