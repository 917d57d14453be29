# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the presets to the marked cells of the published tables, and updates their figures.

python benchmarks/fit_presets.py [NAME ...]; afterwards `python benchmarks/validation.py
--scores` prints the figures of docs/validation.md.
"""

from __future__ import annotations

import re
import sys
from math import floor, log10
from pathlib import Path

from published import PLANS, fit_published

from stripewise.storage.machines import FIGURES, Dimension, Figure, load_description

PRESETS = Path(__file__).parents[1] / "src" / "stripewise" / "storage" / "machines" / "presets"
DIGITS = 3


def main(names: list[str]) -> None:
    """Fit the named presets, or all that have a plan."""
    for name in names or list(PLANS):
        plan = PLANS[name]
        fitted, loss = fit_published(load_description(name), plan.tables, plan.free)
        print(f"{name}: loss {loss:.3f}")
        figures = {one.name: fitted.figures[one.name] for one in plan.free}
        write(name, figures)
        clients = {key: one for key, one in figures.items() if not key.startswith("servers.")}
        for preset in plan.others:
            write(preset, clients)


def write(preset: str, figures: dict[str, Figure]) -> None:
    """Replace figures of a preset and leave everything else unchanged."""
    path = PRESETS / f"{preset}.toml"
    text = path.read_text(encoding="utf-8")
    for name, figure in figures.items():
        table, _, key = name.partition(".")
        words = f'value = {shown(name, figure.value)}, kind = "{figure.kind}"'
        words += f', source = "{figure.source}"'
        if figure.low is not None and figure.high is not None:
            words += f", interval = [{shown(name, figure.low)}, {shown(name, figure.high)}]"
        text = with_line(text, table, key, f"{key} = {{ {words} }}")
        # Reads about which nothing is known are assumed to be as fast.
        read = key.replace("_write", "_read")
        guess = r', kind = "assumed", source = "[^"]*as writes[^"]*" '
        found = re.search(rf"(?m)^{read} = \{{ value = [^,]+({guess})", text)
        if found:
            line = f"{read} = {{ value = {shown(name, figure.value)}{found[1]}"
            text = text[: found.start()] + line + text[found.end() :]
    path.write_text(text, encoding="utf-8")


def with_line(text: str, table: str, key: str, line: str) -> str:
    """Return a text in which a line replaces that of its key, or is added to its table."""
    head, sign, rest = text.partition(f"\n[{table}]\n")
    body, gap, tail = rest.partition("\n\n")
    found = re.sub(rf"(?m)^{key} = .*$", lambda _: line, body, count=1)
    if found == body and line not in body:
        found = f"{body}\n{line}"
    return head + sign + found + gap + tail


def shown(name: str, value: float) -> str:
    """Return a value in the form used in descriptions."""
    dimension = next(spec.dimension for spec in FIGURES if spec.name == name)
    if dimension is Dimension.BANDWIDTH:
        return f'"{rounded(value / 2**20):g} MiB/s"'
    if dimension is Dimension.TIME:
        return f'"{rounded(value * 1e6):g} us"'
    return f"{rounded(value):g}"


def rounded(value: float) -> float:
    """Return a value with only its significant digits."""
    return round(value, DIGITS - 1 - floor(log10(abs(value))))


if __name__ == "__main__":
    main(sys.argv[1:])
