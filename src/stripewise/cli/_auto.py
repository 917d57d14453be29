# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise run --auto`: what is set, said before the run, and what came of it, said after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stripewise.cli._common import echo, note, print_json
from stripewise.learning.adoption import Adoption, Plan

if TYPE_CHECKING:
    from stripewise.core import SeriesRule
    from stripewise.run import Observation
    from stripewise.storage.emulation import EmulatedStorage


class Auto:
    """One run with settings that come from what is known.

    Attributes:
        plan: What is set.
        series: Settings from the second file of a series on, where the program is not known.
    """

    def __init__(
        self,
        program: tuple[str, ...],
        storage: EmulatedStorage | None,
        root: Path | None,
        *,
        sync: bool,
    ) -> None:
        """Find out what is to be set; say what is wrong with what is kept."""
        self._directory = root or Path.cwd()
        self._adoption = Adoption(self._directory, storage, sync=sync)
        self.plan: Plan = self._adoption.plan(program)
        self.series: tuple[SeriesRule, ...] = ()
        warnings = self.plan.warnings
        if self.plan.capture and self.plan.is_default:
            from stripewise.learning.adoption import series_rules

            self.series, more = series_rules(program, self._directory, storage)
            warnings = (*warnings, *more)
        for text in warnings:
            note(text, kind="warning")

    @property
    def capture(self) -> str:
        """How single calls are recorded: folded, where the program is not known."""
        return "fold" if self.plan.capture else ""

    def say(self) -> None:
        """Say what is set, in one line, and what may not be set."""
        note(self.plan.prepared.sentence, kind="auto")
        for line in self.plan.prepared.refused:
            note(f"not set: {line}", kind="auto")
        if self.series:
            note("later files of a series get settings, if all ranks agree", kind="auto")

    def begin(self) -> None:
        """Note that the run begins."""
        self._adoption.begin(self.plan)

    def finish(self, seen: Observation, *, quiet: bool) -> str:
        """Judge the settings and keep what was seen; return what came of them."""
        from stripewise.learning.adoption import seen_of

        kept = seen_of(
            self.plan,
            seen.run,
            seen.facts,
            self._directory,
            could_not_act=seen.could_not_act,
            storage=self._adoption.storage,
        )
        line, warnings = self._adoption.finish(self.plan, kept)
        of_series = seen.run.series.line if seen.run.series is not None else ""
        line = "; ".join(filter(None, (of_series, line)))
        if line and not quiet:
            note(line, kind="auto")
        for text in warnings:
            note(text, kind="warning")
        return line

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        prepared = self.plan.prepared
        return {
            "level": prepared.level,
            "source": prepared.source,
            "distance": prepared.distance,
            "expected_ratio": prepared.expected_ratio,
            "settings": dict(prepared.settings),
            "refused": list(prepared.refused),
            "sentence": prepared.sentence,
        }


def dry_run(auto: Auto, *, as_json: bool) -> None:
    """Say what would be set."""
    if as_json:
        print_json({"auto": auto.as_json()}, indent=None)
        return
    from stripewise.cli._config import table_lines

    echo(auto.plan.prepared.sentence)
    for line in auto.plan.prepared.refused:
        echo(f"not set: {line}")
    for line in table_lines(auto.plan.configuration) if not auto.plan.is_default else ():
        echo(line)
