# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every rule of advice must do: each rule of the registry runs through it by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isfinite
from pathlib import Path

import pytest

from stripewise.bench.advice import RULES, rule_names
from stripewise.bench.advice.rules import Advice, Basis, Rule
from stripewise.storage.machines import Figure, FigureOrigin, Storage, find_storage, preset_names

UNITS = ("bytes per second", "operations per second", "nodes", "seconds")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "advise-users.md"
KINDS = ("command", "variable", "hint", "code", "directive")


def bare_storage(kind: str = "lustre") -> Storage:
    """Return a storage of which only the size is known."""
    known = {"machine.nodes": 64.0, "machine.ranks_per_node": 16.0, "servers.targets": 8.0,
             "servers.target_write": 1e15, "servers.target_read": 1e15}  # fmt: skip
    figures = {name: Figure(one, FigureOrigin.ASSUMED, "nothing") for name, one in known.items()}
    return Storage("bare", "A storage of which nothing is known", kind, "romio", figures)


def find_rule(name: str) -> Rule:
    """Return the rule of a name."""
    return next(one for one in RULES if one.name == name)


@cache
def described(name: str) -> Basis:
    """Return the basis of one described storage, which remembers what the model said of it."""
    return Basis(find_storage(name))


class RuleSuite:
    """Conformance suite, run for each rule on each described storage where it may speak."""

    @pytest.fixture(params=RULES, ids=rule_names())
    def rule(self, request: pytest.FixtureRequest) -> Rule:
        """Each rule of the registry."""
        found: Rule = request.param
        return found

    def bases(self, rule: Rule) -> list[Basis]:
        """Return what the rule is asked about."""
        found = map(described, preset_names())
        return [basis for basis in found if not rule.missing(basis)]

    def said(self, rule: Rule) -> list[tuple[Basis, Advice]]:
        """Return all its advice there."""
        return [(basis, one) for basis in self.bases(rule) for one in rule.advise(basis)]

    def test_has_a_name_and_a_topic(self, rule: Rule) -> None:
        """It is found by its name, which is its own, and pages have a heading for it."""
        assert rule_names().count(rule.name) == 1
        assert rule.topic[0].isupper()

    def test_is_documented(self, rule: Rule) -> None:
        """The table of rules has a row for it."""
        assert f"| `{rule.name}` | " in PAGE.read_text("utf-8")

    def test_speaks_somewhere(self, rule: Rule) -> None:
        """It has advice on some described storage."""
        assert self.said(rule)

    def test_says_what_is_missing_where_it_has_none(self, rule: Rule) -> None:
        """Nothing is said about a storage of which nothing is known."""
        for kind in ("gpfs", "local"):
            missing = rule.missing(Basis(bare_storage(kind)))
            assert missing
            assert "\n" not in missing

    def test_its_sentences_are_whole_and_have_figures(self, rule: Rule) -> None:
        """A sentence begins with a capital letter, ends with a full stop, and names its figure."""
        for _, one in self.said(rule):
            assert one.rule == rule.name
            assert one.topic == rule.topic
            assert one.sentence[0].isupper()
            assert one.sentence.endswith(".")
            assert "\n" not in one.sentence
            assert "nan" not in one.sentence
            assert "inf" not in one.sentence.split()
            assert isfinite(one.value)
            assert one.low <= one.value <= one.high
            assert one.unit in UNITS
            assert one.evidence

    def test_its_ways_are_single_lines(self, rule: Rule) -> None:
        """Each way to follow it can be copied; a warning may have none."""
        for _, one in self.said(rule):
            for how in one.how:
                assert how.kind in KINDS
                assert how.text
                assert "\n" not in how.text

    def test_what_it_advises_is_best_and_what_it_warns_of_loses(self, rule: Rule) -> None:
        """Applied in the model, none of the alternatives is more than a tenth better."""
        for basis, one in self.said(rule):
            if one.claim is None:
                continue
            advised = basis.rate(one.claim.advised)
            assert advised > 0
            for other in one.claim.others:
                assert advised >= 0.9 * basis.rate(other), (one.sentence, other.words)
            for worse in one.claim.loses:
                assert advised >= 1.1 * basis.rate(worse), (one.sentence, worse.words)

    def test_does_not_look_at_the_name_of_the_machine(self, rule: Rule) -> None:
        """The same storage under another name gets the same advice."""
        for basis in self.bases(rule):
            renamed = replace(basis.storage, name="other", title="Another", mounts=())
            again = list(rule.advise(Basis(renamed)))
            first = list(rule.advise(basis))
            assert [one.sentence for one in again] == [one.sentence for one in first]

    def test_its_defaults_are_variables_of_the_job(self, rule: Rule) -> None:
        """What a site may set for everybody is a variable that a user can unset."""
        for _, one in self.said(rule):
            for name, value in one.defaults.items():
                assert name.startswith(("MPICH_", "ROMIO_", "FI_", "UCX_"))
                assert value
                assert "lock_mode=1" not in value
