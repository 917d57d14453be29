# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise machine fit`, which makes a description from results of benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import command, examples, option
from stripewise.cli._options import json_option
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.bench.campaign import Campaign
    from stripewise.storage.fit import Fitted
    from stripewise.storage.machines import Mount, Storage
    from stripewise.storage.results import Results


@command(
    "fit",
    epilog=examples(
        "stripewise machine fit ior-*.json mdtest.txt --targets 12 -o site.toml",
        "stripewise machine fit benchio.txt --targets 12 -o site.toml",
        "stripewise machine fit runs.csv --like archer2-hdd -o site.toml",
        "stripewise machine fit campaign/ -o site.toml",
        "stripewise machine fit ior-*.txt --targets 24 --for /scratch -o site.toml",
        "stripewise machine check site.toml",
    ),
)
@click.argument(
    "results", nargs=-1, required=True, metavar="RESULTS...", type=click.Path(path_type=Path)
)
@option("-o", "--output", required=True, metavar="FILE", type=click.Path(path_type=Path),
              help="Write the description to FILE (.toml).")  # fmt: skip
@option("--targets", type=click.IntRange(1, 10_000_000), metavar="N",
              help="Targets of the storage: OSTs, burst-buffer nodes, disks.")  # fmt: skip
@option("--like", metavar="STORAGE", default="",
              help="Description to begin with; what the results do not show is kept.")  # fmt: skip
@option("--stack", metavar="NAME", default="",
              help="Software stack of MPI-IO results.  [default: romio]")  # fmt: skip
@option("--ranks-per-node", type=click.IntRange(min=1), metavar="R", default=None,
              help="Ranks on each node, if the results do not contain it.")  # fmt: skip
@option("--for", "places", multiple=True, metavar="DIR",
              help="Directory on the file system that is described (repeatable): `tune` uses the "
                   "description there.")  # fmt: skip
@json_option
def fit(
    results: tuple[Path, ...],
    output: Path,
    targets: int | None,
    like: str,
    stack: str,
    ranks_per_node: int | None,
    places: tuple[str, ...],
    as_json: bool,
) -> None:
    """Estimate the limits of a storage system from benchmark RESULTS, with intervals of 95 %.

    RESULTS are the output of IOR (text or JSON), mdtest, benchio or `stripewise bench kernel
    --json`, tables (CSV, TOML), or campaigns: the directory of `stripewise bench run`, or a file
    of `stripewise bench export`.  A limit that no run came near is left out, and the output says
    so.
    """
    from stripewise.storage.fit import fit_results

    mounts = list(map(_mount_of, places))
    read, facts = _read(results, ranks_per_node or 0)
    targets, stack = targets or facts.targets, stack or facts.stack
    base = _with_mounts(_base(read, output, targets, like, stack), mounts, like)
    fitted = _of_campaigns(facts.campaigns, base) if facts.alone else fit_results(read, base)
    _write(output, fitted.storage)
    answer(as_json, lambda: _data(fitted), lambda: _lines(fitted, read))
    if not as_json:
        for one in read.notes[:10]:
            note(one)
        note(f"wrote {output}: `stripewise simulate --on {quote(str(output))}` uses it")
        _say_mounts(output, mounts)


@dataclass(frozen=True)
class _Campaigns:
    """Facts from campaigns among the results; `alone` if there are no other results."""

    campaigns: tuple[Campaign, ...] = ()
    alone: bool = False
    targets: int | None = None
    stack: str = ""


def _read(paths: tuple[Path, ...], ranks_per_node: int) -> tuple[Results, _Campaigns]:
    """Read results, including those of campaigns."""
    from stripewise.cli._bench_report import is_campaign, read_campaigns
    from stripewise.storage.results import Results, read_results

    own = [path for path in paths if is_campaign(path)]
    if not own:
        return read_results(paths, ranks_per_node), _Campaigns()
    from stripewise.bench.limits import results_of

    campaigns, others = read_campaigns(own), [path for path in paths if path not in own]
    parts = [results_of(one) for one in campaigns]
    parts += [read_results(others, ranks_per_node)] if others else []
    operations: dict[str, tuple[float, ...]] = {}
    for part in parts:
        for figure, rates in part.operations.items():
            operations[figure] = (*operations.get(figure, ()), *rates)
        for text in part.notes:
            note(text)
    measured = tuple(one for part in parts for one in part.measured)
    numbers = [int(one.about["targets"]) for one in campaigns if one.about.get("targets")]
    stacks = [str(one.about["stack"]) for one in campaigns if one.about.get("stack")]
    facts = _Campaigns(
        tuple(campaigns), not others, max(numbers, default=None), "".join(stacks[:1])
    )
    return Results(measured, operations), facts


def _of_campaigns(campaigns: tuple[Campaign, ...], base: Storage) -> Fitted:
    """Return the limits of campaigns in the form of a fit."""
    from stripewise.bench.limits import find_limits
    from stripewise.storage.fit import Fitted

    found = find_limits(campaigns, base)
    figures = [one.figure for one in found.limits]
    return Fitted(found.storage, figures, dict(found.undetermined), found.error)


def _write(output: Path, storage: Storage) -> None:
    """Write a description, creating a directory of descriptions if necessary."""
    from stripewise.core import write_file
    from stripewise.storage.machines import description_text, load_description, machine_directories

    text = description_text(storage)
    load_description(text)
    if output.absolute().parent in machine_directories():
        with suppress(OSError):
            output.parent.mkdir(parents=True, exist_ok=True)
    write_file(output, text)


def _say_mounts(output: Path, mounts: list[Mount]) -> None:
    from stripewise.storage.machines import machine_directories

    own, site = machine_directories()
    is_kept = output.absolute().parent in (own, site)
    once = "" if is_kept else f" once it is in {own} or, for everybody, in {site}"
    if mounts:
        note(f"`tune` uses it on {', '.join(one.point for one in mounts)}{once}")


def _base(read: Results, output: Path, targets: int | None, like: str, stack: str) -> Storage:
    from stripewise.storage.fit import blank_storage
    from stripewise.storage.machines import Figure, FigureOrigin, find_storage
    from stripewise.storage.stacks import find_stack

    if not like and targets is None:
        raise UsageError("give the number of targets with --targets, or a description with --like")
    if stack:
        find_stack(stack)
    name = _name_of(output)
    if not like:
        return blank_storage(read, name=name, targets=targets or 1, stack=stack or "romio")
    found = find_storage(like)
    found = replace(found, name=name, stack=stack or found.stack, transports=())
    if targets is None:
        return found
    figure = Figure(targets, FigureOrigin.DOCUMENTED, "given to `stripewise machine fit`")
    return found.with_figures({"servers.targets": figure})


def _name_of(output: Path) -> str:
    """Return the name of a description from that of its file."""
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", output.stem)[:64].strip("-.+_")
    return name if name not in ("", "toml", "local", "none") else "site"


def _mount_of(place: str) -> Mount:
    """Return the mount that contains a directory."""
    from stripewise.storage.machines import find_mount

    if not place or not Path(place).exists():
        raise UsageError(
            f"--for {place}: it is not on this host: run `machine fit` where it is, or leave "
            f'--for out and write mounts = ["{place}"] into the description'
        )
    return find_mount(Path(place))


def _with_mounts(storage: Storage, mounts: list[Mount], like: str) -> Storage:
    """Return the description extended by the file systems mounted here."""
    from stripewise.storage.machines import KINDS, kind_of

    if not mounts:
        return storage
    kind = storage.kind
    if not like and (mounts[0].kind in KINDS or not mounts[0].is_network):
        kind = kind_of(mounts[0])
    return replace(storage, kind=kind, mounts=tuple(dict.fromkeys(m.point for m in mounts)))


def _data(fitted: Fitted) -> dict[str, Any]:
    figures = {name: fitted.storage.figures[name] for name in fitted.fitted_names}
    return {
        "mounts": list(fitted.storage.mounts),
        "figures": {
            name: {"value": one.value, "low": one.low, "high": one.high}
            for name, one in figures.items()
        },
        "not_told": dict(fitted.undetermined),
        "median_error": fitted.error,
    }


def _lines(fitted: Fitted, read: Results) -> Iterator[str]:
    from stripewise.present import plural
    from stripewise.storage.machines import SPEC_OF, quantity_text

    runs = sum(len(one.rates) for one in read.measured)
    what = plural(len(read.measured), "configuration")
    error = f", median error {fitted.error:.1%}" if read.measured else ""
    figures = plural(len(fitted.fitted_names), "figure")
    yield f"{figures} from {what} and {plural(runs, 'run')}{error}; intervals of 95 %"
    for name in fitted.fitted_names:
        one, unit = fitted.storage.figures[name], SPEC_OF[name].dimension
        value, low, high = (
            "?" if end is None else quantity_text(end, unit)
            for end in (one.value, one.low, one.high)
        )
        yield f"  {name:<24} {value:>14}   {low} to {high}"
    for name, why in fitted.undetermined.items():
        yield f"  {name:<24} {'unknown':>14}   {why}"
