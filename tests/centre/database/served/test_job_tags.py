# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names of jobs as Lustre gives them: what they tell is read back, what may differ is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.database.store import Template
from stripewise.centre.database.store._loads import TagParts, parse_tag
from stripewise.core.errors import UsageError

DEFAULT = (Template("%e.%u"),)
NONE = TagParts()


@pytest.mark.parametrize(
    ("text", "template", "expected"),
    [
        ("4711", "%e.%u", TagParts(raw_id=4711)),
        ("lmp.1000", "%e.%u", TagParts(program="lmp", uid=1000)),
        ("a.out.1000", "%e.%u", TagParts(program="a.out", uid=1000)),
        ("my prog.0", "%e.%u", TagParts(program="my prog", uid=0)),
        ("4711:1000:node17", "%j:%u:%H", TagParts(raw_id=4711, uid=1000, host="node17")),
        (":1000:node17", "%j:%u:%H", TagParts(uid=1000, host="node17")),
        ("4711", "%j?%H", TagParts(raw_id=4711)),
        ("login1", "%j?%H", TagParts(host="login1")),
        ("n1.example.org", "%h", TagParts(host="n1.example.org")),
        ("ls.77.1000", "%e.%p.%u", TagParts(program="ls", uid=1000)),
        ("ls.100.1000", "%e.%g.%u", TagParts(program="ls", uid=1000)),
        ("nod.1000", "%.3h.%u", TagParts(uid=1000)),
        ("n1.1000", "%.3h.%u", TagParts(host="n1", uid=1000)),
        ("node.1000", "%.3h.%u", NONE),
        ("lmp1000", "%e%u", NONE),
        ("1000", "%u", NONE),
        ("lmp.01", "%e.%u", NONE),
        ("lmp.", "%e.%u", NONE),
        ("", "%e.%u", NONE),
        ("0", "%e.%u", NONE),
        ("007", "%e.%u", NONE),
        ("lmp.99999999999", "%e.%u", TagParts(program="lmp")),
        ("9" * 19, "%e.%u", NONE),
        ("x" * 20 + ".1234567890", "%e.%u", TagParts(program="x" * 20)),
        ("१२३", "%e.%u", NONE),
        ("kworker/3:1.0", "%e.%u", TagParts(program="kworker/3:1", uid=0)),
    ],
)
def test_names(text: str, template: str, expected: TagParts) -> None:
    assert parse_tag(text, [Template(template)]) == expected


def test_several_templates() -> None:
    both = (Template("%e.%u"), Template("%j:%u:%H"))
    assert parse_tag("lmp.1000", both) == TagParts(program="lmp", uid=1000)
    assert parse_tag("7:5:n1", both) == TagParts(raw_id=7, uid=5, host="n1")
    assert parse_tag("a.5:1.2", (Template("%e.%u"), Template("%e:%u"))) == TagParts(
        program="a.5:1", uid=2
    )
    assert parse_tag("a.b", (Template("%e.%e"), Template("%h"))) == NONE


@pytest.mark.parametrize("text", ["", "plain", "%q", "%", "%e%", "%.5", "%e" * 17])
def test_what_is_no_template(text: str) -> None:
    with pytest.raises(UsageError):
        Template(text)


def test_a_long_name_ends_soon() -> None:
    assert parse_tag("1.1" * 40, [Template("%e%e%e%e%e%e%e%e%e.%u")]) == NONE


names = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=15)
hosts = st.from_regex(r"[a-z][a-z0-9-]{0,6}", fullmatch=True)


@given(program=names, uid=st.integers(0, 2**32 - 1))
def test_what_is_rendered_is_read_back(program: str, uid: int) -> None:
    text = f"{program}.{uid}"
    if len(text.encode()) < 31:
        assert parse_tag(text, DEFAULT) == TagParts(program=program, uid=uid)


@given(raw_id=st.integers(0, 2**32), uid=st.integers(0, 2**32 - 1), host=hosts)
def test_ids_are_read_back(raw_id: int, uid: int, host: str) -> None:
    text = f"{raw_id or ''}:{uid}:{host}"[:31]
    found = parse_tag(text, [Template("%j:%u:%H")])
    whole = len(text) < 31
    assert found == TagParts(raw_id=raw_id or None, uid=uid, host=host if whole else None)


@given(text=st.text(max_size=128), form=st.sampled_from(["%e.%u", "%e%u%h", "%j.%e.%g", "%j?%h"]))
def test_no_text_does_harm_and_nothing_is_made_up(text: str, form: str) -> None:
    found = parse_tag(text, [Template(form)])
    assert all(value is None or str(value) in text for value in found)


@given(
    program=names, uid=st.integers(0, 99999), other=names, number=st.integers(0, 99999),
    glue=st.sampled_from(["", ".", "1", "-"]),
)  # fmt: skip
def test_two_that_render_alike_tell_nothing(
    program: str, uid: int, other: str, number: int, glue: str
) -> None:
    """Whatever is told is true of every rendering that gives the same text."""
    text = f"{program}{glue}{uid}"
    found = parse_tag(text, [Template(f"%e{glue}%u")])
    if len(text.encode()) >= 31 or (text.isascii() and text.isdigit()):
        return
    assert found in (NONE, TagParts(program=program, uid=uid))
    if f"{other}{glue}{number}" == text and (other, number) != (program, uid):
        assert found == NONE
