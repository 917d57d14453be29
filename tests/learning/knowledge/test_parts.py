# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of files as cases of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lessons import KNOB, OTHER, case, lesson

from stripewise.core import FileClass, PatternSummary
from stripewise.core.errors import ConfigurationError
from stripewise.learning.knowledge import (
    compare,
    describe_case,
    import_lines,
    lesson_of_part,
    lesson_to_json,
    parts_of,
    recall,
)
from stripewise.learning.knowledge._codec import decode, encode
from stripewise.learning.knowledge._records import Effect, StudiedCase, Tried
from stripewise.settings.tunables import find_space
from support.strategy_suite import romio_facts

PLOT = PatternSummary(
    True, ("BLOCK", "*"), (4, 1), (256, 1024), 8, 10, 1.0, share=0.75, bytes=3 << 30, file_class=1
)
CHECK = PatternSummary(True, ("BLOCK",), (4,), (1 << 20,), 8, share=0.25, bytes=1 << 30)
CHECK = replace(CHECK, file_class=2)
CLASSES = (
    FileClass("plt*.h5", 3, ("hdf5", "mpiio"), writes=True, collective=True, shared=True),
    FileClass("chk*.dat", 2, ("posix",), writes=True, call_bytes=1 << 20),
    FileClass("", 1, ("posix",), reads=True),
)


def of_two_classes() -> StudiedCase:
    plain = case()
    return replace(
        plain,
        fingerprint=replace(
            plain.fingerprint, patterns=(PLOT, CHECK), file_classes=CLASSES, volume_log2=32.0
        ),
    )


def test_a_class_is_a_case_of_its_own_files() -> None:
    parts = parts_of(of_two_classes())
    assert list(parts) == ["", "plt*.h5", "chk*.dat"]
    whole, plots, checks = parts.values()
    assert whole == of_two_classes()
    (pattern,) = checks.fingerprint.patterns
    assert (pattern.share, pattern.file_class) == (1.0, 0)
    assert checks.fingerprint.posix_share == 1.0
    assert plots.fingerprint.collective_share == 1.0
    assert checks.fingerprint.volume_log2 == 30.0
    assert not compare(plots, checks).distance == 0
    assert compare(plots, plots).distance == 0


def test_a_case_without_classes_is_one_part() -> None:
    assert len(parts_of(case())) == 1


def test_what_is_learned_of_a_class_is_its_own() -> None:
    found = {KNOB: "disable", f"{OTHER}@plt*.h5": 1 << 20}
    ratios = {"plt*.h5": 0.25, "chk*.dat": 1.0}
    study = lesson(found, tried=(Tried(found, io_ratio=0.5, n_runs=2, class_ratios=ratios),))
    plots, checks, whole = (lesson_of_part(study, match) for match in ("plt*.h5", "chk*.dat", ""))
    assert plots.candidate == {KNOB: "disable", OTHER: 1 << 20}
    assert plots.effect == Effect(4.0, pytest.approx(3.6), pytest.approx(4.4), 6)
    assert plots.tried[0].io_ratio == 0.25
    assert checks.candidate == {KNOB: "disable"}
    assert not checks.improved
    assert (whole.candidate, whole.improved, whole.tried) == ({}, False, ())
    plain = lesson()
    assert lesson_of_part(plain, "") == plain


def test_classes_and_scoped_settings_are_exchanged() -> None:
    study = lesson({f"{OTHER}@plt*.h5": 1 << 20}, of=of_two_classes())
    (again,) = import_lines([encode(study)], "found.jsonl")
    assert again == study
    assert lesson_to_json(study)["version"] == 3


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("patterns", (replace(PLOT, grid=(4,)),), "number of dimensions"),
        ("patterns", (replace(PLOT, block=(1 << 40, 1 << 40)),), "4 EiB"),
        ("patterns", (replace(PLOT, share=2.0),), "share"),
        ("patterns", (replace(PLOT, file_class=9),), "no class 9"),
        ("file_classes", (replace(CLASSES[0], match="a\x1bb"),), "printed"),
        ("file_classes", (replace(CLASSES[0], io_share=3.0),), "figure"),
    ],
)
def test_impossible_patterns_and_classes_are_refused(
    field: str, wrong: object, message: str
) -> None:
    good = of_two_classes()
    bad = lesson(of=replace(good, fingerprint=replace(good.fingerprint, **{field: wrong})))
    if field == "file_classes":
        bad = replace(bad, case=replace(bad.case, fingerprint=replace(
            bad.case.fingerprint, patterns=())))  # fmt: skip
    with pytest.raises(ConfigurationError, match=message):
        encode(bad)


FACTS = replace(romio_facts(), file_classes=CLASSES, patterns=(PLOT, CHECK), write_bytes=1 << 32)
SPACE = find_space(FACTS)
PLOTS, CHECKS = f"{OTHER}@plt*.h5", f"{KNOB}@chk*.dat"


def test_the_same_program_gets_its_settings_by_class_again(tmp_path) -> None:
    program = tmp_path / "prog"
    program.write_bytes(b"binary")
    same = describe_case(case().machine, FACTS, program="prog", executable=program)
    found = {KNOB: "disable", PLOTS: 4 << 20}
    seeds = recall(same, [lesson(found, of=same)], SPACE, FACTS).seeds
    assert dict(seeds[0].settings) == found
    fewer = replace(FACTS, file_classes=())
    assert all("@" not in name for seed in recall(
        same, [lesson(found, of=same)], SPACE, fewer).seeds for name in seed.settings)  # fmt: skip


def test_each_class_learns_from_programs_that_have_only_such_files() -> None:
    here = describe_case(case().machine, FACTS, program="new")
    _, plots, checks = parts_of(here).values()
    studies = [
        lesson({OTHER: 4 << 20}, of=plots),
        lesson({KNOB: "disable"}, of=checks),
    ]
    first = recall(here, studies, SPACE, FACTS).seeds[0]
    assert dict(first.settings) == {PLOTS: 4 << 20, CHECKS: "disable"}
    assert first.reason == "memory: each class of files as in the studies nearest to it"


def test_a_program_of_one_kind_of_files_learns_from_that_class_of_another() -> None:
    other = describe_case(case().machine, FACTS, program="both")
    found = {KNOB: "disable", PLOTS: 4 << 20}
    tried = Tried(found, io_ratio=0.5, n_runs=2, class_ratios={"plt*.h5": 0.3, "chk*.dat": 0.9})
    study = lesson(found, of=other, tried=(tried,))
    plots = parts_of(other)["plt*.h5"]
    alone = replace(FACTS, file_classes=(), patterns=plots.fingerprint.patterns)
    first = recall(plots, [study], SPACE, alone).seeds[0]
    assert dict(first.settings) == {KNOB: "disable", OTHER: 4 << 20}


def test_older_versions_are_read() -> None:
    import json

    data = lesson_to_json(lesson(of=of_two_classes()))
    data["version"] = 2
    print_ = data["case"]["fingerprint"]
    for name in ("volume_log2", "file_classes"):
        del print_[name]
    for pattern in print_["patterns"]:
        for name in ("kind", "extents", "halo", "active_ranks", "bytes", "file_class"):
            del pattern[name]
    old = decode(json.dumps(data))
    assert len(parts_of(old.case)) == 1
    assert old.case.fingerprint.patterns[0].kind == "distributed"
