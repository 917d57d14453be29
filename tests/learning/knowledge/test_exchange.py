# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from lessons import KNOB, MACHINE, case, lesson

from stripewise.core import PatternSummary
from stripewise.core.errors import ConfigurationError
from stripewise.learning.knowledge import Tried, export_lines, import_lines
from stripewise.learning.knowledge._codec import decode, encode


def test_round_trip():
    kept = [lesson(), lesson({"hdf5.alignment": (0, 1 << 20)})]
    assert import_lines(export_lines(kept), "x") == kept


def test_lines_hold_no_newline_and_are_ascii():
    (line,) = export_lines([lesson(of=case(program="prögram"))])
    assert line.isascii()
    assert "\n" not in line


def damaged(**changes):
    (line,) = export_lines([lesson()])
    data = json.loads(line)
    for path, value in changes.items():
        target = data
        *places, last = path.split("__")
        for place in places:
            target = target[place]
        target[last] = value
    return json.dumps(data)


BAD = (
    "{",
    "[]",
    "null",
    "[" * 100_000,
    damaged(version=4),
    damaged(study_id="../../etc/passwd"),
    damaged(study_id="0" * 31),
    damaged(recorded_unix_seconds="yesterday"),
    damaged(recorded_unix_seconds=1e30),
    damaged(recorded_unix_seconds=float("nan")),
    damaged(improved="yes"),
    damaged(candidate={"environment.LD_PRELOAD": "/tmp/evil.so"}),
    damaged(candidate={KNOB: "$(reboot)"}),
    damaged(candidate={KNOB: ["disable"]}),
    damaged(candidate={KNOB: {"a": 1}}),
    damaged(candidate=[]),
    damaged(candidate={"mpiio.no_such_knob": 1}),
    damaged(effect={"median": -1.0}),
    damaged(effect__n_pairs=0),
    damaged(effect__low=2.0, effect__high=1.5),
    damaged(elapsed_effect={"median": 1.2, "low": 1.3, "high": 1.1, "n_pairs": 6}),
    damaged(case__fingerprint__program="two\nlines"),
    damaged(case__fingerprint__program="x" * 301),
    damaged(case__fingerprint__program="\x1b[2Jgone"),
    damaged(case__fingerprint__n_ranks=-1),
    damaged(case__fingerprint__read_share=1.5),
    damaged(case__machine__storage="not a digest"),
    damaged(tried=[{"settings": {KNOB: "disable"}, "state": "wonderful"}]),
)


@pytest.mark.parametrize("line", BAD, ids=range(len(BAD)))
def test_bad_lines_are_refused_and_named(line):
    good = next(export_lines([lesson()]))
    with pytest.raises(ConfigurationError, match=r"found\.jsonl: line 3: "):
        import_lines([good, "", line], "found.jsonl")


@pytest.mark.parametrize("kept", [1, -9])
def test_a_line_that_is_cut_off_is_said_to_be_no_json(kept):
    line = next(export_lines([lesson()]))[:kept]
    with pytest.raises(
        ConfigurationError, match=r"line 1: not JSON \(.+\); `stripewise knowledge"
    ):
        import_lines([line], "found.jsonl")


def test_unknown_keys_are_passed_over():
    (line,) = export_lines([lesson()])
    data = json.loads(line) | {"new": 1}
    assert len(import_lines([json.dumps(data)], "x")) == 1


def test_trials_with_unknown_knobs_are_left_out():
    known = Tried({KNOB: "disable"}, io_ratio=0.5)
    tried = (Tried({"mpiio.of_tomorrow": 1}, io_ratio=0.1), known)
    (found,) = import_lines(export_lines([lesson(tried=tried)]), "x")
    assert found.tried == (known,)


def test_nothing_of_the_machine_that_names_it_is_exported():
    (line,) = export_lines([lesson(of=case(replace(MACHINE, cpu="CPU", described="site")))])
    data = json.loads(line)["case"]
    assert not data["machine"].pop("described")
    assert set(data["machine"]) == {
        "architecture", "cpu", "processors", "memory_bytes", "kernel", "filesystem", "device",
        "storage", "emulated",
    }  # fmt: skip
    assert "command" not in line
    assert "directory" not in line


def test_patterns_are_exchanged_and_records_without_them_are_read():
    pattern = PatternSummary(True, ("BLOCK", "*"), (4, 1), (64, 8), 8, 10, 0.5, 3, 0.9)
    known = lesson()
    fingerprint = replace(known.case.fingerprint, patterns=(pattern,))
    known = replace(known, case=replace(known.case, fingerprint=fingerprint))
    assert decode(encode(known)) == known
    older = json.loads(encode(known)) | {"version": 1}
    del older["case"]["fingerprint"]["patterns"]
    assert decode(json.dumps(older)).case.fingerprint.patterns == ()
