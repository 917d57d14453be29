# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reproduces the tables and figures of two talks with the built-in campaigns.

    python benchmarks/gallery.py                      # all; continues an interrupted run
    python benchmarks/gallery.py --talk archer2 --work /scratch/me/gallery

Campaigns and their mapping are in gallery.toml.  Simulated campaigns take seconds; emulated ones
and those measured here take minutes.  The result in build/gallery/page is a page with the command
of each campaign and its pictures.  docs/gallery has the pictures too, with a shorter page.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gallery_pictures import MOST_BYTES, draw, together

from stripewise.bench.campaign import Campaign
from stripewise.bench.running import read_campaign
from stripewise.core.errors import StripewiseError
from stripewise.storage.machines import Figure, FigureOrigin, description_text, find_storage

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-c", "from stripewise.cli import main; main()")
HOW = {
    "here": "measured on the machine that built these pages",
    "emulated": "emulated in slow motion on the machine that built these pages, with few "
    "processes; rates are those at the storage's full speed",
    "simulated": "simulated: nothing was run",
}
Spec = Mapping[str, Any]
Maker = Callable[[str, Spec], Campaign]


class Campaigns:
    """Makes each campaign once with `stripewise bench run`, in a work directory."""

    def __init__(self, work: Path) -> None:
        self._work = work

    def __call__(self, name: str, spec: Spec) -> Campaign:
        """Return the campaign of a name; an interrupted one is continued."""
        directory = self._work / f"{name}.campaign"
        words = ["bench", "run", *words_of(spec, self._on(name, spec))]
        words += ["--in", str(self._work), "-o", str(directory)]
        if directory.exists():
            words = ["bench", "run", "--resume", "-o", str(directory)]
        done = subprocess.run([*COMMAND, *words], check=False, stdout=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{name}: `stripewise {shlex.join(words)}` failed")
        return read_campaign(directory)

    def _on(self, name: str, spec: Spec) -> str:
        """Return the storage: a preset, or a file with a preset whose figures are modified."""
        if "figures" not in spec:
            return str(spec.get("on", ""))
        storage = find_storage(spec["on"])
        source = "changed for the gallery"
        given = {key: Figure(float(value), FigureOrigin.ASSUMED, source)
                 for key, value in spec["figures"].items()}  # fmt: skip
        changed = replace(storage, name=name, figures={**storage.figures, **given})
        path = self._work / f"{name}.toml"
        path.write_text(description_text(changed), encoding="utf-8")
        return str(path)


def words_of(spec: Spec, on: str) -> list[str]:
    """Return the suite and options of a campaign."""
    words = [spec["suite"], *shlex.split(spec.get("words", ""))]
    words += ["--on", on] if on else []
    if spec["how"] != "here":
        words.append("--noise")
    return [*words, "--launcher", "simulated"] if spec["how"] == "simulated" else words


def shown_command(name: str, spec: Spec) -> str:
    """Return the command in a form for readers."""
    words = words_of(spec, str(spec.get("on", "")))
    return f"stripewise bench run {shlex.join(words)} -o {name}.campaign"


def how_made(spec: Spec) -> str:
    """Return how the figures were obtained, as a sentence without its full stop."""
    text = HOW[spec["how"]]
    return text[:1].upper() + text[1:]


# ---- the page --------------------------------------------------------------------------------


def build(book: Spec, into: Path, make: Maker, talks: Sequence[str] = ()) -> str:
    """Draw all pictures, and return the page.

    Args:
        book: Content of gallery.toml.
        into: Directory of the page.
        make: Makes a campaign, or finds an existing one.
        talks: Talks to include; empty for all.
    """
    into.mkdir(parents=True, exist_ok=True)
    made: dict[str, Campaign] = {}
    lines = [*_HEAD]
    for talk, about in book["talks"].items():
        if talks and talk not in talks:
            continue
        lines += [f"## {about['title']}", ""]
        for item in book["items"]:
            if item["talk"] == talk:
                lines += _item(item, book["campaigns"], into, made, make)
    return "\n".join(lines)


_HEAD = [
    "# Gallery",
    "",
    "This page has the tables and figures of two published talks, each with its counterpart from "
    "a built-in campaign: the command and the picture. The figures are those of the descriptions "
    "of storage, or of the machine that built these pages, never those of the talks. "
    "`make gallery` makes all of them again.",
    "",
]


def _item(
    item: Spec, specs: Spec, into: Path, made: dict[str, Campaign], make: Maker
) -> list[str]:
    lines = [f"### {item['kind'].capitalize()} {item['number']}: {item['shows']}", ""]
    for place, picture in enumerate(item.get("pictures", ()), 1):
        names, _, chart = picture.partition("/")
        chart, _, operation = chart.partition("/")
        parts = []
        for name in names.split("+"):
            made[name] = made.get(name) or make(name, specs[name])
            parts.append((name, made[name]))
        labelled = [(specs[name].get("label", name), one) for name, one in parts]
        campaign = together(labelled) if len(parts) > 1 else parts[0][1]
        file = f"{item['talk']}-{item['number']}-{place}.svg"
        lines += _picture(campaign, into / file, chart, operation)
        lines += ["```console", *(f"$ {shown_command(n, specs[n])}" for n, _ in parts), "```", ""]
        lines += [f"*{how_made(specs[parts[0][0]])}.*", ""]
    return [*lines, item["words"], ""] if "words" in item else lines


def _picture(campaign: Campaign, path: Path, chart: str, operation: str) -> list[str]:
    try:
        words = draw(campaign, path, chart, operation)
    except StripewiseError as error:
        path.unlink(missing_ok=True)
        return [f"No picture: {error}.", ""]
    if path.stat().st_size > MOST_BYTES:
        print(f"{path.name}: {path.stat().st_size} bytes are too many", file=sys.stderr)
    title = f"{chart} of {operation}" if operation else chart
    return [f"![{title}]({path.name})", "", words, ""]


def main() -> None:
    """Make the missing campaigns and the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "gallery")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "gallery" / "page")
    parser.add_argument("--talk", action="append", default=[])
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    book = tomllib.loads((ROOT / "benchmarks" / "gallery.toml").read_text("utf-8"))
    page = build(book, given.into, Campaigns(given.work.resolve()), given.talk)
    (given.into / "index.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
