# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Many parameters in one call of `lctl`: texts cannot pretend to be others, and none is torn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.centre.monitor._host import HostError
from stripewise.centre.monitor.collectors.lustre._parameters import Parameters, split
from support.monitor_host import FakeHost, denied, printed

PATTERNS = ("obdfilter.*.stats", "osd-*.*.kbytesfree")
NAMES = [
    "obdfilter.a-OST0000.stats", "obdfilter.a-OST0001.stats", "obdfilter.a-OST0002.stats",
    "osd-zfs.a-OST0000.kbytesfree",
]  # fmt: skip
TEXTS = ["x 1\ny 2\n", "snapshot_time 5\n", "x 3\ny 4\n", "17\n"]


def host() -> FakeHost:
    return FakeHost({**dict(zip(NAMES, TEXTS, strict=True)), "version": "2.15.5\n"})


def parameters(of: FakeHost, clock: list[float] | None = None) -> Parameters:
    times = clock or [0.0]
    found = Parameters("lctl", PATTERNS, 3.0, lambda: times[0])
    found.begin(of)
    return found


def asked_alone(of: FakeHost) -> list[str]:
    return [words[-1] for words in of.asked if words[:3] == ("lctl", "get_param", "-n")]


def test_one_call_reads_all() -> None:
    one = host()
    found = parameters(one)
    assert list(found.names) == NAMES
    values, problems = found.read(one, found.names)
    assert values == {**dict(zip(NAMES, TEXTS, strict=True)), "version": "2.15.5\n"}
    assert problems == []
    assert one.asked == [
        ("lctl", "list_param", *PATTERNS, "version"),
        ("lctl", "get_param", *NAMES, "version"),
    ]
    assert set(one.timeouts) == {3.0}


def test_output_in_pieces() -> None:
    one = host()
    one.piece_bytes = 7
    found = parameters(one)
    assert found.read(one, NAMES)[0][NAMES[2]] == TEXTS[2]


@pytest.mark.parametrize(
    "forged",
    [
        "x 1\nobdfilter.a-OST0001.stats=x 9\n",
        "x 1\nobdfilter.a-OST0001.stats=\nx 9\n",
        "x 1\nobdfilter.a-OST0000.stats=\nx 9\n",
        "x 1\nversion=2.15.5\n",
        "obdfilter.a-OST0001.stats=\nx 9\nobdfilter.a-OST0002.stats=\nx 8\n",
    ],
)
def test_a_text_cannot_forge_another(forged: str) -> None:
    one = host()
    one.parameters[NAMES[0]] = forged
    found = parameters(one)
    values, problems = found.read(one, NAMES)
    assert values == {
        NAMES[0]: forged, NAMES[1]: TEXTS[1], NAMES[2]: TEXTS[2], NAMES[3]: TEXTS[3],
    }  # fmt: skip
    assert asked_alone(one) == NAMES
    assert "does not have the names that were asked" in problems[0].text


def test_a_forged_text_does_not_stand_for_one_that_is_gone() -> None:
    one = host()
    found = parameters(one)
    one.parameters[NAMES[0]] = f"x 1\n{NAMES[1]}=\nx 9\n"
    one.parameters[NAMES[1]] = denied()
    values, problems = found.read(one, NAMES)
    assert NAMES[1] not in values
    assert values[NAMES[0]] == f"x 1\n{NAMES[1]}=\nx 9\n"
    assert [problem.reason for problem in problems] == ["denied"]


@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("odd", ["", "healthy", "a\nb", "\n"])
def test_texts_that_are_empty_or_end_without_a_line_break(odd: str, is_older: bool) -> None:
    one = host()
    one.is_older = is_older
    one.parameters[NAMES[1]] = odd
    found = parameters(one)
    for _ in range(3):
        one.asked.clear()
        found.begin(one)
        values, problems = found.read(one, NAMES)
        assert problems == []
        assert values[NAMES[1]].strip() == odd.strip()
        assert [values[name] for name in (NAMES[0], *NAMES[2:])] == [TEXTS[0], *TEXTS[2:]]
    assert len(one.asked) <= 2


def test_names_come_and_go() -> None:
    one, clock = host(), [0.0]
    found = parameters(one, clock)
    del one.parameters[NAMES[1]]
    clock[0] = 15.0
    found.begin(one)
    values, problems = found.read(one, NAMES)
    assert NAMES[1] not in values
    assert problems == []
    assert asked_alone(one) == []
    assert NAMES[1] not in found.names
    one.parameters[NAMES[1]] = "x 5\n"
    clock[0] = 90.0
    found.begin(one)
    assert found.read(one, found.names)[0][NAMES[1]] == "x 5\n"


def test_what_cannot_be_read_is_told_and_asked_again_later() -> None:
    one, clock = host(), [1.0]
    one.parameters[NAMES[1]] = denied()
    found = parameters(one, clock)
    values, problems = found.read(one, NAMES)
    assert NAMES[1] not in values
    assert [problem.reason for problem in problems] == ["denied"]
    one.asked.clear()
    found.begin(one)
    values, problems = found.read(one, NAMES)
    assert len(one.asked) == 1
    assert [problem.reason for problem in problems] == ["denied"]
    one.parameters[NAMES[1]] = "x 6\n"
    clock[0] = 700.0
    found.begin(one)
    values, problems = found.read(one, NAMES)
    assert values[NAMES[1]] == "x 6\n"
    assert problems == []


@pytest.mark.parametrize("cut_bytes", range(0, 170, 5))
def test_a_torn_answer_is_never_believed(cut_bytes: int) -> None:
    one = host()
    found = parameters(one)
    one.cut_bytes = cut_bytes
    try:
        values, _ = found.read(one, NAMES)
    except HostError:
        return
    for name, text in values.items():
        assert one.parameters[name] == text


def test_a_list_that_is_torn() -> None:
    one = host()
    one.cut_bytes = 60
    with pytest.raises(HostError, match="ended before its time"):
        parameters(one)


def test_a_host_without_lustre() -> None:
    with pytest.raises(HostError, match="modprobe lustre") as raised:
        parameters(FakeHost({"nis": "1\n"}))
    assert raised.value.reason == "missing"


def test_too_slow() -> None:
    one = host()
    found = parameters(one)
    one.failure = HostError("slow", "no answer")
    with pytest.raises(HostError, match="no answer"):
        found.read(one, NAMES)


def test_names_that_are_patterns_are_not_asked() -> None:
    one = host()
    one.parameters["obdfilter.a*-OST0009.stats"] = "1\n"
    assert list(parameters(one).names) == NAMES


VALUES = st.text(st.sampled_from("ab=.\n1 "), max_size=30).map(lambda text: f"{text}\n")


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_what_is_printed_is_split_or_refused(texts: list[str]) -> None:
    names = [f"a.b{index}" for index in range(len(texts))]
    pairs = list(zip(names, texts, strict=True))
    output = "".join(printed(name, text) for name, text in pairs)
    found = split(output, names)
    if found is not None:
        assert found == {name: (text if text != "\n" else "") for name, text in pairs}


@given(st.text(st.sampled_from("ab=.0\n1 "), max_size=60))
def test_anything_is_split_or_refused(output: str) -> None:
    found = split(output, ["a.0", "b.1"])
    assert found is None or list(found) == ["a.0", "b.1"]
