# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of files that behave differently: a question for each, and one answer of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stripewise.adoption._question import Answer, Level, Question
from stripewise.knowledge import Case, parts_of
from stripewise.model import FileClass, PatternSummary, ProgramFacts, Value
from stripewise.tunables import acts_per_file, build_configuration, is_valid, scoped

_ORDER = list(Level)


def class_questions(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield the glob of each class whose patterns are known, and what is asked for it."""
    facts = question.facts
    if facts is None:
        return
    cases = {part.match: part.case for part in parts_of(question.case)}
    for number, one in enumerate(facts.file_classes, start=1):
        own = tuple(pattern for pattern in facts.patterns if pattern.file_class == number)
        if one.match in cases and one.match and own:
            yield one.match, _part(question, facts, one, own, cases[one.match])


def joined(whole: Answer, parts: Sequence[tuple[str, Answer]], facts: ProgramFacts) -> Answer:
    """Return the answer for all files with what is better for some of them.

    What acts on the whole job is as the answer for all says.  Where all classes get the same,
    or what they get cannot act together, that answer stands.
    """
    of_job = {n: v for n, v in whole.settings.items() if not acts_per_file(n)}
    own = {
        match: {name: value for name, value in part.settings.items() if acts_per_file(name)}
        for match, part in parts
    }
    if len(own) < 2 or all(each == next(iter(own.values())) for each in own.values()):
        return whole
    settings: dict[str, Value] = dict(of_job)
    for match, values in own.items():
        settings |= {scoped(name, match): value for name, value in values.items()}
    if not settings or not is_valid(settings, facts):
        return whole
    found = [(match, part) for match, part in parts if part.level is not Level.DEFAULT]
    level = max((part.level for _, part in found), key=_ORDER.index)
    distances = [part.distance for _, part in found if part.distance is not None]
    return Answer(
        level,
        settings,
        build_configuration(settings, facts),
        "; ".join(f"{match}: {part.sentence}" for match, part in parts),
        ", ".join(dict.fromkeys(part.source for _, part in found if part.source)),
        max(distances, default=None),
        _joint_ratio(parts, facts),
        tuple(dict.fromkeys(line for _, part in parts for line in part.refused)),
    )


def _joint_ratio(parts: Sequence[tuple[str, Answer]], facts: ProgramFacts) -> float | None:
    """Return what to expect of the whole: each class's share of the I/O time gets its ratio."""
    shares = {one.match: one.io_share for one in facts.file_classes}
    after = sum(shares[match] / (part.expected_ratio or 1.0) for match, part in parts)
    rest = max(0.0, 1.0 - sum(shares[match] for match, _ in parts))
    return 1 / (after + rest) if after + rest > 0 else None


def _part(
    question: Question,
    facts: ProgramFacts,
    one: FileClass,
    own: tuple[PatternSummary, ...],
    case: Case,
) -> Question:
    """Return the question for one class: its patterns as if the program had no others."""
    whole = sum(pattern.share for pattern in own) or 1.0
    patterns = tuple(replace(each, share=round(each.share / whole, 4)) for each in own)
    written = sum(each.bytes for each in own if each.writing)
    read = sum(each.bytes for each in own if not each.writing)
    moved = written + read
    collective = moved if one.collective and "mpiio" in one.layers else 0
    independent = moved - collective if "mpiio" in one.layers else 0
    part = replace(
        facts,
        patterns=patterns,
        pattern="",
        file_classes=(),
        write_bytes=written,
        read_bytes=read,
        collective_bytes=collective,
        independent_bytes=independent,
        posix_bytes=moved - collective - independent,
        noncontiguous=one.noncontiguous,
    )
    return replace(question, facts=part, case=case)
