# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts of one format, each read twice."""

from __future__ import annotations

from random import Random

from support.mutations import mutate
from support.strict_readers import Format, check


def whole(form: Format) -> None:
    """Hold right texts against the second reader: all of them is believed."""
    for text in form.texts:
        found, problems = form.read(text)
        said, is_whole = form.strict(text)
        assert (dict(found), list(problems), is_whole) == (said, [], True)


def damage(form: Format, count: int, seed: int) -> None:
    """Damage texts and read them twice."""
    random = Random(seed)
    originals = [text.encode() for text in form.texts]
    for case in range(count):
        text = mutate(random.choice(originals), random).decode("utf-8", "replace")
        try:
            check(form, text)
        except Exception as error:
            raise AssertionError(f"{seed} {case}: {error!r} in {text!r}") from error
