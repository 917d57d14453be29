# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every rule of advice must do; subclass it, and say which one and where it speaks.

class TestMine(RuleSuite):
    rule_name = "mine"
    storages = ("archer2-hdd",)
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import pytest

from stripewise.bench.advice import RULES, rule_names
from stripewise.bench.advice.rules import Advice, Basis, Rule
from stripewise.storage.machines import Evidence, Figure, Storage, find_storage, preset_names

UNITS = ("bytes per second", "operations per second", "nodes", "seconds")
KINDS = ("command", "variable", "hint", "code", "directive")


def bare_storage(kind: str = "lustre") -> Storage:
    """Return a storage of which only the size is known."""
    known = {"machine.nodes": 64.0, "machine.ranks_per_node": 16.0, "servers.targets": 8.0,
             "servers.target_write": 1e15, "servers.target_read": 1e15}  # fmt: skip
    figures = {name: Figure(one, Evidence.ASSUMED, "nothing") for name, one in known.items()}
    return Storage("bare", "A storage of which nothing is known", kind, "romio", figures)


def find_rule(name: str) -> Rule:
    """Return the rule of a name."""
    return next(one for one in RULES if one.name == name)


class RuleSuite:
    """Conformance suite; set `rule_name` and `storages`, or override `make` and `bases`."""

    rule_name: str
    storages: tuple[str, ...]
    """Described storage on which the rule has something to say."""

    def make(self) -> Rule:
        """Return the rule."""
        return find_rule(self.rule_name)

    def bases(self) -> list[Basis]:
        """Return what the rule is asked about."""
        return [Basis(find_storage(name)) for name in self.storages]

    def said(self) -> list[tuple[Basis, Advice]]:
        """Return all its advice there."""
        return [(basis, one) for basis in self.bases() for one in self.make().advise(basis)]

    def test_has_a_name_and_a_topic(self) -> None:
        """It is found by its name, and pages have a heading for it."""
        assert self.make().name == self.rule_name
        assert self.rule_name in rule_names()
        assert self.make().topic[0].isupper()

    def test_speaks_where_it_has_a_basis(self) -> None:
        """It has advice on each of its storages."""
        for basis in self.bases():
            assert not self.make().missing(basis)
            assert list(self.make().advise(basis)), basis.storage.name

    def test_says_what_is_missing_where_it_has_none(self) -> None:
        """Nothing is said about a storage of which nothing is known."""
        for kind in ("gpfs", "local"):
            missing = self.make().missing(Basis(bare_storage(kind)))
            assert missing
            assert "\n" not in missing

    @pytest.mark.parametrize("name", preset_names())
    def test_answers_on_every_described_storage(self, name: str) -> None:
        """It says something, or why not, and never fails."""
        basis, rule = Basis(find_storage(name)), self.make()
        if not rule.missing(basis):
            list(rule.advise(basis))

    def test_its_sentences_are_whole_and_have_figures(self) -> None:
        """A sentence begins with a capital letter, ends with a full stop, and names its figure."""
        for _, one in self.said():
            assert one.rule == self.rule_name
            assert one.topic == self.make().topic
            assert one.sentence[0].isupper()
            assert one.sentence.endswith(".")
            assert "\n" not in one.sentence
            assert "nan" not in one.sentence
            assert "inf" not in one.sentence.split()
            assert isfinite(one.value)
            assert one.low <= one.value <= one.high
            assert one.unit in UNITS
            assert one.evidence

    def test_its_ways_are_single_lines(self) -> None:
        """Each way to follow it can be copied; a warning may have none."""
        for _, one in self.said():
            for how in one.how:
                assert how.kind in KINDS
                assert how.text
                assert "\n" not in how.text

    def test_what_it_advises_is_best_and_what_it_warns_of_loses(self) -> None:
        """Applied in the model, none of the alternatives is more than a tenth better."""
        for basis, one in self.said():
            if one.claim is None:
                continue
            advised = basis.rate(one.claim.advised)
            assert advised > 0
            for other in one.claim.others:
                assert advised >= 0.9 * basis.rate(other), (one.sentence, other.words)
            for worse in one.claim.loses:
                assert advised >= 1.1 * basis.rate(worse), (one.sentence, worse.words)

    def test_does_not_look_at_the_name_of_the_machine(self) -> None:
        """The same storage under another name gets the same advice."""
        for basis in self.bases():
            renamed = replace(basis.storage, name="other", title="Another", mounts=())
            again = list(self.make().advise(Basis(renamed)))
            first = list(self.make().advise(basis))
            assert [one.sentence for one in again] == [one.sentence for one in first]

    def test_its_defaults_are_variables_of_the_job(self) -> None:
        """What a site may set for everybody is a variable that a user can unset."""
        for _, one in self.said():
            for name, value in one.defaults.items():
                assert name.startswith(("MPICH_", "ROMIO_", "FI_", "UCX_"))
                assert value
                assert "lock_mode=1" not in value
