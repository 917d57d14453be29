# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each knob did: the trials grouped by its values, as a table and as a figure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from stripewise.model import StudyResult, Trial, TrialState, Value
from stripewise.report import _svg
from stripewise.report._text import format_value, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEFAULT = "not set"
MOST_FIGURES = 16


@dataclass(frozen=True)
class ValueEffect:
    """Trials with one value of a knob.

    Attributes:
        value: As text; "not set" where the knob was at its default.
        ratios: I/O time relative to the baseline, one a trial that gave a figure.
        n_failed: Trials that gave none.
        n_runs: Runs of all these trials.
        winning: Whether the winner has this value.
    """

    value: str
    ratios: tuple[float, ...]
    n_failed: int
    n_runs: int
    winning: bool

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.ratios) + self.n_failed

    @property
    def median(self) -> float:
        """Median ratio; NaN without one."""
        return statistics.median(self.ratios) if self.ratios else math.nan


@dataclass(frozen=True)
class KnobEffect:
    """One knob over all trials."""

    name: str
    values: tuple[ValueEffect, ...]


def knob_effects(result: StudyResult) -> tuple[KnobEffect, ...]:
    """Group the trials by the values of every knob that was tried."""
    names = list(result.searched)
    names += [n for trial in result.trials for n in trial.settings if n not in names]
    tried = [n for n in dict.fromkeys(names) if any(n in t.settings for t in result.trials)]
    return tuple(KnobEffect(name, _values(result, name)) for name in tried)


def _values(result: StudyResult, name: str) -> tuple[ValueEffect, ...]:
    groups: dict[str, list[Trial]] = {}
    order: dict[str, Value] = {}
    for trial in result.trials:
        text = format_value(trial.settings[name]) if name in trial.settings else DEFAULT
        groups.setdefault(text, []).append(trial)
        if name in trial.settings:
            order.setdefault(text, trial.settings[name])
    chosen = None
    if result.improved and result.winner is not None:
        settings = result.winner.settings
        chosen = format_value(settings[name]) if name in settings else DEFAULT
    texts = sorted(order, key=lambda text: _rank(order[text]))
    if DEFAULT in groups:
        texts.insert(0, DEFAULT)
    return tuple(_effect(text, groups[text], text == chosen) for text in texts)


def _rank(value: Value) -> tuple[float, ...]:
    if isinstance(value, tuple | list):
        return tuple(float(item) for item in value)
    return (float(value),) if isinstance(value, int | float) else ()


def _effect(text: str, trials: Sequence[Trial], winning: bool) -> ValueEffect:
    good = [
        t.io_ratio
        for t in trials
        if math.isfinite(t.io_ratio) and t.state is not TrialState.FAILED
    ]
    return ValueEffect(
        value=text,
        ratios=tuple(good),
        n_failed=len(trials) - len(good),
        n_runs=sum(len(t.measurements) for t in trials),
        winning=winning,
    )


def knobs_figure(effects: Sequence[KnobEffect]) -> Markup | None:
    """Draw one panel a knob: dots are trials, the bar is their median."""
    shown = list(effects[:MOST_FIGURES])
    ratios = [r for knob in shown for value in knob.values for r in value.ratios if r > 0]
    if not shown or not ratios:
        return None
    columns = 2 if len(shown) > 1 else 1
    n_rows = math.ceil(len(shown) / columns)
    heights = [
        max(len(k.values) for k in shown[r * columns : (r + 1) * columns]) for r in range(n_rows)
    ]
    low, high = min(0.8, *ratios) / 1.25, max(1.25, *ratios) * 1.25

    def paint(figure: Figure) -> None:
        figure.get_layout_engine().set(hspace=0.08, wspace=0.04, h_pad=0.1)  # type: ignore[union-attr,call-arg]
        grid = figure.subplots(
            n_rows, columns, squeeze=False, sharex=True, height_ratios=[h + 1.2 for h in heights]
        )
        for index, axes in enumerate(grid.flat):
            if index < len(shown):
                _paint_knob(axes, shown[index], (low, high))
            else:
                axes.set_visible(False)
        figure.supxlabel(
            "I/O time relative to the baseline (smaller is better)", fontsize=11, color=_svg.MUTED
        )

    description = "Effect of each knob on the I/O time: " + "; ".join(
        f"{knob.name}: "
        + ", ".join(
            f"{v.value} {v.median:.2f} ({plural(v.n_trials, 'trial')})"
            for v in knob.values
            if v.ratios
        )
        for knob in shown
    )
    height = 0.7 + sum(0.62 + 0.34 * h for h in heights)
    return _svg.draw("knobs", (10, height), description, paint)


def _paint_knob(axes: Axes, knob: KnobEffect, limits: tuple[float, float]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.axvline(1, color=_svg.MUTED, linewidth=1, linestyle=(0, (4, 3)))
    for y, value in enumerate(knob.values):
        colour = _svg.BEST if value.winning else _svg.TRIAL
        axes.plot(
            value.ratios,
            [y] * len(value.ratios),
            "s" if value.winning else "^",
            color=colour,
            markersize=6.5,
            alpha=0.85,
            markeredgecolor=_svg.PAPER,
            markeredgewidth=0.8,
            zorder=3,
        )
        if value.ratios:
            axes.plot(
                [value.median] * 2, [y - 0.3, y + 0.3], "-", color=_svg.INK, linewidth=2, zorder=4
            )
        note = f"{plural(value.n_trials, 'trial')}, {plural(value.n_runs, 'run')}"
        if value.n_failed:
            note += f", {value.n_failed} failed"
        axes.annotate(
            note,
            (1.02, y),
            xycoords=("axes fraction", "data"),
            ha="left",
            va="center",
            fontsize=9.5,
            color=_svg.TROUBLE if value.n_failed else _svg.MUTED,
        )
    axes.set_title(knob.name)
    axes.set_yticks(range(len(knob.values)), [value.value for value in knob.values])
    axes.set_ylim(len(knob.values) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=True)
    ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)]
    axes.xaxis.set_major_locator(FixedLocator([t for t in ticks if limits[0] <= t <= limits[1]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)
