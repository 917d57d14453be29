# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise machine`: described storage systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, json_option
from stripewise.report import aligned, format_bandwidth, format_bytes, format_seconds
from stripewise.text import printable

if TYPE_CHECKING:
    from stripewise.machines import Figure, FigureSpec, Storage, Transport


@click.group(
    epilog=examples(
        "stripewise machine list",
        "stripewise machine show archer2-hdd",
        "stripewise machine show archer2-hdd@1/64",
        "stripewise machine check site.toml",
    )
)
def command() -> None:
    """List, show and check descriptions of storage systems.

    A description holds the figures of a storage system: targets, bandwidths, times, locks,
    metadata.  Each has a unit, a source, and whether it was measured, documented or assumed.
    """


@command.command("list", epilog=examples("stripewise machine list --json"))
@json_option
def list_(as_json: bool) -> None:
    """List the described storage systems that come with Stripewise."""
    from stripewise.machines import find_storage, preset_names

    found = [find_storage(name) for name in preset_names()]
    answer(as_json, lambda: [_summary(one) for one in found], lambda: _table(found))


@command.command(
    epilog=examples(
        "stripewise machine show archer2-hdd",
        "stripewise machine show archer2-hdd@1/64      # every time 64 times as long",
        "stripewise machine show site.toml --json",
    )
)
@click.argument("storage", metavar="STORAGE")
@json_option
def show(storage: str, as_json: bool) -> None:
    """Show every figure of STORAGE: its value, what kind of figure it is, and its source.

    STORAGE is a name that `stripewise machine list` shows, or the path of a description.
    `@1/N` shows the storage in slow motion: bandwidths divided, times multiplied by N.
    """
    from stripewise.machines import find_storage

    found = find_storage(storage)
    answer(as_json, lambda: _data(found), lambda: _details(found))


@command.command(epilog=examples("stripewise machine check site.toml"))
@click.argument("file", metavar="FILE")
@json_option
def check(file: str, as_json: bool) -> None:
    """Check a description: exit code 0 if it can be used, 3 with the first problem if not.

    Warnings name what is allowed but may be a slip.
    """
    from stripewise.machines import description_warnings, load_description

    found = load_description(file)
    warnings = [*_stack_warnings(found), *description_warnings(found)]
    answer(
        as_json,
        lambda: {**_summary(found), "warnings": warnings},
        lambda: [_sentence(found), *(f"  warning: {text}" for text in warnings)],
    )


def _stack_warnings(storage: Storage) -> list[str]:
    from stripewise.simulation.stacks import stack_names
    from stripewise.tunables import suggest

    if not storage.stack:
        return ["no stack is named: simulations need `--stack`"]
    known = stack_names()
    if storage.stack in known or not known:
        return []
    return [f"stack {storage.stack!r} is not known{suggest(storage.stack, known)}"]


def _summary(storage: Storage) -> dict[str, Any]:
    kinds = Counter(figure.kind.value for figure in storage.figures.values())
    return {
        "name": storage.name,
        "title": storage.title,
        "kind": storage.kind,
        "stack": storage.stack or None,
        "slowdown": storage.slowdown,
        "transports": [one.name for one in storage.transports],
        "figures": {kind: kinds[kind] for kind in ("measured", "documented", "assumed")},
    }


def _table(found: list[Storage]) -> list[str]:
    rows = [
        ("STORAGE", "KIND", "NODES", "TARGETS", "A TARGET", "MEASURED", "ASSUMED", "WHAT IT IS")
    ]
    for one in found:
        kinds = _summary(one)["figures"]
        rows.append(
            (
                one.name,
                one.kind,
                f"{one.value('machine.nodes'):.0f}",
                f"{one.value('servers.targets'):.0f}",
                format_bandwidth(one.value("servers.target_write")),
                str(kinds["measured"]),
                str(kinds["assumed"]),
                printable(one.title),
            )
        )
    return aligned(rows)


def _sentence(storage: Storage) -> str:
    kinds = _summary(storage)["figures"]
    counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
    return (
        f"{storage.name}: {printable(storage.title)}. {storage.kind}, "
        f"{storage.value('servers.targets'):.0f} targets of "
        f"{format_bandwidth(storage.value('servers.target_write'))}; figures: {counted}."
    )


def _data(storage: Storage) -> dict[str, Any]:
    from stripewise.machines import FIGURES

    specs = {spec.name: spec for spec in FIGURES}
    return {
        **_summary(storage),
        "figures": {
            name: {"unit": spec.dimension.value, "meaning": spec.meaning, "default": spec.default}
            | (asdict(storage.figures[name]) if name in storage.figures else {"value": None})
            for name, spec in specs.items()
        },
        "transports": [asdict(one) for one in storage.transports],
    }


def _details(storage: Storage) -> Iterator[str]:
    from stripewise.machines import FIGURES

    yield f"{storage.name}: {printable(storage.title)}"
    stack = f", MPI-IO of its users: {storage.stack}" if storage.stack else ""
    yield f"kind: {storage.kind}{stack}"
    if storage.slowdown != 1:
        yield f"in slow motion: every time is {storage.slowdown:g} times as long"
    yield ""
    yield from _figures(FIGURES, storage.figures)
    absent = [spec for spec in FIGURES if spec.name not in storage.figures]
    if absent:
        yield ""
        yield from aligned(
            [("NOT DESCRIBED", "SO", "WHAT IT IS")]
            + [(spec.name, spec.absence, spec.meaning) for spec in absent]
        )
    for place, transport in enumerate(storage.transports):
        yield ""
        yield from _transport(transport, is_default=place == 0)


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
    from stripewise.machines import FIGURES

    when = " ".join(f"{name}={printable(value)}" for name, value in transport.when.items())
    chosen = f"chosen by {when}" if when else "chosen by other means"
    yield f"transport {transport.name}: {'the default' if is_default else chosen}"
    if transport.hangs_from_nodes:
        yield f"  jobs of {transport.hangs_from_nodes} nodes or more hang"
    if transport.figures:
        yield from (f"  {line}" for line in _figures(FIGURES, transport.figures))


def _shown(spec: FigureSpec) -> Callable[[float], str]:
    from stripewise.machines import Dimension

    formats: dict[str, Callable[[float], str]] = {
        Dimension.SIZE: format_bytes,
        Dimension.TIME: format_seconds,
        Dimension.BANDWIDTH: format_bandwidth,
        Dimension.COUNT: "{:.0f}".format,
    }
    return formats.get(spec.dimension, "{:.3g}".format)
