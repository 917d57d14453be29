# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the limits of a storage from campaigns, and describes each in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stripewise.bench.campaign import Campaign
from stripewise.bench.limits._cells import Limit, LimitCell, Limits, cells_of, measured_of
from stripewise.bench.limits._fit import (
    compared,
    error_of,
    evidence_of,
    fit_cells,
    left_out,
    noise_of,
    not_run,
    predicted,
)
from stripewise.bench.limits._laws import laws_of
from stripewise.bench.limits._plateaus import Plateau, Server, plateaus, server_limits
from stripewise.core.errors import UsageError
from stripewise.present import duration_text, plural, printable, rate_text
from stripewise.storage.fit import Fitted, blank_storage
from stripewise.storage.machines import SPEC_OF, Dimension, Figure, FigureOrigin, Storage
from stripewise.storage.results import FIGURES, Results

_DATA = ("write", "read")


def find_limits(
    campaigns: Sequence[Campaign],
    base: Storage | None = None,
    *,
    targets: int | None = None,
    seed: int = 0,
    leave_out: bool = True,
) -> Limits:
    """Infer the limits of a storage from campaigns on it.

    Args:
        campaigns: Campaigns on the same storage.
        base: Other knowledge, such as documented figures; None if there is none.
        targets: Number of targets of the storage: OSTs, burst-buffer nodes, disks; None for that
            of the campaigns or the base, or for that in the striping of their files.
        seed: Seed of the random numbers of the fit.
        leave_out: Whether cells are left out of further fits that predict them.

    Raises:
        UsageError: No run ended well, or the number of targets is unknown.
    """
    own = _stack(campaigns, base)
    cells = [cell for one in campaigns for cell in cells_of(one, own)]
    if not cells:
        raise UsageError("no run of the campaign succeeded: it shows no limit")
    number = _targets(campaigns, base, targets)
    start = _start(campaigns, cells, base, number, own, given=targets is not None)
    default = int(start.value("layout.stripe_count"))
    server = server_limits(cells, {-1: number, 0: min(default, number)})
    start = start.with_figures(server.figures)
    data = [one for one in cells if one.operation in _DATA and not one.doubt]
    seeing = [one for way in _DATA for one in plateaus(data, way)]
    fit = fit_cells(data, start, seeing, seed)
    storage = _with_noise(fit.storage, data)
    known = [one for one in data if one.in_model and predicted(storage, one) is not None]

    def again(some: Sequence[LimitCell]) -> Storage:
        part = [one for way in _DATA for one in plateaus(some, way)]
        return fit_cells(some, start, part, seed).storage

    hosts_own = any(one.is_emulated for one in campaigns)
    apart = left_out(known, again) if leave_out and measured_of(known) else []
    others = [one for campaign in campaigns for one in not_run(storage, campaign, own)]
    return Limits(
        storage,
        (*_limits(fit, seeing, known, hosts_own), *server.limits),
        laws_of(cells, storage),
        _undetermined(fit, server, data),
        (*compared(storage, known), *apart, *others),
        error_of(apart),
        tuple(
            dict.fromkeys(
                f"{one.key}: {one.doubt.rstrip('.')}; left out." for one in cells if one.doubt
            )
        ),
    )


def _stack(campaigns: Sequence[Campaign], base: Storage | None) -> str:
    stacks = (str(one.about.get("stack", "")) for one in campaigns)
    return next(filter(None, stacks), "") or (base.stack if base else "") or "romio"


def _targets(campaigns: Sequence[Campaign], base: Storage | None, given: int | None) -> int:
    if given is not None:
        return given
    said = [int(one.about["targets"]) for one in campaigns if one.about.get("targets")]
    if said:
        return max(said)
    if base is not None:
        return int(base.value("servers.targets"))
    layouts = [run.layout for one in campaigns for run in one.runs]
    counts = [int(one.get("stripe_count") or 0) for one in layouts]
    numbers = [
        int(place) + 1 for one in layouts for place in one.get("targets") or ()
        if isinstance(place, int)
    ]  # fmt: skip
    found = max([*counts, *numbers], default=0)
    if found < 1:
        raise UsageError(
            "the campaign does not say how many targets the storage has: give --targets"
        )
    return found


def _start(
    campaigns: Sequence[Campaign],
    cells: Sequence[LimitCell],
    base: Storage | None,
    targets: int,
    own: str,
    *,
    given: bool,
) -> Storage:
    """Return the description before the fit."""
    if base is None:
        kinds = filter(None, (str(one.about.get("kind", "")) for one in campaigns))
        blank = blank_storage(
            Results(measured_of(cells)), name="site", targets=targets,
            kind=next(kinds, "lustre"), stack=own,
        )  # fmt: skip
        title = ", ".join(dict.fromkeys(one.storage or one.name for one in campaigns))
        source = "given with the campaign" if given else "as the campaign and its files say"
        kind = FigureOrigin.DOCUMENTED if given else FigureOrigin.MEASURED
        figure = Figure(targets, kind, source)
        figures = {**blank.figures, "servers.targets": figure}
        return replace(blank, title=printable(title)[:200], figures=figures)
    if int(base.value("servers.targets")) == targets:
        return base
    figure = Figure(targets, FigureOrigin.DOCUMENTED, "given with the campaign")
    return base.with_figures({"servers.targets": figure})


def _with_noise(storage: Storage, cells: Sequence[LimitCell]) -> Storage:
    spread = noise_of(cells)
    if not spread:
        return storage
    figure = Figure(
        float(f"{min(spread, 0.9):.3g}"),
        FigureOrigin.MEASURED,
        "repeats of the campaign, the median",
    )
    return storage.with_figures({"noise.cv": figure})


def _limits(
    fit: Fitted, seeing: Sequence[Plateau], cells: Sequence[LimitCell], hosts_own: bool
) -> Iterator[Limit]:
    """Yield the limits of data, from the process to the whole."""
    seen = {one.figure: one for one in seeing}
    for name in sorted(fit.fitted_names, key=list(SPEC_OF).index):
        figure = fit.storage.figures[name]
        way = name.rpartition("_")[2]
        mine = [one for one in cells if way not in _DATA or one.operation == way]
        evidence = evidence_of(name, fit.storage, mine)
        plateau = seen.get(name)
        evidence = evidence or (plateau.evidence if plateau else ())
        if name.startswith("exchange") and not evidence:
            continue  # it explains the remainder, and is not a limit of any case
        if name.startswith("servers.whole") and not _shows_whole(evidence, mine):
            continue
        text = sentence(name, figure, len(evidence)) + disagreement(figure, plateau)
        if hosts_own and name.startswith("exchange"):
            text += HOSTS_OWN
        low, high = (figure.value if end is None else end for end in (figure.low, figure.high))
        yield Limit(name, figure.value, low, high, evidence, text)


def _shows_whole(evidence: Sequence[str], cells: Sequence[LimitCell]) -> bool:
    """Return whether a case that shows a limit of the whole moves data on several targets."""
    return any(
        one.stripe_count not in (0, 1) or (one.case.layout == "per-process" and one.case.ranks > 1)
        for one in cells
        if one.key in evidence and not one.pinned
    )


def _undetermined(fit: Fitted, server: Server, data: Sequence[LimitCell]) -> dict[str, str]:
    """Return the figures that no case shows, and what is missing for them."""
    found = {**fit.undetermined, **server.undetermined}
    for way in _DATA:
        name = f"servers.whole_{way}"
        mine = [one for one in data if one.operation == way]
        if name in fit.fitted_names and not _shows_whole([one.key for one in mine], mine):
            found[name] = "all files of a case lie on one target"
    for name in fit.fitted_names:
        if name.startswith("exchange") and not evidence_of(name, fit.storage, data):
            found[name] = "no case was limited by it alone"
    ways = {one.operation for one in data}
    for name, spec in SPEC_OF.items():
        way = name.rpartition("_")[2]
        if spec.dimension is Dimension.BANDWIDTH and way in _DATA and way not in ways:
            verb = "wrote" if way == "write" else "read"
            found[name] = f"no case {verb} data"
    for name in FIGURES.values():
        if name not in server.figures and name not in server.undetermined:
            found[name] = "no case of metadata: add the suite mdtest, or series of it"
    return found


# Limits in words, and whether the fit and the figures themselves agree.

APART = 1.05
"""Ratio of intervals from which they contradict each other."""
HOSTS_OWN = (
    " Only the storage is emulated: the time of this host's MPI and processors is part of it."
)
_WORDS = {
    "client.process": "One process {verb} at most {rate} {way} one file",
    "client.file": "All processes of a node together {plain} at most {rate} {way} one file",
    "client.node": "One node {verb} at most {rate}, with a file for each process",
    "servers.target": "One target {takes} at most {rate}",
    "servers.whole": "The whole storage {takes} at most {rate}, however many nodes there are",
}
_OTHER = {
    "client.request": "Each request takes a process {time} in addition to its data",
    "servers.target_request": "Each request takes a target {time} in addition to its data",
    "servers.jitter": "Targets vary: {share} of the time of a request is random",
    "client.turns": "Writes of a node into one file take turns for {share} of their time",
    "exchange.bandwidth": "An aggregator of collective calls receives at most {rate} from others",
    "exchange.round": "Each round of collective buffering takes {time} in addition to its data",
    "locks.revoke": "Moving a lock from one node to another takes {time}",
    "locks.ahead": "Requesting a lock ahead takes a writer {time} for each request",
    "locks.hold": "A node's stream into a file waits {time} for a lock that is requested ahead",
    "locks.extent": "Each further writer on other nodes makes that wait {time} longer",
}


def sentence(name: str, figure: Figure, evidence: int) -> str:
    """Return the sentence that describes a limit.

    Args:
        name: Name of a figure.
        figure: Figure with its value in base units.
        evidence: Number of cases that show it.
    """
    stem, _, way = name.rpartition("_")
    if name in _OTHER:
        text = _OTHER[name].format(
            rate=rate_text(figure.value), time=duration_text(figure.value),
            share=f"{figure.value:.0%}",
        )  # fmt: skip
    elif stem in _WORDS:
        writing = way == "write"
        text = _WORDS[stem].format(
            rate=rate_text(figure.value),
            verb="writes" if writing else "reads", plain="write" if writing else "read",
            way="into" if writing else "from", takes="takes" if writing else "gives",
        )  # fmt: skip
    else:
        value = rate_text(figure.value) if _is_rate(name) else f"{figure.value:.4g}"
        text = f"{SPEC_OF[name].meaning.rstrip('.')}: {value}"
    seen = f" ({plural(evidence, 'case')})" if evidence else ""
    return f"{text}{seen}."


def disagreement(figure: Figure, seen: Plateau | None) -> str:
    """Return a remark if the figures alone show another limit; empty if they agree."""
    if seen is None or not seen.reached or figure.low is None or figure.high is None:
        return ""
    if seen.low <= figure.high * APART and figure.low <= seen.high * APART:
        return ""
    return (
        f" Read from the figures without the model, it is {rate_text(seen.value)} "
        f"({rate_text(seen.low)} to {rate_text(seen.high)}): the model does not explain these "
        "cases, so measure them again."
    )


def _is_rate(name: str) -> bool:
    return SPEC_OF[name].dimension is Dimension.BANDWIDTH
