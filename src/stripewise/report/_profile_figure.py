# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The run over time as one picture for a paper or a ticket: bandwidth and heat maps of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stripewise.diagnosis import Diagnosis
from stripewise.diagnosis import _heat_cells as heat
from stripewise.errors import StorageError, UsageError
from stripewise.model import Evidence, RunProfile
from stripewise.report._profile_image import RAMPS, ramp_colours
from stripewise.report._profile_panels import TimeMap, panel_of, time_maps
from stripewise.report._text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SUFFIXES = (".svg", ".png", ".pdf")
_COLOURS = {"write": "#c04a00", "read": "#0072b2"}
_MOST_TITLE = 110


def draw_profile(diagnosis: Diagnosis, evidence: Evidence, path: Path) -> None:
    """Draw bandwidth and the heat maps of ranks over time.

    Raises:
        UsageError: The suffix is of no picture, or the source has no time bins.
        StorageError: The file cannot be written.
    """
    if path.suffix not in _SUFFIXES:
        raise UsageError(f"{path}: give a name that ends in {', '.join(_SUFFIXES)}")
    profile = evidence.profile
    axis = heat.time_axis(profile)
    if axis is None:
        raise UsageError(
            f"{profile.source} has no time bins, so there is no picture over time; "
            "`stripewise trace` records them"
        )
    import matplotlib as mpl
    from matplotlib.figure import Figure

    maps = [one for one in time_maps(profile, axis) if one.kind == "ranks"]
    style: Any = {"svg.hashsalt": "stripewise", "svg.fonttype": "none", "text.parse_math": False}
    with mpl.rc_context(style):
        figure = Figure(figsize=(8.0, 1.9 + 1.9 * len(maps)), layout="constrained")
        _paint(figure, diagnosis, profile, axis, maps)
        try:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix != ".png" else {})
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _paint(
    figure: Figure,
    diagnosis: Diagnosis,
    profile: RunProfile,
    axis: heat.TimeAxis,
    maps: Sequence[TimeMap],
) -> None:
    rows = figure.subplots(1 + len(maps), 1, sharex=True, squeeze=False)[:, 0]
    title = printable(diagnosis.command or diagnosis.source)
    figure.suptitle(title if len(title) <= _MOST_TITLE else title[:_MOST_TITLE] + "…", fontsize=10)
    _paint_bandwidth(rows[0], profile, axis)
    for axes, one in zip(rows[1:], maps, strict=True):
        _paint_map(figure, axes, one, axis)
    rows[-1].set_xlabel("seconds since the run began")
    rows[-1].set_xlim(0, axis.seconds)


def _paint_bandwidth(axes: Axes, profile: RunProfile, axis: heat.TimeAxis) -> None:
    level = "program" if heat.knows_files(profile) else "system"
    edges = np.arange(axis.n_columns + 1) * axis.column_seconds
    for quantity, colour in _COLOURS.items():
        moved = heat.series(heat.moved_bytes(profile, axis, quantity, level), axis)
        if moved.any():
            rate = moved / axis.column_seconds / 2**20
            axes.stairs(rate, edges, fill=True, color=colour, alpha=0.7, label=quantity)
    axes.set_ylabel("MiB/s")
    axes.set_title("Bandwidth", loc="left", fontsize=9)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1, 0.98), ncols=2
        )


def _paint_map(figure: Figure, axes: Axes, one: TimeMap, axis: heat.TimeAxis) -> None:
    from matplotlib.colors import ListedColormap, LogNorm, Normalize

    scale = panel_of(one, axis).scale
    norm = (LogNorm if scale.logarithmic else Normalize)(*_limits(one, scale.low, scale.high))
    values = np.where(one.values > 0, one.values, np.nan) / _divisor(one)
    n_rows = sum(one.rows.members)
    image = axes.imshow(
        values,
        cmap=ListedColormap(ramp_colours(RAMPS[one.quantity][0]) / 255.0),
        norm=norm,
        aspect="auto",
        interpolation="nearest",
        extent=(0, axis.seconds, n_rows - 0.5, -0.5),
    )
    axes.set_title(one.title, loc="left", fontsize=9)
    axes.set_ylabel("rank")
    label = "MiB/s" if one.unit == "rate" else "share of the time"
    figure.colorbar(image, ax=axes, label=label, format="%g")


def _divisor(one: TimeMap) -> float:
    return float(2**20) if one.unit == "rate" else 1.0


def _limits(one: TimeMap, low: float, high: float) -> tuple[float, float]:
    return low / _divisor(one), (high or 1.0) / _divisor(one)
