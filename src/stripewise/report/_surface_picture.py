# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a recorded surface: sorted medians with their spread."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from stripewise.errors import StorageError, UsageError
from stripewise.launch import Landscape, Surface

_SUFFIXES = (".svg", ".png", ".pdf")
_BLUE, _GREY, _RED = "#3465a4", "#9a9a9a", "#b3261e"


def draw_surface(surface: Surface, path: Path, title: str) -> None:
    """Draw the configurations from the fastest to the slowest, with all their runs' range.

    Raises:
        UsageError: The suffix is of no picture.
        StorageError: The file cannot be written.
    """
    if path.suffix not in _SUFFIXES:
        raise UsageError(f"{path}: give a name that ends in {', '.join(_SUFFIXES)}")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    scene = Landscape(surface)
    spots = [spot for spot in scene.spots if isfinite(spot.io_seconds)]
    ranks = range(1, len(spots) + 1)
    with mpl.rc_context({"svg.hashsalt": "stripewise", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        lows, highs = [min(spot.times) for spot in spots], [max(spot.times) for spot in spots]
        axes.vlines(ranks, lows, highs, color=_GREY, linewidth=1, label="range of the runs")
        axes.plot(ranks, [s.io_seconds for s in spots], ".", color=_BLUE, label="median")
        axes.axhline(
            scene.default.io_seconds, color=_RED, linewidth=1, label="default", linestyle="--"
        )
        axes.axhspan(
            scene.best.io_seconds, 1.05 * scene.best.io_seconds, color=_BLUE, alpha=0.15,
            label="within 5 % of the optimum",
        )  # fmt: skip
        axes.set(xlabel="configuration, sorted", ylabel="I/O time, s", title=title, yscale="log")
        axes.grid(axis="y", alpha=0.3)
        axes.legend(frameon=False, fontsize="small")
        try:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix != ".png" else {})
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
