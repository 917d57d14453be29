# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shows descriptions of storage: as lines for a terminal, and as data for JSON."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from stripewise.core import StorageCosts, to_json
from stripewise.present import aligned, plural, printable, rate_text, seconds_text, size_text
from stripewise.storage.machines._description import Storage, Transport
from stripewise.storage.machines._figures import FIGURES, SPEC_OF, Dimension, Figure, FigureSpec
from stripewise.storage.machines._find import mount_warnings
from stripewise.storage.machines._parse import description_warnings


def storage_summary(storage: Storage) -> dict[str, Any]:
    """Return the properties of a description, without its figures."""
    kinds = Counter(figure.kind.value for figure in storage.figures.values())
    return {
        "name": storage.name,
        "title": storage.title,
        "kind": storage.kind,
        "stack": storage.stack or None,
        "slowdown": storage.slowdown,
        "mounts": list(storage.mounts),
        "transports": [one.name for one in storage.transports],
        "figures": {kind: kinds[kind] for kind in ("measured", "documented", "assumed")},
    }


def storages_table(found: list[Storage]) -> list[str]:
    """Return a line for each description."""
    rows = [
        ("STORAGE", "KIND", "NODES", "TARGETS", "PER TARGET", "MEASURED", "ASSUMED", "MOUNTED AT",
         "DESCRIPTION")
    ]  # fmt: skip
    for one in found:
        kinds = storage_summary(one)["figures"]
        rows.append(
            (
                one.name,
                one.kind,
                f"{one.value('machine.nodes'):.0f}",
                f"{one.value('servers.targets'):.0f}",
                rate_text(one.value("servers.target_write")),
                str(kinds["measured"]),
                str(kinds["assumed"]),
                _stands_for(one),
                printable(one.title),
            )
        )
    return aligned(rows)


def _stands_for(storage: Storage) -> str:
    """Return where the storage is mounted; empty if its description does not contain it."""
    return " ".join(map(printable, storage.mounts)) or printable(storage.mount.point)


def storage_sentence(storage: Storage) -> str:
    """Return one line on what is described."""
    kinds = storage_summary(storage)["figures"]
    counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
    return (
        f"{storage.name}: {printable(storage.title)}. {storage.kind}, "
        f"{plural(int(storage.value('servers.targets')), 'target')} of "
        f"{rate_text(storage.value('servers.target_write'))}; figures: {counted}."
        + (f" Mounted at {_stands_for(storage)}." if storage.mounts else "")
    )


def storage_json(storage: Storage) -> dict[str, Any]:
    """Return the whole description as plain data."""
    return {
        **storage_summary(storage),
        "figures": {
            name: {"unit": spec.dimension.value, "meaning": spec.meaning, "default": spec.default}
            | (asdict(storage.figures[name]) if name in storage.figures else {"value": None})
            for name, spec in SPEC_OF.items()
        },
        "transports": [asdict(one) for one in storage.transports],
        "mount": asdict(storage.mount) if storage.mount.kind else None,
        "costs": to_json(storage.costs) if storage.costs.is_measured else None,
    }


def storage_lines(storage: Storage) -> Iterator[str]:
    """Yield the whole description, line by line."""
    yield f"{storage.name}: {printable(storage.title)}"
    stack = f", MPI-IO of its users: {storage.stack}" if storage.stack else ""
    yield f"kind: {storage.kind}{stack}"
    if storage.mounts:
        yield f"mounted at {_stands_for(storage)}"
    if storage.slowdown != 1:
        yield f"in slow motion: every time is {storage.slowdown:g} times as long"
    yield ""
    yield from _figures(FIGURES, storage.figures)
    absent = [spec for spec in FIGURES if spec.name not in storage.figures]
    if absent:
        yield ""
        yield from aligned(
            [("NOT DESCRIBED", "ASSUMPTION", "MEANING")]
            + [(spec.name, spec.absence, spec.meaning) for spec in absent]
        )
    for place, transport in enumerate(storage.transports):
        yield ""
        yield from _transport(transport, is_default=place == 0)
    if storage.costs.is_measured:
        yield ""
        yield from _costs(storage.costs)


def _costs(costs: StorageCosts) -> Iterator[str]:
    """Yield the costs of requests through the system's cache."""
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(costs.measured))
    yield f"costs of requests through the cache, measured on {date}"
    if costs.disturbed:
        yield f"  disturbed, so that the intervals are wider: {printable(costs.disturbed)}"
    for name, table in (("write", costs.write), ("read", costs.read), ("fsync", costs.sync)):
        for size, cost in table.items():
            yield f"  {name + ' of ' + size_text(size):<20} {_interval(cost)}"
    for name, cost in costs.calls.items():
        yield f"  {name:<20} {_interval(cost)}"
    for exchange in costs.exchange:
        mode = "collective" if exchange.collective else "independent"
        label = f"open and close together ({exchange.stack}, {exchange.ranks} ranks)"
        yield f"  {label:<40} {_interval(exchange.opening)}"
        for name, table in (("write", exchange.write), ("read", exchange.read)):
            for piece, cost in table.items():
                rate = rate_text(1 / cost.middle)
                label = f"{mode} {name} of pieces of {size_text(piece)}"
                yield f"  {label:<40} {rate} ({exchange.stack}, {exchange.ranks} ranks)"


def _interval(cost: Sequence[float]) -> str:
    low, middle, high = map(seconds_text, cost)
    return f"{middle} ({low} to {high})"


def _figures(specs: tuple[FigureSpec, ...], figures: Mapping[str, Figure]) -> list[str]:
    rows = [("FIGURE", "VALUE", "FROM", "TO", "KIND", "SOURCE")]
    for spec in specs:
        if spec.name not in figures:
            continue
        figure = figures[spec.name]
        shown = _shown(spec)
        ends = ("" if end is None else shown(end) for end in (figure.low, figure.high))
        row = (spec.name, shown(figure.value), *ends, figure.kind.value, printable(figure.source))
        rows.append(row)  # type: ignore[arg-type]
    return aligned(rows)


def _transport(transport: Transport, *, is_default: bool) -> Iterator[str]:
    when = " ".join(f"{name}={printable(value)}" for name, value in transport.when.items())
    chosen = f"chosen by {when}" if when else "chosen by other means"
    yield f"transport {transport.name}: {'the default' if is_default else chosen}"
    if transport.hangs_from_nodes:
        yield f"  jobs of {transport.hangs_from_nodes} nodes or more hang"
    if transport.from_nodes > 1:
        yield f"  its figures hold for jobs of {transport.from_nodes} nodes or more"
    if transport.figures:
        yield from (f"  {line}" for line in _figures(FIGURES, transport.figures))


def _shown(spec: FigureSpec) -> Callable[[float], str]:
    formats: dict[str, Callable[[float], str]] = {
        Dimension.SIZE: size_text,
        Dimension.TIME: seconds_text,
        Dimension.BANDWIDTH: rate_text,
        Dimension.COUNT: "{:.0f}".format,
    }
    return formats.get(spec.dimension, "{:.3g}".format)


def storage_warnings(found: Storage) -> list[str]:
    """Return warnings on values of a description that are allowed but may be mistakes."""
    return [*_stack_warnings(found), *mount_warnings(found), *description_warnings(found)]


def _stack_warnings(storage: Storage) -> list[str]:
    from stripewise.settings.tunables import suggest
    from stripewise.storage.stacks import stack_names

    if not storage.stack:
        return ["no stack is named: simulations need `--stack`"]
    known = stack_names()
    if storage.stack in known or not known:
        return []
    return [f"stack {storage.stack!r} is not known{suggest(storage.stack, known)}"]
