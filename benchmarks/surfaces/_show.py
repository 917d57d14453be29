# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Presents a recorded surface in words and as a picture."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from stripewise.core import RunStatus
from stripewise.present import (
    chart,
    command_line,
    labelled,
    line,
    percent_text,
    plural,
    printable,
    ratio_text,
    seconds_text,
    value_text,
)
from stripewise.settings.tunables import format_settings
from stripewise.study.report import facts_phrase
from stripewise.study.training import Surface, SurfaceRole
from surfaces._landscape import Landscape, Spot, TunableEffect

_MACHINE = {
    "cpu": "{}",
    "cores": "{} cores",
    "memory": "{}",
    "filesystem": "{}",
    "emulated": "emulated: {}",
    "mpi": "{}",
    "hdf5": "HDF5 {}",
    "date": "{}",
}


def surface_lines(surface: Surface, name: str) -> list[str]:
    """Return the properties of a surface, one per line."""
    scene = Landscape(surface)
    low, high = scene.gain_interval()
    near = len(scene.near())
    about = surface.provenance
    machine = [text.format(about[key]) for key, text in _MACHINE.items() if key in about]
    lines = [
        line("surface", f"{printable(name)}   {_extent(surface, scene)}"),
        line("command", command_line(surface.command)),
        line("program", facts_phrase(surface.facts)),
        line("machine", printable(", ".join(machine))),
        line("default", _spot(scene.default)),
        line("optimum", f"{_spot(scene.best)}   {format_settings(scene.best.settings) or '-'}"),
        line(
            "ratio",
            f"{ratio_text(scene.gain)}x [{low:.2f}-{high:.2f}, 95 %, bootstrap]; "
            f"{ratio_text(scene.fresh_gain())}x in rounds that did not choose",
        ),
        line("noise", f"CV {percent_text(scene.noise)} (median of the configurations)"),
        line("within 5 %", f"{near} of {plural(len(scene.spots), 'configuration')}"),
    ]
    if not scene.enough_repeats:
        lines.append(line("", "fewer than 5 runs of some configurations: no optimum to score by"))
    for name, why in scene.inert.items():
        lines.append(line("", f"{name} cannot act ({printable(why)}): not in the optimum"))
    return lines + labelled("tunables", map(_effect, scene.effects()))


def _extent(surface: Surface, scene: Landscape) -> str:
    counted = sum(run.role is not SurfaceRole.WARM_UP for run in surface.runs)
    text = f"{plural(len(scene.spots), 'configuration')}, {plural(counted, 'run')}"
    failed = sum(run.status is not RunStatus.OK for run in surface.runs)
    return f"{text}, {failed} failed" if failed else text


def _spot(spot: Spot) -> str:
    if not isfinite(spot.io_seconds):
        return "failed"
    return f"I/O {seconds_text(spot.io_seconds)}   median of {plural(len(spot.times), 'run')}"


def _effect(effect: TunableEffect) -> str:
    ratios = "  ".join(f"{value_text(value)}: {ratio:.2f}" for value, ratio in effect.ratios)
    return f"{effect.name:<32} {effect.factor:5.2f}x   {ratios}"


# A picture of a recorded surface: sorted medians with their spread.


def draw_surface(surface: Surface, path: Path, title: str) -> None:
    """Draw the configurations from the fastest to the slowest, with the range of all runs.

    Raises:
        UsageError: The suffix is not that of a picture.
        StorageError: The file cannot be written.
    """
    scene = Landscape(surface)
    spots = [spot for spot in scene.spots if isfinite(spot.io_seconds)]
    rows = [
        {
            **{"place": place, "median": spot.io_seconds},
            **{"low": min(spot.times), "high": max(spot.times)},
        }
        for place, spot in enumerate(spots, 1)
    ]
    best, default = scene.best.io_seconds, {"y": {"datum": scene.default.io_seconds}}
    log = {"type": "log", "zero": False, "nice": False, "padding": 8}
    y = chart.number("median", "I/O time, s", scale=log)
    x = chart.number(
        "place",
        "configuration, from the fastest to the slowest",
        scale={"domain": [0.5, max(len(rows), 1) + 0.5], "nice": False},
        axis={"tickMinStep": 1, "format": "d"},
    )
    ranges = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    within = {"y": {"datum": best}, "y2": {"datum": 1.05 * best}}
    spec = chart.layers(
        rows,
        chart.constant("rect", within, color=chart.BASELINE, opacity=0.15),
        chart.layer("rule", ranges, color=chart.WARM_UP),
        chart.layer("point", {"x": x, "y": y}, filled=True, color=chart.BASELINE),
        chart.constant("rule", default, color=chart.TROUBLE, strokeDash=[5, 3]),
        height=260,
        title={
            "text": title,
            "subtitle": "dot: median; line: range of the runs; dashed: default; "
            "band: within 5 % of the optimum",
        },
    )
    chart.write_picture(chart.column(spec), path)
