# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Starts, resumes and reads a campaign in its directory, or reads it from an exchanged file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from stripewise.bench.campaign import Campaign, read_exchange
from stripewise.bench.running._fit_here import at_full_speed, fitted_suite
from stripewise.bench.running._maker import Maker, about_system, check_runners
from stripewise.bench.running._places import Places, Striping, striping_of
from stripewise.bench.running._plan import FORM, JOURNAL, CampaignLedger, CampaignOptions, suite_of
from stripewise.bench.running._run import CampaignObserver, CampaignRuns
from stripewise.core import OwnedDirectory, from_json, parse_journal, to_json
from stripewise.core.errors import StorageError, StripewiseError, StudyError, UsageError
from stripewise.run.launch import Launcher, PlainJobs, create_launcher
from stripewise.run.runtime import Runtime, find_runtime
from stripewise.storage.emulation import EmulationOptions
from stripewise.storage.machines import Storage, find_storage
from stripewise.study.runs import Interrupts

KIND = "campaign"
_KEPT = (
    "launcher",
    "family",
    "mpiexec",
    "launcher_options",
    "job_options",
    "wall_seconds",
    "seed",
)
"""Options that are fixed for a campaign; budgets and time limits may change on resuming."""


def run_campaign(options: CampaignOptions, observer: CampaignObserver | None = None) -> Campaign:
    """Run or resume a campaign, and return it.

    Raises:
        UsageError: A case is impossible, or its program is not available here.
        StudyError: The directory is in use, contains another campaign, or is damaged.
        StorageError: There is not enough space, or the storage does not stripe as requested.
        KeyboardInterrupt: A signal was received; `resume` continues from here.
    """
    observer = observer or CampaignObserver()
    interrupts = Interrupts()
    if not options.resume:
        options = fitted_suite(options, observer.noted)
        check_runners(
            options.suite.cases, options.family, installed=options.launcher != "simulated"
        )
    with _claimed(options) as owned, _ledger(owned) as ledger, interrupts.caught():
        if ledger.first is None:
            ledger.begin(options.suite, _options_to_json(options), about_system(options.inside))
        else:
            options = _options_of(ledger, options)
            ledger.append("resumed", note=ledger.note)
        because = _carry_out(options, owned, ledger, observer, interrupts)
        ledger.append("end", because=because)
        return _campaign(owned.path, ledger)


def read_directory(path: Path) -> Campaign:
    """Return the campaign of a directory, finished or not.

    Raises:
        StudyError: There is no campaign, it is damaged, or of another version.
    """
    owned = OwnedDirectory.find(path, KIND)
    content = owned.read(JOURNAL)
    if content is None:
        raise StudyError(f"{path} holds no campaign yet: run it with `stripewise bench run`")
    records, _, _ = parse_journal(content, path / JOURNAL, FORM)
    ledger = CampaignLedger(path / JOURNAL, records, None)
    if ledger.first is None:
        raise StudyError(f"{path} holds no campaign yet: run it with `stripewise bench run`")
    return _campaign(path, ledger)


# ---- the work ----------------------------------------------------------------------------------


def _carry_out(
    options: CampaignOptions,
    owned: OwnedDirectory,
    ledger: CampaignLedger,
    observer: CampaignObserver,
    interrupts: Interrupts,
) -> str:
    if options.launcher == "simulated":
        return CampaignRuns(options, ledger, observer, interrupts, None).carry_out()
    runtime = _runtime(options)
    striping = _striping(options)
    places = Places(options.inside, owned.path.name, striping)
    try:
        used = {case.directory for case in options.suite.cases}
        wanted = {name: one for name, one in options.suite.directories.items() if name in used}
        places.prepare(wanted)
        launcher = _launcher(options, runtime, owned)
        try:
            maker = Maker(options, owned, places, launcher, runtime)
            because = CampaignRuns(options, ledger, observer, interrupts, maker).carry_out()
        finally:
            launcher.close()
        about = {"versions": maker.versions, "notes": list(maker.notes)}
        ledger.append("about", about=about)
    finally:
        if not ledger.open_runs:
            with suppress(StripewiseError):
                places.discard()
    return because


def _runtime(options: CampaignOptions) -> Runtime | None:
    """Return the library, if a run needs it."""
    if options.storage is None and not any(case.settings for case in options.suite.cases):
        return None
    return find_runtime()


def _striping(options: CampaignOptions) -> Striping:
    storage = options.storage_of(options.suite.cases[0])
    return striping_of(options.inside, storage)


def _launcher(
    options: CampaignOptions, runtime: Runtime | None, owned: OwnedDirectory
) -> Launcher:
    plan = PlainJobs(arguments=options.job_options, wall_seconds=options.wall_seconds)
    spool = owned.inside("jobs").make() if options.launcher == "slurm" else None
    launcher = create_launcher(options.launcher, runtime or _any_runtime(), plan, spool)
    launcher.runtime = runtime  # type: ignore[attr-defined]
    return launcher


def _any_runtime() -> Runtime:
    """Return a library that is not loaded, because launchers need one to start with."""
    return Runtime(Path(os.devnull))


# ---- the directory -----------------------------------------------------------------------------


@contextmanager
def _claimed(options: CampaignOptions) -> Iterator[OwnedDirectory]:
    """Lock the campaign's directory."""
    path = options.directory
    exists = (path / JOURNAL).is_file()
    if options.resume and not exists:
        raise UsageError(f"{path} holds no campaign to continue: leave --resume out")
    if exists and options.force:
        _set_aside(path)
    is_new = not os.path.lexists(path)
    owned = OwnedDirectory.take(path, KIND)
    try:
        with owned.locked():
            if exists and not options.resume and not options.force:
                raise StudyError(
                    f"{path} holds a campaign: continue with --resume, start over with --force, "
                    "or give another -o"
                )
            yield owned
    except StripewiseError:
        if is_new and not (path / JOURNAL).is_file():
            with suppress(StripewiseError):
                owned.discard()
        raise


def _set_aside(path: Path) -> None:
    """Rename an earlier campaign unless it is in use."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    with OwnedDirectory.find(path, KIND).locked():
        try:
            path.rename(aside)
        except OSError as error:
            raise StorageError(f"cannot rename {path}: {error.strerror}") from error


@contextmanager
def _ledger(owned: OwnedDirectory) -> Iterator[CampaignLedger]:
    ledger = CampaignLedger.opened(owned.path / JOURNAL)
    try:
        yield ledger
    finally:
        ledger.close()


def _options_to_json(options: CampaignOptions) -> dict[str, Any]:
    words = {name: getattr(options, name) for name in _KEPT}
    storage = to_json(options.storage) if options.storage is not None else None
    return {**words, "inside": str(options.inside), "storage": storage}


def _options_of(ledger: CampaignLedger, given: CampaignOptions) -> CampaignOptions:
    """Return the options of a resumed campaign; budgets are those given now."""
    assert ledger.first is not None
    words: Mapping[str, Any] = ledger.first["options"]
    if given.suite.name not in ("", ledger.first["suite"]["name"]):
        raise UsageError(
            f"{given.directory} holds a campaign of {ledger.first['suite']['name']}, not of "
            f"{given.suite.name}: leave the suite out to continue it, or give another -o"
        )
    try:
        storage = words["storage"]
        lists = {name: tuple(words[name]) for name in ("launcher_options", "job_options")}
        return replace(
            given,
            suite=suite_of(ledger.first["suite"]),
            inside=Path(words["inside"]),
            storage=from_json(EmulationOptions, storage) if storage is not None else None,
            **{name: words[name] for name in _KEPT} | lists,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StudyError(
            f"the first record of {given.directory / JOURNAL} cannot be read ({error}); restore "
            "it from a copy, or start over with --force"
        ) from error


def _ceilings(described: Storage) -> dict[str, float]:
    """Return the upper limits of bandwidth of a described storage, if it has them."""
    node = max(described.value(f"client.node_{way}") for way in ("write", "read"))
    whole = max(described.value(f"servers.whole_{way}") for way in ("write", "read"))
    found = {"node_bytes_per_second": node, "whole_bytes_per_second": whole}
    return {name: value for name, value in found.items() if isfinite(value)}


def _campaign(path: Path, ledger: CampaignLedger) -> Campaign:
    assert ledger.first is not None
    words = ledger.first["options"]
    machine, stack, targets, slowdown = "", "", 0, 1.0
    about = {**ledger.about, "launcher": words["launcher"]}
    if words["storage"] is not None:
        machine = str(words["storage"]["machine"])
        with suppress(StripewiseError):
            slowdown = find_storage(machine).slowdown
            described = find_storage(machine.partition("@")[0])
            stack, targets = described.stack, int(described.value("servers.targets"))
            about |= {"memory_bytes": 0, "kind": described.kind, **_ceilings(described)}
    stacks = {run.circumstances.get("stack", stack) for run in ledger.runs} or {stack}
    about |= {"stack": sorted(stacks)[-1]} if any(stacks) else {}
    about |= {"targets": targets} if targets else {}
    about |= {"slowdown": slowdown} if slowdown != 1 else {}
    storage = machine or f"{words['inside']} ({about.get('file_system_kind', 'unknown')})"
    return Campaign(
        name=path.name.removesuffix(".campaign"),
        suite=suite_of(ledger.first["suite"]),
        runs=tuple(at_full_speed(run, slowdown) for run in ledger.runs),
        storage=storage,
        machine=machine,
        started_unix_seconds=float(ledger.first["at"]),
        ended_because=ledger.ended_because,
        about=about,
    )


# A campaign from any source: its directory, or a file of the exchange format.


def read_campaign(path: Path) -> Campaign:
    """Read a campaign.

    Args:
        path: Directory of a campaign, or a file that `stripewise bench export` wrote.

    Raises:
        UsageError: There is no campaign, or it cannot be read.
        StripewiseError: The directory's journal is damaged.
    """
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such campaign: give its directory, or a file that "
            "`stripewise bench export` wrote"
        )
    if not path.is_dir():
        return read_exchange(path)

    return read_directory(path)
