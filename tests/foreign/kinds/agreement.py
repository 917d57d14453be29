# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is said about one run in four places must be the same.

The case's program is run once under `stripewise run --trace`. Its closing line, the text of
`profile`, `profile --json` and the page of `profile --html`, which the portal shows too, are
compared: headline, facts, amounts, I/O time. `input` and `answer` are as for programs.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foreign.corpus import Case, Kind, Outcome, Verdict
from foreign.kinds import programs


class TheKind(Kind):
    """Asks every command that answers about a run, and compares the answers."""

    title = "Answers about one run"

    def try_case(self, case: Case, directory: Path) -> Outcome:
        """Run the program once, ask for its profile in every form, and compare."""
        environment, command = programs.prepared(case, directory)
        trace, page = str(directory / "trace"), directory / "page.html"
        tool = programs.TOOL
        run = programs.ran(
            [tool, "run", "--trace", trace, "--", *command], directory, "run", environment
        )
        text = programs.ran([tool, "profile", trace], directory, "text", environment)
        told = programs.ran([tool, "profile", trace, "--json"], directory, "json", environment)
        shown = programs.ran(
            [tool, "profile", trace, "--html", str(page)], directory, "html", environment
        )
        if run.code or text.code or told.code or shown.code:
            return Outcome(Verdict.WRONG, (run.err + text.err + told.err + shown.err)[-300:])
        profile = json.loads(told.out)
        wrong = _sentences(profile, {"text": text.out, "page": _visible(page.read_text())})
        wrong += _closing_line(run.err, text.out)
        return Outcome.of(wrong)


def _visible(page: str) -> str:
    """Return the text of a page without its markup."""
    without = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", page)
    return html.unescape(re.sub(r"<[^>]+>", " ", without))


def _bare(text: str) -> str:
    """Return a text without what only its form adds: spaces, line breaks, marks of code."""
    return re.sub(r"[\s`]+", "", text)


def _sentences(profile: Mapping[str, Any], places: Mapping[str, str]) -> list[str]:
    """Look for the headline and every fact of the JSON document in the other places."""
    sentences = {"headline": profile["headline"]}
    sentences |= {f"fact {one['code']}": one["text"] for one in profile.get("facts", ())}
    return [
        f"{name} of the JSON document is not in the {place}: {sentence}"
        for name, sentence in sentences.items()
        for place, text in places.items()
        if _bare(sentence) not in _bare(text)
    ]


def _closing_line(closing: str, text: str) -> list[str]:
    """Compare the line after the run with the rows of the profile."""
    amount = r"((?:at least )?(?:unknown|[\d.]+ [^\s,]+))"
    found = re.search(
        rf"^stripewise: I/O (?:at most all \S+ \S+: )?{amount}(?: of \S+ \S+| in the calls of all "
        rf"threads) +written {amount}, read {amount}",
        closing,
        re.M,
    )
    if found is None:
        return [f"the run's closing line has no amounts: {closing[-200:]}"]
    wrong = []
    for row, said in zip(("I/O time", "Written", "Read"), found.groups(), strict=True):
        shown = re.search(rf"^ {row} +{amount}", text, re.M)
        if shown is None or shown[1] != said:
            wrong.append(f"{row}: {said} after the run, {shown and shown[1]} in the profile")
    return wrong
