# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of strategies as a table, a Markdown page's part, and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN = "<!-- strategies: begin (python benchmarks/strategies.py --into THIS FILE) -->"
END = "<!-- strategies: end -->"
_SHOWN = ("5", "10", "20", "40", "80")
_COLOURS = {
    "auto": "#3465a4",
    "rules": "#75507b",
    "tpe": "#4e9a06",
    "genetic": "#ce5c00",
    "random": "#555753",
    "exhaustive": "#c4a000",
}


def rows(document: dict[str, Any], surface: str) -> list[list[str]]:
    """Return a row a strategy, and the row of luck."""
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
    """Say what a surface is like."""
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


def markdown(document: dict[str, Any], picture: str) -> str:
    """Return the comparison as a part of a Markdown page that shows a picture."""
    lines = [
        f"![share of the seeds within 5 %, and median regret, over the runs]({picture})",
        "",
        f"{document['seeds']} seeds each, at most {document['runs']} runs.  *runs to 5 %*: every "
        "run counted (warm-up, baselines, repeats), after which the search's choice is within 5 % "
        "of the optimum in 90 % of the seeds.  *at end*: share of the seeds after the play-off.  "
        "*after N*: regret after N runs, median and 90 % quantile, in per cent.  These columns "
        "and the picture show what the search chose, which pairs have not confirmed.  The last "
        "three are finished studies with the options that users get: runs with the pairs, median "
        "regret of what the pairs confirmed (the default where they confirm nothing), share of "
        "the seeds in which that is within 5 %.  *luck, exact*: draws without repetition and "
        "without noise, one run each (mean regret).",
    ]
    for surface in document["surfaces"]:
        lines += ["", f"**{surface}**: {about(document, surface)}", ""]
        lines += [_line(header()), _line(["---", *["--:"] * (len(header()) - 1)])]
        lines += [_line(row) for row in rows(document, surface)]
    return "\n".join(lines) + "\n"


def replace_marked(page: Path, part: str) -> None:
    """Put a part between the marks of a page; at its end if it has none."""
    text = page.read_text(encoding="utf-8")
    marked = f"{BEGIN}\n{part}{END}\n"
    if BEGIN in text and END in text:
        before, _, rest = text.partition(BEGIN)
        text = before + marked + rest.partition(END)[2].lstrip("\n")
    else:
        text = f"{text.rstrip()}\n\n{marked}"
    page.write_text(text, encoding="utf-8")


def draw(document: dict[str, Any], path: Path) -> None:
    """Draw over the runs, a row a surface: share of the seeds within 5 %, and median regret."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    names = list(document["surfaces"])
    with mpl.rc_context({"svg.hashsalt": "stripewise", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, 2.2 * len(names) + 0.6), layout="constrained")
        panels = figure.subplots(len(names), 2, squeeze=False, sharex=True)
        for (near, regret), name in zip(panels, names, strict=True):
            for score in document["scores"]:
                if score["surface"] == name:
                    runs = range(1, len(score["curve"]) + 1)
                    look = {"label": score["strategy"], "color": _COLOURS.get(score["strategy"])}
                    near.plot(runs, score["curve"], **look)
                    regret.plot(runs, [100 * value for value in score["regret_curve"]], **look)
            luck = document["surfaces"][name]["luck_regret"]
            shown = [(int(n), 100 * value) for n, value in luck.items()]
            regret.plot(*zip(*shown, strict=True), "k+", label="luck, exact (mean)")
            near.axhline(0.9, color="#999999", linewidth=0.8, linestyle=":")
            near.set(title=name, ylim=(0, 1.02))
            regret.set(title=name, ylim=(0, 120))
            near.grid(alpha=0.3)
            regret.grid(alpha=0.3)
        panels[0][0].set_ylabel("share of the seeds within 5 %")
        panels[0][1].set_ylabel("median regret, %")
        for axes in panels[-1]:
            axes.set_xlabel("runs, all counted")
        handles, labels = panels[0][1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _aligned(row: list[str], widths: list[int]) -> list[str]:
    first, *rest = row
    return [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _runs(number: int | None, most: int) -> str:
    return f"> {most}" if number is None else str(number)


def _pair(values: list[float]) -> str:
    return f"{100 * values[0]:.0f} / {100 * values[1]:.0f}"
