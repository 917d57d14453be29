# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds contradictions in a suite; each message names the case, key and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from stripewise.bench._case import ELEMENT_BYTES, Case
from stripewise.bench.campaign._suite_form import DirectoryStriping
from stripewise.bench.runners import find_runner, runner_names
from stripewise.core.errors import ConfigurationError
from stripewise.settings.tunables import suggest

MOST_RANKS = 10_000_000
BACKENDS = ("posix", "mpiio", "hdf5", "netcdf4", "pnetcdf", "adios2")
_OF_DATA = ("pattern", "local", "size", "backend", "layout", "mode", "transfer_bytes", "steps")
_OF_METADATA = ("files", "sharing", "depth", "width", "file_bytes")
_METADATA_RUNNERS = ("metadata", "mdtest")
_MEETING = ("kernel", "metadata")
"""Runners whose programs can share a job with others."""
_DIRECT_BYTES = 4096
_LUSTRE_STRIPE_BYTES = 65536
_KEYS = {"transfer_bytes": "transfer", "stonewall_seconds": "stonewall", "file_bytes": "file_size"}


def check_suite(cases: Iterable[Case], places: Mapping[str, DirectoryStriping], name: str) -> None:
    """Refuse a suite that contradicts itself.

    Args:
        cases: All cases of the suite.
        places: Directories of the suite.
        name: Name of the file, for messages.

    Raises:
        ConfigurationError: There is a contradiction; the message is about the first.
    """
    every = list(cases)
    for key, place in places.items():
        if place.stripe_bytes % _LUSTRE_STRIPE_BYTES:
            raise ConfigurationError(
                f"{name}: directory {key!r}: stripe_size = {place.stripe_bytes} B is not a "
                f'multiple of {_LUSTRE_STRIPE_BYTES} B: give one, as "1 MiB"'
            )
    series = {one.series: one for one in reversed(every)}
    seen: set[str] = set()
    for case in every:
        if reason := next(_contradictions(case, places, series), ""):
            raise ConfigurationError(f"{name}: case {case.series!r}: {reason}")
        if case.key in seen:
            raise ConfigurationError(
                f"{name}: case {case.series!r} is there twice ({case.key}): leave one out, or "
                "give it another series"
            )
        seen.add(case.key)


def _contradictions(
    case: Case, places: Mapping[str, DirectoryStriping], series: Mapping[str, Case]
) -> Iterator[str]:
    if case.directory not in places:
        ending = _give(case.directory, places)
        yield f"directory = {case.directory!r} is not in [directories]{ending}"
        return
    yield from _job(case)
    yield from _metadata(case) if case.operation == "metadata" else _data(case)
    yield from _settings(case, places[case.directory])
    yield from _beside(case, series)
    if case.runner in runner_names() and (reason := find_runner(case.runner).why_not(case)):
        yield f"runner = {case.runner!r}: {reason}"


def _give(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word."""
    return suggest(word, known) or f": give one of {', '.join(known)}"


def _job(case: Case) -> Iterator[str]:
    if case.ranks > MOST_RANKS:
        yield (
            f"nodes = {case.nodes} of ranks_per_node = {case.ranks_per_node} are {case.ranks:,} "
            f"ranks, more than {MOST_RANKS:,}: give fewer"
        )


def _metadata(case: Case) -> Iterator[str]:
    if case.runner not in _METADATA_RUNNERS:
        yield (
            f"operation = 'metadata' is not for the runner {case.runner}: give runner = "
            '"metadata" or "mdtest"'
        )
    if not case.files and not case.stonewall_seconds:
        yield "files: give the number of files that each rank creates, such as files = 1000"
    yield from _without_effect(case, _OF_DATA, "operations of metadata")
    if case.settings:
        yield (
            f"settings: {case.settings[0][0]} has no effect on operations of metadata: leave it "
            "out"
        )
    if case.depth and not case.width:
        yield (
            f"depth = {case.depth} without width: give the number of directories in each, such as "
            "width = 2"
        )
    if case.width and not case.depth:
        yield f"width = {case.width} without depth: give the depth of the tree, such as depth = 2"


def _data(case: Case) -> Iterator[str]:
    if case.runner in _METADATA_RUNNERS:
        yield (
            f"operation = {case.operation!r} is not for the runner {case.runner}: give "
            'operation = "metadata", or another runner'
        )
    yield from _without_effect(case, _OF_METADATA, f"the operation {case.operation}")
    if case.backend not in BACKENDS:
        yield f"backend = {case.backend!r} is not known{_give(case.backend, BACKENDS)}"
    yield from _mode(case)
    yield from _transfer(case)
    if case.cache == "direct" and case.operation == "write-read" and case.backend != "posix":
        yield (
            f"cache = 'direct' is for backend = 'posix', not {case.backend!r}: give cache = "
            '"shift" or "drop"'
        )


def _without_effect(case: Case, names: Iterable[str], what: str) -> Iterator[str]:
    usual = {field.name: field.default for field in fields(Case)}
    for name in names:
        if getattr(case, name) != usual[name]:
            yield f"{_KEYS.get(name, name)} has no effect on {what}: leave it out"


def _mode(case: Case) -> Iterator[str]:
    if case.mode == "collective":
        if case.backend == "posix":
            yield (
                "mode = 'collective': POSIX has no collective calls: give backend = \"mpiio\", or "
                'mode = "independent"'
            )
        if case.layout != "shared" and case.runner != "ior":
            yield (
                f"layout = {case.layout!r}: ranks that write collectively write one file: give "
                'layout = "shared", or mode = "independent"'
            )
        if case.stonewall_seconds:
            yield (
                "stonewall: a rank that stops leaves the others waiting in collective calls: give "
                'mode = "independent", or leave out stonewall'
            )
    if case.mode == "serial" and (case.backend, case.layout) != ("posix", "shared"):
        yield (
            "mode = 'serial': one rank writes one file through POSIX: leave out backend and layout"
        )
    if case.runner == "kernel" and case.backend != "posix" and case.layout != "shared":
        yield (
            f"layout = {case.layout!r}: {case.backend} writes one shared file: give layout = "
            '"shared", or backend = "posix"'
        )


def _transfer(case: Case) -> Iterator[str]:
    size = case.transfer_bytes
    if size % ELEMENT_BYTES:
        yield (
            f"transfer = {size} B is not a whole number of elements of {ELEMENT_BYTES} B: give "
            f"{max(size - size % ELEMENT_BYTES, ELEMENT_BYTES)} B"
        )
    block = int(case.local) * ELEMENT_BYTES if case.local.isdecimal() else 0
    if case.pattern == "blocks" and block and size > block:
        yield (
            f"transfer = {size} B is larger than the {block} B of a rank (rank_size): give a "
            "smaller one"
        )
    elif case.pattern == "blocks" and block and size and block % size:
        yield (
            f"transfer = {size} B does not divide the {block} B of a rank (rank_size): give one "
            "that does"
        )
    direct = case.cache == "direct" and case.operation == "write-read"
    if direct and (size or block) % _DIRECT_BYTES:
        yield (
            f"transfer = {size or block} B: direct requests are multiples of {_DIRECT_BYTES} B: "
            "give one, or another cache"
        )


def _settings(case: Case, place: DirectoryStriping) -> Iterator[str]:
    for name, value in case.settings:
        layer, _, key = name.partition(".")
        count = place.stripe_count if key == "striping_factor" else place.stripe_bytes
        if key in ("striping_factor", "striping_unit") and count and count != value:
            yield (
                f"settings: {key} = {value} contradicts the directory {case.directory!r}, which "
                f"has {count}: leave it out"
            )
        elif layer == "mpiio" and case.backend == "posix":
            yield (
                f"settings: {key} is a hint of MPI-IO and has no effect on backend = 'posix': "
                'leave it out, or give backend = "mpiio"'
            )


def _beside(case: Case, series: Mapping[str, Case]) -> Iterator[str]:
    if not case.beside:
        return
    if case.beside == case.series:
        yield f"beside = {case.beside!r} is the series itself: name another one"
    elif case.beside not in series:
        yield f"beside = {case.beside!r} is not a series of the suite{_give(case.beside, series)}"
    elif foreign := sorted({case.runner, series[case.beside].runner} - set(_MEETING)):
        yield (
            f"beside = {case.beside!r}: the runner {foreign[0]} takes all ranks of a job for "
            f"itself: give two cases of the runners {' or '.join(_MEETING)}"
        )
    elif series[case.beside].beside:
        yield (
            f"beside = {case.beside!r} runs beside {series[case.beside].beside!r} itself: name a "
            "series that runs alone"
        )
