# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes campaigns from the output of IOR, mdtest, IO500, h5bench, benchio and our kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.bench._case import ELEMENT_BYTES, Case, CaseRun
from stripewise.bench.campaign._figures import Campaign
from stripewise.bench.campaign._suite import Suite
from stripewise.bench.campaign._suite_form import MOST_CASES, DirectoryStriping
from stripewise.core.errors import UsageError
from stripewise.present import plural
from stripewise.storage.results import Data, Found, MetadataTest, Test, Timed, read_tests

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_MOST_STEPS = 10_000_000
_PLACES = {
    "unstriped": DirectoryStriping(1),
    "striped": DirectoryStriping(),
    "fullstriped": DirectoryStriping(-1),
}
_LIBRARIES = {"mpiio": "MPI-IO", "hdf5": "HDF5", "netcdf4": "NetCDF", "pnetcdf": "PnetCDF",
              "adios2": "ADIOS2"}  # fmt: skip
_FILES = {"shared": "shared file", "per-process": "file per process", "per-node": "file per node"}
_FULL = re.compile(r"no space left|quota", re.IGNORECASE)


def import_campaign(
    paths: Sequence[Path], name: str, ranks_per_node: int = 0, ranks: int = 0
) -> Campaign:
    """Return a campaign from the output of benchmark programs.

    Each test becomes a case and each of its repeats a run; identical tests become runs of one
    case. A test without a figure becomes a failed run.

    Args:
        paths: Files to import: text, JSON or CSV of IOR, text of mdtest and benchio, results of
            IO500 and h5bench, EPCC's tables, JSON of our kernels; or directories of IO500.
        name: Name of the campaign.
        ranks_per_node: Ranks per node if the files do not contain them; 0 if unknown.
        ranks: Ranks if the files do not contain them; 0 if unknown.

    Raises:
        UsageError: A file cannot be read or used, or none has a figure.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a campaign cannot be called {name!r}: give letters, digits, '.', '_' and '-', at "
            "most 64"
        )
    found = read_tests(paths, ranks_per_node, ranks)
    runs, cases = _runs(found.tests)
    if not any(run.samples for run in runs):
        raise UsageError(_nothing(found, paths))
    directories = {case.directory for case in cases}
    suite = Suite(
        name, "Imported results", _about(paths),
        {one: _PLACES.get(one, DirectoryStriping()) for one in sorted(directories)}, tuple(cases),
    )  # fmt: skip
    started = [run.started_unix_seconds for run in runs if run.started_unix_seconds]
    return Campaign(
        name, suite, tuple(runs), started_unix_seconds=min(started, default=0.0),
        ended_because="it was imported",
        about={"imported": True, "versions": _versions(found.tests), "notes": _notes(found)},
    )  # fmt: skip


def _about(paths: Sequence[Path]) -> str:
    return f"Imported from {plural(len(paths), 'file')} of results."


def _nothing(found: Found, paths: Sequence[Path]) -> str:
    why = next((one.failed for one in found.tests if one.failed), "there is no test")
    where = ", ".join(str(path) for path in paths[:3])
    return f"{where}: no test has a figure ({why}): give runs that ended well"


def _versions(tests: Iterable[Test]) -> dict[str, str]:
    """Return the versions of the programs, joined if there are several."""
    found: dict[str, dict[str, None]] = {}
    for test in tests:
        if test.version:
            found.setdefault(test.program, {})[test.version] = None
    return {program: ", ".join(list(versions)[:10]) for program, versions in found.items()}


def _notes(found: Found) -> list[str]:
    """Return what was left out or assumed, without duplicates."""
    notes = [*found.notes]
    for test in found.tests:
        notes += [f"{test.source}: {one}" for one in test.notes]
        if test.failed:
            notes.append(f"{test.source} has no figure: {test.failed}.")
    return list(dict.fromkeys(notes))


# ---- runs and cases --------------------------------------------------------------------------


def _runs(tests: Iterable[Test]) -> tuple[list[CaseRun], list[Case]]:
    """Return the runs in the order of the files, and the cases with their number of runs."""
    cases: dict[str, Case] = {}
    counts: dict[str, int] = {}
    runs: list[CaseRun] = []
    for test in tests:
        case = case_from(test)
        key = case.key
        if cases.setdefault(key, case) is case and len(cases) > MOST_CASES:
            raise UsageError(
                f"{test.source}: more than {MOST_CASES} different tests: import fewer files"
            )
        for run in _runs_of(test, key):
            counts[key] = counts.get(key, 0) + 1
            runs.append(replace(run, repeat=counts[key]))
    return runs, [replace(case, repeats=counts[key]) for key, case in cases.items()]


def _runs_of(test: Test, key: str) -> Iterator[CaseRun]:
    where = {"source": test.source[-300:]}
    if not test.timed:
        status = "no-space" if _FULL.search(test.failed) else "failed"
        yield CaseRun(key, 1, status, message=test.failed, circumstances=where,
                      started_unix_seconds=test.started_unix_seconds)  # fmt: skip
        return
    repeats: dict[int, list[Timed]] = {}
    for one in test.timed:
        repeats.setdefault(one.repeat, []).append(one)
    for repeat in sorted(repeats):
        samples = tuple(one.sample for one in repeats[repeat])
        written = sum(one.amount for one in samples if one.operation == "write")
        yield CaseRun(key, repeat, "ok", samples, written_bytes=round(written),
                      started_unix_seconds=test.started_unix_seconds, hints=dict(test.hints),
                      circumstances=where)  # fmt: skip


def case_from(test: Test) -> Case:
    """Return the case of a test."""
    if isinstance(test.work, MetadataTest):
        return _metadata(test, test.work)
    return _data(test, test.work)


def _metadata(test: Test, work: MetadataTest) -> Case:
    return Case(
        f"{work.sharing} directories" if work.sharing == "own" else "shared directory",
        test.program, "metadata", nodes=test.nodes, ranks_per_node=test.ranks_per_node,
        sync=work.sync, cache=test.cache, stonewall_seconds=test.stonewall_seconds,
        files=work.files, sharing=work.sharing, depth=work.depth, width=work.width,
        file_bytes=work.file_bytes, repeats=1,
    )  # fmt: skip


def _data(test: Test, work: Data) -> Case:
    reading = any(one.operation == "read" for one in test.timed)
    block, steps = work.block_bytes, work.steps
    if steps > _MOST_STEPS:
        block, steps = block * steps, 1
    local = ",".join(map(str, work.shape))
    if not local and block:
        local = str(max(block // ELEMENT_BYTES, 1))
    return Case(
        series_of(work), test.program, "write-read" if reading else "write",
        test.striping or "default", test.nodes, test.ranks_per_node, work.pattern,
        "" if work.size else local, work.size, work.backend, work.layout, work.mode,
        work.transfer_bytes, steps, tuple(sorted(test.settings.items())), bool(work.sync),
        test.cache, test.stonewall_seconds, repeats=1,
    )  # fmt: skip


def series_of(work: Data) -> str:
    """Return the name of the line of a test, as in the suites that come with Stripewise."""
    if work.backend == "posix":
        return "serial" if work.mode == "serial" else _FILES[work.layout]
    name = _LIBRARIES.get(work.backend, work.backend.upper())
    if work.layout != "shared":
        return f"{name}, {_FILES[work.layout]}"
    usual = "independent" if work.backend == "adios2" else "collective"
    return name if work.mode == usual else f"{name}, {work.mode}"
