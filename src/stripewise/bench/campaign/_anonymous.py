# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Removes every name from a campaign that is not on an allow-list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from stripewise.bench._case import Case, CaseRun, RunFigure, Settings
from stripewise.bench.campaign._figures import Campaign
from stripewise.bench.campaign._suite import Suite, find_suite, suite_names, suite_text
from stripewise.core import Pseudonyms, Value
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.settings.tunables import all_tunables, tunable_of
from stripewise.storage.machines import preset_names

_STATUSES = ("ok", "failed", "timeout", "no-space", "no-nodes", "skipped")
_ENDINGS = ("all runs are made",)
_HINT_WORDS = frozenset("enable disable automatic true false on off yes no default".split())
_SHAPE = re.compile(r"[0-9]{1,15}(,[0-9]{1,15}){0,7}")
_LAYOUT = ("stripe_count", "stripe_size_bytes", "targets", "first_target", "files", "components")
_CIRCUMSTANCES = ("load", "other_jobs", "memory_bytes", "free_bytes", "free_memory_bytes",
                  "used_share", "page_cache_bytes", "nodes", "ranks_per_node")  # fmt: skip
_FACTS = ("memory_bytes", "targets", "nodes", "ranks_per_node", "cores", "cores_per_node",
          "metadata_servers", "servers", "capacity_bytes", "slowdown", "seed")  # fmt: skip
_PRESET = re.compile(r"([A-Za-z0-9._-]+?)(@(?:1/[0-9]{1,7}|[0-9.]{1,12}))?")


class _Names(Pseudonyms):
    """Keeps plain names and replaces each other name by a number.

    The replacements are not plain themselves, so no name of a user can be equal to one.
    """

    def of(self, kind: str, name: str) -> str:
        """Return the replacement of a name of a given kind."""
        return name if not name or is_plain(name) else self.numbered(kind, name)


def anonymised(campaign: Campaign) -> Campaign:
    """Return a campaign without names of hosts, users, jobs, accounts, paths and lists of nodes.

    Figures, numbers, versions and hardware facts are kept.  A text is kept if all of its words are
    words of the field; otherwise it is numbered ("series no.1") or left out.
    """
    names = _Names()
    cases = tuple(_case(one, names) for one in campaign.suite.cases)
    key_of = {old.key: new.key for old, new in zip(campaign.suite.cases, cases, strict=True)}
    suite = _suite(campaign.suite, cases, names)
    return Campaign(
        name="",
        suite=suite,
        runs=tuple(
            _run(one, key_of.get(one.key) or names.of("case", one.key), names)
            for one in campaign.runs
        ),
        storage=file_system_word(campaign.storage),
        machine=_machine(campaign.machine),
        started_unix_seconds=campaign.started_unix_seconds,
        ended_because=_ending(campaign.ended_because),
        about=_about(campaign.about),
    )


def _suite(suite: Suite, cases: tuple[Case, ...], names: _Names) -> Suite:
    if suite.name in suite_names() and suite.text:
        built_in = find_suite(suite.name)
        if suite.text == built_in.text:
            return replace(
                built_in, directories=_directories(suite, names), cases=cases, text=suite.text
            )
    name = suite.name if suite.name in suite_names() else "own-suite"
    plain = Suite(name, "A suite of a user", "", _directories(suite, names), cases)
    return replace(plain, text=suite_text(plain))


def _directories(suite: Suite, names: _Names) -> dict[str, Any]:
    return {names.of("directory", name): place for name, place in suite.directories.items()}


def _case(case: Case, names: _Names) -> Case:
    word = partial(names.of, "type")
    return replace(
        case,
        series=names.of("series", case.series),
        beside=names.of("series", case.beside),
        directory=names.of("directory", case.directory),
        runner=word(case.runner), operation=names.of("operation", case.operation),
        pattern=word(case.pattern), backend=word(case.backend), layout=word(case.layout),
        mode=word(case.mode), cache=word(case.cache), sharing=word(case.sharing),
        local=_shape(case.local, names), size=_shape(case.size, names),
        settings=_settings(case.settings, names),
    )  # fmt: skip


def _shape(text: str, names: _Names) -> str:
    return text if not text or _SHAPE.fullmatch(text) else names.of("value", text)


def _settings(settings: Settings, names: _Names) -> Settings:
    kept = []
    for name, value in settings:
        try:
            tunable = tunable_of(name)
        except (UsageError, ConfigurationError):
            kept.append((names.of("setting", name), _plain_value(value, (), names)))
            continue
        kept.append((tunable.name, _plain_value(value, tunable.domain.choices, names)))
    return tuple(sorted(kept))


def _plain_value(value: Value, choices: Iterable[str], names: _Names) -> Value:
    if not isinstance(value, str) or value in choices or value.lower() in _HINT_WORDS:
        return value
    return _shape(value, names)


def _run(run: CaseRun, key: str, names: _Names) -> CaseRun:
    return replace(
        run,
        key=key,
        status=run.status if run.status in _STATUSES else "failed",
        samples=tuple(_sample(one, names) for one in run.samples),
        message="",
        hints=_hints(run.hints),
        layout=_numbers(run.layout, _LAYOUT),
        circumstances=_numbers(run.circumstances, _CIRCUMSTANCES),
    )


def _sample(sample: RunFigure, names: _Names) -> RunFigure:
    return replace(
        sample,
        operation=names.of("operation", sample.operation),
        phases={names.of("step", key): value for key, value in sample.phases.items()},
        percentiles={key: value for key, value in sample.percentiles.items() if _is_number(key)},
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) is not None


def _hints(hints: Mapping[str, str]) -> dict[str, str]:
    """Return known hints whose values are numbers or switches."""
    known = {one.key for one in all_tunables()} | {"romio_filesystem_type"}
    return {
        key: value
        for key, value in hints.items()
        if key in known and (_SHAPE.fullmatch(value) or value.lower() in _HINT_WORDS)
    }


def _numbers(facts: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: facts[key] for key in keys if key in facts and _is_of_numbers(facts[key])}


def _is_of_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_of_numbers(one) for one in value)
    return isinstance(value, bool | int | float)


def _about(about: Mapping[str, Any]) -> dict[str, Any]:
    from stripewise.storage.stacks import stack_names

    kept = _numbers(about, _FACTS)
    versions = about.get("versions")
    if isinstance(versions, Mapping):
        found = {
            key: version_words(str(value))
            for key, value in versions.items()
            if str(key).lower() in VERSION_KEYS
        }
        kept["versions"] = {key: value for key, value in found.items() if value}
    if isinstance(own := about.get("stripewise"), str) and (version := version_words(own)):
        kept["stripewise"] = version
    if about.get("stack") in stack_names():
        kept["stack"] = about["stack"]
    if about.get("launcher") in ("local", "slurm", "simulated", "emulated", "allocation"):
        kept["launcher"] = about["launcher"]
    return kept


def _machine(machine: str) -> str:
    found = _PRESET.fullmatch(machine)
    return machine if found and found[1] in preset_names() else ""


def _ending(text: str) -> str:
    if not text or text in _ENDINGS:
        return text
    return "the budget is used up" if "budget" in text else "it was ended"


# Words that may leave a centre: those of the field, not chosen by a user or a site.

_FIELD = """
    a access adios adios2 aggregate aggregator aggregators all and api array array3d async at
    baseline beside best block blocks bp bp4 bp5 btio buffer burst bytes c cache cached cephfs
    checkpoint chunk chunked close collective column columns container contiguous count create
    cray create-directory daos data default delete depth deep dfs dir direct directories directory
    dirs disk drop easy ext4 f fabric fast fifo file files find first flash flash-io flat fpp full
    fullstriped fsync gather gcrm gpfs group hard hdd hdf5 hint hints home hybrid in independent
    interleaved into io io500 ior is kernel large latency layout libraries library local lock
    locks lustre many mdtest md md-workbench mean median metadata mib gib kib mb gb kb tb tib b
    mixed mode mpi mpi-io mpich mpiio multiplier n netcdf netcdf4 nfs node nodes none nvme object
    of off ofi ofi own on one open openmpi openmpi ompio only operation ops or ost osts parallel
    part pattern per per-node per-process per-rank plain pnetcdf pool posix process processes
    project random rank ranks read read-file readback remove remove-directory rename restart
    romio row rows s scaling scratch segment segments serial server servers setting settings
    shared shift shuffle single single-target size sizes slow small smp spread ssd stage stat
    stat-directory step steps stonewall stripe striped stripes subfiling sync synced target
    targets the through throughput time to transfer transport tree trees two type ucx unique
    unstriped unsync unsynced up vorpal vpic weak whole with without work workload wrf write
    write-read x xfer xfs zfs btrfs tmpfs beegfs lustre weka orangefs panfs scatefs ext3 wekafs
    compute release wait exchange barrier flush define enddef initialise finalise
"""
_UNITS = re.compile(r"[0-9]+(\.[0-9]+)?([kmgtpe]i?)?b?|[0-9]+[dxk]", re.IGNORECASE)
_SPLIT = re.compile(r"[^A-Za-z0-9.]+")

PROGRAMS = (
    "Stripewise", "Open MPI", "Cray MPICH", "Intel MPI", "MVAPICH2", "MVAPICH", "MPICH", "HDF5",
    "NetCDF", "PnetCDF", "ADIOS2", "Lustre", "Linux", "IOR", "mdtest", "benchio", "Slurm",
    "Python", "GPFS", "BeeGFS", "OFI", "UCX", "ROMIO", "OMPIO", "glibc", "gcc",
)  # fmt: skip
"""Names of software that may occur in versions."""

VERSION_KEYS = frozenset(
    "stripewise mpi library hdf5 netcdf netcdf4 pnetcdf adios2 lustre linux kernel os ior mdtest "
    "benchio slurm python runtime launcher romio ompio posix mpiio metadata gpfs beegfs".split()
)
_VERSION = re.compile(
    r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,4}(?:(?:\.|-)?(?:rc|a|b|p|dev|post)[0-9]{1,3})?"
)

FILE_SYSTEMS = (
    "lustre", "gpfs", "beegfs", "scatefs", "daos", "nfs4", "nfs", "ext4", "xfs", "btrfs", "zfs",
    "tmpfs", "wekafs", "cephfs", "orangefs", "panfs", "overlay",
)  # fmt: skip


@cache
def _known_words() -> frozenset[str]:
    """Return the words of the field, and those in the series names of Stripewise's suites."""
    from stripewise.bench.campaign._suite import find_suite, suite_names

    words = set(_FIELD.split())
    for name in suite_names():
        suite = find_suite(name)
        names = {name, *suite.directories, *(one.series for one in suite.cases)}
        words |= {word.lower() for one in names for word in _words(one)}
    return frozenset(words)


def _words(name: str) -> list[str]:
    return [word for word in _SPLIT.split(name) if word]


def is_plain(name: str) -> bool:
    """Return whether a name consists only of words of the field and of numbers."""
    words = _words(name)
    return (
        bool(words)
        and name.isascii()
        and name.isprintable()
        and all(word.lower() in _known_words() or _UNITS.fullmatch(word) for word in words)
    )


def version_words(text: str) -> str:
    """Return program and number from a version text; empty if it has no number."""
    number = _VERSION.search(text)
    if number is None:
        return ""
    lower = text.lower()
    program = next((one for one in PROGRAMS if one.lower() in lower), "")
    return f"{program} {number[0]}".strip()


def file_system_word(text: str) -> str:
    """Return the type of file system that a text names; empty if it is unknown."""
    words = {word.lower() for word in _words(text)}
    return next((one for one in FILE_SYSTEMS if one in words), "")
