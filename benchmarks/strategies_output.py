# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the comparison of strategies as a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_SHOWN = ("5", "10", "20", "40", "80")
_COLOURS = {
    "auto": "#3465a4",
    "auto+trained": "#729fcf",
    "model": "#cc0000",
    "model:top=5": "#ef2929",
    "rules": "#75507b",
    "tpe": "#4e9a06",
    "genetic": "#ce5c00",
    "random": "#555753",
    "exhaustive": "#c4a000",
}


def rows(document: dict[str, Any], surface: str) -> list[list[str]]:
    """Return a row per strategy, and the row of random choice."""
    found = []
    for score in document["scores"]:
        if score["surface"] == surface:
            regret = score["regret"]
            found.append(
                [
                    score["strategy"],
                    _runs(score["runs_to_near"], document["runs"]),
                    f"{100 * score['near_at_end']:.0f} %",
                    *(_pair(regret[n]) if n in regret else "" for n in _SHOWN),
                    f"{score['study_runs']:.0f}",
                    f"{100 * score['study_regret']:.0f} %",
                    f"{100 * score['study_near']:.0f} %",
                ]
            )
    known = document["surfaces"][surface]
    luck = known["luck_regret"]
    mean_regret = [f"{100 * luck[n]:.0f}" if n in luck else "" for n in _SHOWN]
    found.append(["luck, exact", str(known["luck_runs_90"]), "", *mean_regret, "", "", ""])
    return found


def header() -> list[str]:
    """Return the names of the columns."""
    return [
        "strategy",
        "runs to 5 %",
        "at end",
        *(f"after {n}" for n in _SHOWN),
        "study runs",
        "confirmed regret",
        "confirmed in 5 %",
    ]


def about(document: dict[str, Any], surface: str) -> str:
    """Return a description of a surface."""
    known = document["surfaces"][surface]
    return (
        f"{known['configurations']} configurations, {known['near']} within 5 % of the optimum; "
        f"default to optimum {known['gain']:.2f}x ({known['fresh_gain']:.2f}x in rounds that did "
        f"not choose), noise CV {100 * known['noise']:.0f} %; luck without noise: "
        f"{known['luck_expected_runs']:.1f} runs on average, {known['luck_runs_90']} in 90 %"
    )


def table(document: dict[str, Any]) -> str:
    """Return the comparison for a terminal."""
    lines: list[str] = []
    for surface in document["surfaces"]:
        body = [header(), *rows(document, surface)]
        widths = [max(len(row[i]) for row in body) for i in range(len(body[0]))]
        lines += ["", surface, "  " + about(document, surface)]
        lines += ["  " + "  ".join(_aligned(row, widths)).rstrip() for row in body]
    return "\n".join(lines)


def draw(document: dict[str, Any], path: Path) -> None:
    """Draw curves over the runs, a row per surface: share within 5 %, and median regret."""
    import vl_convert

    panels = [_panels(document, name) for name in document["surfaces"]]
    spec = {"vconcat": panels, "config": {"view": {"stroke": None}}, "background": "white"}
    if path.suffix == ".svg":
        path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    else:
        path.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))


def _panels(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the two charts of a surface, side by side."""
    rows = [
        {"strategy": score["strategy"], "run": run, "near": near, "regret": 100 * regret}
        for score in document["scores"]
        if score["surface"] == name
        for run, (near, regret) in enumerate(
            zip(score["curve"], score["regret_curve"], strict=True), 1
        )
    ]
    luck = [
        {"strategy": "luck, exact (mean)", "run": int(run), "regret": 100 * value}
        for run, value in document["surfaces"][name]["luck_regret"].items()
    ]
    domain = [*_COLOURS, "luck, exact (mean)"]
    colours = {"domain": domain, "range": [*_COLOURS.values(), "#000000"]}
    colour = {"field": "strategy", "type": "nominal", "scale": colours, "title": None}
    x = {"field": "run", "type": "quantitative", "title": "runs, all counted"}

    def line(field: str, title: str, top: float) -> dict[str, Any]:
        scale = {"domain": [0, top], "clamp": True}
        y = {"field": field, "type": "quantitative", "title": title, "scale": scale}
        encoding = {"x": x, "y": y, "color": colour}
        marks = [{"data": {"values": rows}, "mark": "line", "encoding": encoding}]
        if field == "regret":
            marks.append({"data": {"values": luck}, "mark": "point", "encoding": encoding})
        return {"title": name, "width": 330, "height": 150, "layer": marks}

    near = line("near", "share of the seeds within 5 %", 1.02)
    return {"hconcat": [near, line("regret", "median regret, %", 120)]}


def _aligned(row: list[str], widths: list[int]) -> list[str]:
    first, *rest = row
    return [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]


def _runs(number: int | None, most: int) -> str:
    return f"> {most}" if number is None else str(number)


def _pair(values: list[float]) -> str:
    return f"{100 * values[0]:.0f} / {100 * values[1]:.0f}"
