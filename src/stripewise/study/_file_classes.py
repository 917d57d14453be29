# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which classes of files a study tunes apart, and what it says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stripewise.model import ProgramFacts
from stripewise.readers import class_phrase
from stripewise.study._context import Context

BY_CLASS = ("auto", "expbb", "model", "rules")
"""Strategies that can give classes of files settings of their own."""


def with_classes(context: Context, facts: Sequence[ProgramFacts]) -> list[ProgramFacts]:
    """Return the facts of all cases with the classes that are tuned apart; mostly none are."""
    plain = [_in_no_class(shown) for shown in facts]
    if len(facts) > 1 or not facts[0].file_classes or not context.options.per_file:
        return plain
    named = [one for one in facts[0].file_classes if one.match]
    unnamed = [one for one in facts[0].file_classes if not one.match]
    for place, one in enumerate(unnamed, 1):
        context.decide(
            f"unnamed-class/{place}",
            "files that behave differently from others, but whose names do not tell them apart, "
            f"get no settings of their own: {class_phrase(one)}",
        )
    if len(named) < 2:
        return plain
    said = "; ".join(map(class_phrase, named))
    if context.options.strategy not in BY_CLASS:
        name = context.options.strategy
        text = f"files of {len(named)} classes get the same settings from the strategy {name}"
        context.decide("file-classes", f"{text}: {said}")
        return plain
    context.decide("file-classes", f"these files may get settings of their own: {said}")
    return list(facts)


def _in_no_class(facts: ProgramFacts) -> ProgramFacts:
    patterns = tuple(replace(one, file_class=0) for one in facts.patterns)
    return replace(facts, file_classes=(), patterns=patterns)
