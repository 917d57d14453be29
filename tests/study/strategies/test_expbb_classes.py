# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of their own for classes of files, at the end of ExPBB's procedure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

from stripewise.core import FileClass, ObservedFile
from stripewise.settings.formats import get
from stripewise.settings.tunables import build_configuration, settings_on
from support.burst_buffer import (
    AGGREGATORS,
    NODES,
    BtIo,
    best,
    search,
)

INPUT, OUTPUT = "wrfi*", "wrfo*"


@dataclass
class TwoClasses(BtIo):
    """Inputs are read by many aggregators best, outputs, which take longer, written by 8."""

    name: str = "wrfout"
    best_for_output: int = 8

    def of_class(self, match, settings):
        aggregators = settings_on(settings, match).get(AGGREGATORS, settings.get(NODES, 1) or 1)
        wanted, seconds = {OUTPUT: (self.best_for_output, 12), INPUT: (128, 4)}[match]
        away = 1 + abs(log2(wanted / aggregators))
        return seconds * away * (1 if settings.get(NODES) else 2)

    def large(self, settings):
        return self.of_class(OUTPUT, settings)

    def small(self, settings):
        return self.of_class(INPUT, settings)

    def files(self, settings):
        read = ObservedFile("wrfinput", read_bytes=self.written, io_seconds=self.small(settings))
        return (*super().files(settings), read)

    def trial(self, number, settings, baseline=None):
        made = super().trial(number, settings, baseline)
        ratios = {one: self.of_class(one, settings) / self.of_class(one, {}) for one in SHARES}
        return replace(made, class_ratios=ratios)

    @property
    def facts(self):
        classes = tuple(FileClass(match, io_share=share) for match, share in SHARES.items())
        return replace(super().facts, file_classes=classes)


SHARES = {OUTPUT: 0.6, INPUT: 0.4}


def test_each_class_of_files_gets_what_was_best_for_it():
    strategy, proposals, trials = search("expbb", TwoClasses(), (1,))
    last = proposals[-1]
    assert "each class of files as in the trial that was best for it" in last.reason
    assert settings_on(last.settings, OUTPUT)[AGGREGATORS] == 8
    assert settings_on(last.settings, INPUT)[AGGREGATORS] == 16
    assert best(trials) is trials[-1]
    assert strategy.finished_because.endswith("for wrfo*: cb_nodes=8 for wrfi*: cb_nodes=16")
    hints = get("mpich-hints").write(build_configuration(last.settings, TwoClasses().facts)).text
    assert "'wrfo*:cb_nodes=8:" in hints
    assert ",wrfi*:cb_nodes=16:" in hints


def test_classes_cost_one_trial_and_none_where_their_needs_are_equal():
    facts = replace(TwoClasses().facts, file_classes=())
    plain = search("expbb", TwoClasses(), (1,), facts=facts)[1]
    apart = search("expbb", TwoClasses(), (1,))[1]
    assert [p.settings for p in apart[:-1]] == [p.settings for p in plain]
    alike = search("expbb", TwoClasses(best_for_output=128), (1,))[1]
    assert not any("each class" in proposal.reason for proposal in alike)
