# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise tunables`: the tunables that Stripewise knows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, json_option
from stripewise.cli._completion import complete_knob
from stripewise.tunables import Layer

if TYPE_CHECKING:
    from stripewise.tunables import Tunable


@click.command(
    epilog=examples(
        "stripewise tunables",
        "stripewise tunables --layer hdf5",
        "stripewise tunables --layer pnetcdf",
        "stripewise tunables mpiio.cb_nodes",
        "stripewise tunables cb_nodes --json",
    )
)
@click.argument("name", required=False, shell_complete=complete_knob)
@click.option(
    "--layer", type=click.Choice([layer.value for layer in Layer]), help="Only this layer."
)
@json_option
def command(name: str | None, layer: str | None, as_json: bool) -> None:
    """List the tunables, in the order of likely effect; with a NAME, everything about one.

    Classes: safe cannot change what is written; layout gives the same content in other bytes
    of the file; contract is right only if the program meets a condition.
    """
    from stripewise.policy import load_policy
    from stripewise.tunables import all_tunables, get

    policy = load_policy()
    if name is not None:
        knob = get(name)
        forbidden = policy.why_not(knob)
        answer(as_json, lambda: _data(knob, forbidden), lambda: _details(knob, forbidden))
        return
    knobs = [knob for knob in all_tunables() if layer in (None, knob.layer.value)]
    answer(
        as_json,
        lambda: [_data(knob, policy.why_not(knob)) for knob in knobs],
        lambda: _table(knobs, {k.name for k in knobs if policy.why_not(k)}),
    )


def _data(knob: Tunable, forbidden: str) -> dict[str, Any]:
    return {
        "name": knob.name,
        "layer": knob.layer.value,
        "key": knob.key,
        "kind": knob.domain.kind,
        "choices": list(knob.domain.choices),
        "default": knob.domain.default,
        "class": knob.safety.value,
        "acts_at": knob.acts_at.value,
        "stacks": list(knob.stacks),
        "effect_order": knob.search.effect_order,
        "summary": knob.summary,
        "also": knob.also or None,
        "only_by_name": knob.search.by_name or None,
        "source": knob.source,
        "forbidden": forbidden or None,
    }


def _details(knob: Tunable, forbidden: str) -> Iterator[str]:
    yield knob.name
    rows = [
        ("what it does", knob.summary),
        ("values", knob.domain.words),
        ("default", knob.domain.default),
        ("class", f"{knob.safety.value}"),
        ("acts at", knob.acts_at.value),
        ("honoured by", ", ".join(knob.stacks)),
        ("also known as", knob.also),
        ("searched", f"only if named: {knob.search.by_name}" if knob.search.by_name else ""),
        ("source", knob.source),
    ]
    rows = [(title, text) for title, text in rows if text]
    if forbidden:
        rows.append(("forbidden", forbidden))
    for title, text in rows:
        wrapped = textwrap.wrap(text, 80) or [""]
        yield f"  {title:<14}{wrapped[0]}"
        yield from (" " * 16 + line for line in wrapped[1:])


def _table(knobs: list[Tunable], forbidden: set[str]) -> Iterator[str]:
    width = max(len(knob.name) for knob in knobs)
    yield f"{'TUNABLE':<{width}}  {'CLASS':<9}{'STACKS':<20}WHAT IT DOES"
    for knob in knobs:
        mark = "  [forbidden by policy]" if knob.name in forbidden else ""
        stacks = ", ".join(knob.stacks)
        yield f"{knob.name:<{width}}  {knob.safety.value:<9}{stacks:<20}{knob.summary}{mark}"
