# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Adapts a suite to the available nodes, directories and speed, and scales the figures back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

from stripewise.bench._case import ELEMENT_BYTES, Case, CaseRun, RunFigure, numbers_of
from stripewise.bench.campaign import DirectoryStriping, Suite
from stripewise.bench.running._places import striping_of
from stripewise.bench.running._plan import LAUNCHERS, CampaignOptions
from stripewise.core.errors import UsageError
from stripewise.present import plural
from stripewise.run.slurm import Slurm

RANKS_PER_PROCESSOR = 32
"""Maximum ranks per processor on emulated storage: they sleep while requests wait (assumed)."""


def fitted_suite(options: CampaignOptions, noted: Callable[[str], None]) -> CampaignOptions:
    """Return the options with the cases that can be run here.

    Args:
        options: Options of the campaign.
        noted: Called with a message on what is left out.

    Raises:
        UsageError: The user requested more nodes than there are, or something else impossible.
    """
    if options.launcher not in LAUNCHERS:
        raise UsageError(
            f"there is no launcher {options.launcher!r}: give one of {', '.join(LAUNCHERS)}"
        )
    if options.launcher == "simulated" and options.storage is None:
        raise UsageError("--launcher simulated needs a storage to simulate: give --on MACHINE")
    if options.launcher == "slurm" and options.storage is not None:
        raise UsageError("jobs cannot run on emulated storage: leave --launcher slurm out")
    if not options.inside.is_dir():
        raise UsageError(f"--in {options.inside}: there is no such directory; make it first")
    suite = _fit_nodes(options, noted)
    suite = _fit_places(replace(options, suite=suite), noted)
    suite = _fit_size(replace(options, suite=suite), noted)
    suite = _fit_ranks(replace(options, suite=suite), noted)
    for case in suite.cases:
        options.storage_of(case)
    return replace(options, suite=suite)


# ---- nodes -------------------------------------------------------------------------------------


def _fit_nodes(options: CampaignOptions, noted: Callable[[str], None]) -> Suite:
    """Leave out cases with more nodes than there are; refuse those that the user named."""
    most, what = _most_nodes(options)
    suite = options.suite
    needed = {case: suite.nodes_of(case) for case in suite.cases}
    too_many = sorted({number for number in needed.values() if number > most})
    if not too_many:
        return suite
    if options.nodes_named:
        raise UsageError(f"--nodes {too_many[-1]}: {what}; give at most {most}")
    kept = tuple(case for case in suite.cases if needed[case] <= most)
    if not kept:
        return suite.narrowed(nodes=[most])
    noted(
        f"{what}: {plural(len(suite.cases) - len(kept), 'case')} of "
        f"{', '.join(map(str, too_many))} nodes left out"
    )
    return replace(suite, cases=kept)


def _most_nodes(options: CampaignOptions) -> tuple[int, str]:
    """Return the maximum number of nodes of a job, and what determines it."""
    if options.storage is not None:
        emulated = options.storage_of(options.suite.cases[0])
        assert emulated is not None
        if options.launcher == "simulated":
            return _described(emulated.storage.name, int(emulated.storage.value("machine.nodes")))
        return _described(emulated.storage.name, emulated.nodes)
    if options.launcher == "slurm":
        return _partition_nodes(options)
    nodes = os.environ.get("SLURM_JOB_NUM_NODES", "")
    if nodes.isdecimal():
        return int(nodes), f"this allocation has {plural(int(nodes), 'node')}"
    return 1, (
        "this host is one node: several nodes need --launcher slurm, an allocation, or "
        "--on MACHINE"
    )


def _described(name: str, nodes: int) -> tuple[int, str]:
    return nodes, f"{name} has {plural(nodes, 'node')}"


def _partition_nodes(options: CampaignOptions) -> tuple[int, str]:
    partitions = {one.name: one for one in Slurm().partitions()}
    wanted = next(iter(_partition_of(options.job_options)), "")
    chosen = partitions.get(wanted) or next(
        (one for one in partitions.values() if one.is_default), None
    )
    if wanted and wanted not in partitions:
        raise UsageError(f"there is no partition {wanted}: there are {', '.join(partitions)}")
    if chosen is None:
        most = max((one.nodes for one in partitions.values()), default=1)
        return most, f"the largest partition has {plural(most, 'node')}"
    most = min(chosen.nodes, chosen.most_nodes or chosen.nodes)
    return most, f"a job in the partition {chosen.name} has at most {plural(most, 'node')}"


def _partition_of(words: tuple[str, ...]) -> list[str]:
    """Return the partition named in options of sbatch."""
    found: list[str] = []
    for place, word in enumerate(words):
        if word in ("-p", "--partition"):
            found += words[place + 1 : place + 2]
        elif word.startswith("--partition="):
            found.append(word.partition("=")[2])
    return found


def _fit_ranks(options: CampaignOptions, noted: Callable[[str], None]) -> Suite:
    """Leave out cases with more ranks than this host can run as emulated nodes."""
    suite = options.suite
    if options.storage is None or options.launcher == "simulated":
        return suite
    most = RANKS_PER_PROCESSOR * len(os.sched_getaffinity(0))
    kept = tuple(case for case in suite.cases if _ranks(suite, case) <= most)
    if len(kept) < len(suite.cases):
        left = plural(len(suite.cases) - len(kept), "case")
        noted(
            f"{left} of more than {most} ranks left out: this host cannot emulate so many "
            "(--launcher simulated can)"
        )
    if not kept:
        raise UsageError(
            f"every case has more than {most} ranks, too many for this host: give fewer --nodes "
            "or --ranks-per-node"
        )
    return replace(suite, cases=kept)


def _ranks(suite: Suite, case: Case) -> int:
    beside = suite.beside(case)
    return case.ranks + (beside.ranks if beside else 0)


def _fit_size(options: CampaignOptions, noted: Callable[[str], None]) -> Suite:
    """Give ranks the requested bytes; in slow motion they have proportionally less."""
    suite = options.suite
    emulated = options.storage_of(suite.cases[0])
    slowdown = emulated.storage.slowdown if emulated is not None else 1.0
    slowdown = 1.0 if options.launcher == "simulated" else slowdown
    if options.rank_bytes:
        sized = (of_rank_bytes(one, options.rank_bytes) for one in suite.cases)
        alike = {_metadata_in_slow_motion(one, slowdown): None for one in sized}
        return replace(suite, cases=tuple(alike))
    if emulated is None or slowdown <= 1:
        return suite
    noted(
        f"{emulated.storage.name} is {slowdown:g} times as slow as the real one: that much less "
        "is written, but at least 1 MiB a rank; --rank-size sets another size"
    )
    alike = {in_slow_motion(one, slowdown): None for one in suite.cases}
    return replace(suite, cases=tuple(alike))


def _metadata_in_slow_motion(case: Case, slowdown: float) -> Case:
    return in_slow_motion(case, slowdown) if case.operation == "metadata" else case


# ---- directories -------------------------------------------------------------------------------


def _fit_places(options: CampaignOptions, noted: Callable[[str], None]) -> Suite:
    """Leave out directories that are not different because files have no stripes."""
    suite = options.suite
    used = list(dict.fromkeys(case.directory for case in suite.cases))
    storage = None
    if options.storage is not None:
        storage = options.storage_of(suite.cases[0])
    striping = striping_of(options.inside, storage)
    if striping.stripes:
        targets = storage.targets if storage is not None else 0
        _check_targets({name: suite.directories[name] for name in used}, targets)
        return suite
    if len(used) > 1:
        noted(
            f"{options.inside} is {striping.name}, which has no stripes: {', '.join(used)} are "
            f"one and the same, and each case is run once, in {used[0]}"
        )
    alike: dict[Case, None] = {replace(one, directory=used[0]): None for one in suite.cases}
    return replace(suite, cases=tuple(alike))


def _check_targets(places: dict[str, DirectoryStriping], targets: int) -> None:
    """Refuse more stripes than there are targets, if their number is known."""
    for name, place in places.items():
        if targets and (place.stripe_count > targets or place.target >= targets):
            raise UsageError(
                f"the directory {name} asks for {place.stripe_count} stripes"
                + (f" from target {place.target}" if place.target >= 0 else "")
                + f", and the storage has {plural(targets, 'target')}: give fewer"
            )


# Cases of another size, so that a storage in slow motion takes no longer than the real one.

LEAST_BYTES = 1 << 20
"""Least bytes to which a rank's part may be reduced."""
LEAST_FILES = 10
"""Least number of files to which those of a rank may be reduced."""
_GRAIN = 4096 // ELEMENT_BYTES
"""Elements of a page: a rank's part stays a multiple of it, so that O_DIRECT is possible."""


def in_slow_motion(case: Case, slowdown: float) -> Case:
    """Return a case that takes about as long on a storage in slow motion.

    Args:
        case: Case of a suite.
        slowdown: Factor by which everything takes longer there, at least 1.
    """
    if slowdown <= 1:
        return case
    if case.operation == "metadata":
        fewer = max(round(case.files / slowdown), LEAST_FILES)
        return replace(case, files=min(case.files, fewer))
    return _with_share(case, 1 / slowdown)


def of_rank_bytes(case: Case, rank_bytes: float) -> Case:
    """Return a case in which each rank has about the given bytes, over all of its steps.

    Cases of metadata, and those whose size is fixed by the pattern, are returned unchanged.
    """
    numbers = numbers_of(case.local)
    if case.operation == "metadata" or not numbers:
        return case
    return _with_share(case, rank_bytes / (ELEMENT_BYTES * prod(numbers) * case.steps))


def _with_share(case: Case, share: float) -> Case:
    """Return a case with a share of the bytes: the slowest dimensions become shorter."""
    numbers = numbers_of(case.local) or numbers_of(case.size)
    if not numbers:
        return case
    least = max(LEAST_BYTES, case.transfer_bytes) / (ELEMENT_BYTES * prod(numbers))
    share = share if case.size else max(share, min(least, 1.0))
    if len(numbers) == 1:
        made = [_rounded(numbers[0] * share, case.transfer_bytes // ELEMENT_BYTES or _GRAIN)]
    else:
        made = _shortened(numbers, share)
    text = ",".join(map(str, made))
    return replace(case, local=text) if case.local else replace(case, size=text)


def _rounded(number: float, grain: int) -> int:
    return max(round(number / grain), 1) * grain


def _shortened(numbers: Sequence[int], share: float) -> list[int]:
    made = list(numbers)
    for place, number in enumerate(numbers):
        wanted = max(round(number * share), 1)
        made[place] = wanted
        share *= number / wanted
        if abs(share - 1) < 0.1:
            break
    return made


# Conversion of figures from a storage in slow motion to its full speed.


def at_full_speed(run: CaseRun, slowdown: float) -> CaseRun:
    """Return a run with the times that its operations would have taken at full speed.

    The elapsed time and the node-seconds of the run as a whole stay as measured here.

    Args:
        run: Run on a storage that was emulated in slow motion.
        slowdown: Factor by which everything took longer there.
    """
    if slowdown == 1:
        return run
    around = dict(run.circumstances)
    if "beside" in around:
        around["beside"] = {name: rate * slowdown for name, rate in around["beside"].items()}
    samples = tuple(_faster(one, slowdown) for one in run.samples)
    return replace(run, samples=samples, circumstances=around)


def _faster(sample: RunFigure, slowdown: float) -> RunFigure:
    return replace(
        sample,
        seconds=sample.seconds / slowdown,
        phases=_divided(sample.phases, slowdown),
        percentiles=_divided(sample.percentiles, slowdown),
    )


def _divided(times: Mapping[str, float], slowdown: float) -> dict[str, float]:
    return {name: seconds / slowdown for name, seconds in times.items()}
