# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of files as cases of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lessons import KNOB, OTHER, case, lesson

from stripewise.errors import ConfigurationError
from stripewise.knowledge import as_part, compare, import_lines, lesson_to_json, parts_of
from stripewise.knowledge._codec import decode, encode
from stripewise.knowledge._records import Case, Effect, Tried
from stripewise.model import FileClass, PatternSummary

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


def of_two_classes() -> Case:
    plain = case()
    return replace(
        plain,
        fingerprint=replace(
            plain.fingerprint, patterns=(PLOT, CHECK), file_classes=CLASSES, volume_log2=32.0
        ),
    )


def test_a_class_is_a_case_of_its_own_files() -> None:
    whole, plots, checks = parts_of(of_two_classes())
    assert (whole.match, plots.match, checks.match) == ("", "plt*.h5", "chk*.dat")
    assert whole.case == of_two_classes()
    (pattern,) = checks.case.fingerprint.patterns
    assert (pattern.share, pattern.file_class) == (1.0, 0)
    assert checks.case.fingerprint.posix_share == 1.0
    assert plots.case.fingerprint.collective_share == 1.0
    assert checks.case.fingerprint.volume_log2 == 30.0
    assert not compare(plots.case, checks.case).distance == 0
    assert compare(plots.case, plots.case).distance == 0


def test_a_case_without_classes_is_one_part() -> None:
    assert len(parts_of(case())) == 1


def test_what_is_learned_of_a_class_is_its_own() -> None:
    found = {KNOB: "disable", f"{OTHER}@plt*.h5": 1 << 20}
    ratios = {"plt*.h5": 0.25, "chk*.dat": 1.0}
    study = lesson(found, tried=(Tried(found, io_ratio=0.5, n_runs=2, class_ratios=ratios),))
    plots, checks, whole = (as_part(study, match) for match in ("plt*.h5", "chk*.dat", ""))
    assert plots.candidate == {KNOB: "disable", OTHER: 1 << 20}
    assert plots.effect == Effect(4.0, pytest.approx(3.6), pytest.approx(4.4), 6)
    assert plots.tried[0].io_ratio == 0.25
    assert checks.candidate == {KNOB: "disable"}
    assert not checks.improved
    assert (whole.candidate, whole.improved, whole.tried) == ({}, False, ())
    plain = lesson()
    assert as_part(plain, "") == plain


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
