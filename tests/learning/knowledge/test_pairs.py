# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Patterns and H5Tuner's XML, written and read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from lessons import MACHINE, case, lesson
from test_parts import CHECK, PLOT, of_two_classes

from stripewise.core.errors import ConfigurationError
from stripewise.learning.knowledge import (
    StudiedCase,
    Tried,
    compare,
    export_pairs,
    import_pairs,
    matches_of,
)
from stripewise.settings.formats import load_configuration

STRIPES = "mpiio.striping_factor"
HAND = {
    "file": "vpic.xml",
    "pattern": "<1D,(BLOCK),(8388608)>",
    "ranks": 64,
    "nodes": 4,
    "element_bytes": 4,
    "mpi": "mpich 4.0.2",
    "speedup": 4.0,
    "source": "VPIC-IO",
}
XML = """<Parameters><Parallel_File_System><striping_factor>64</striping_factor>
</Parallel_File_System></Parameters>"""


def of_vpic() -> StudiedCase:
    plain = case()
    return replace(
        plain, fingerprint=replace(plain.fingerprint, patterns=(replace(PLOT, file_class=0),))
    )


def directory(tmp_path: Path, *pairs: object) -> Path:
    (tmp_path / "vpic.xml").write_text(XML)
    (tmp_path / "index.json").write_text(json.dumps({"version": 1, "pairs": pairs}))
    return tmp_path


def test_an_answer_is_an_xml_and_its_pattern_is_in_the_index(tmp_path):
    study = lesson({STRIPES: 64, "hdf5.alignment": (0, 1 << 20)}, of=of_vpic())
    written = export_pairs([study, lesson(improved=False)], tmp_path / "pairs")
    assert (written.pairs, written.notes) == (1, ())
    (entry,) = json.loads((tmp_path / "pairs/index.json").read_text())["pairs"]
    assert entry["pattern"] == ["<2D, (BLOCK, *), (256, 1024)>"]
    assert (entry["storage"], entry["source"], entry["speedup"]) == ("lustre", "prog", 2.0)
    (rule,) = load_configuration(tmp_path / "pairs" / entry["file"]).configuration.files
    assert dict(rule.mpiio) == {"striping_factor": 64}


def test_pairs_come_back_as_the_studies_that_they_were(tmp_path):
    study = lesson({STRIPES: 64}, of=of_vpic())
    export_pairs([study], tmp_path)
    (again,), warnings = import_pairs(tmp_path, lambda: MACHINE)
    assert not warnings
    assert (again.study_id, again.case) == (study.study_id, study.case)
    assert (again.candidate, again.effect, again.improved) == (study.candidate, study.effect, True)
    (match,) = matches_of(study.case, [again])
    assert match.likeness.distance == 0


def test_each_class_of_files_is_a_pair_of_its_own(tmp_path):
    found = {f"{STRIPES}@plt*.h5": 32, f"{STRIPES}@chk*.dat": 4}
    tried = Tried(found, io_ratio=0.5, n_runs=2, class_ratios={"plt*.h5": 0.3, "chk*.dat": 0.5})
    export_pairs([lesson(found, of=of_two_classes(), tried=(tried,))], tmp_path)
    plots, checks = import_pairs(tmp_path, lambda: MACHINE)[0]
    assert (plots.candidate, checks.candidate) == ({STRIPES: 32}, {STRIPES: 4})
    assert [one.case.fingerprint.patterns[0].block for one in (plots, checks)] == [
        PLOT.block,
        CHECK.block,
    ]
    assert plots.study_id != checks.study_id


def test_what_the_xml_cannot_hold_is_told(tmp_path):
    written = export_pairs([lesson({"mca.io": "romio321", STRIPES: 8})], tmp_path)
    assert written.pairs == 1
    assert any("io" in note for note in written.notes)


def test_a_pair_by_hand_is_found_by_its_pattern(tmp_path):
    (pair,), _ = import_pairs(directory(tmp_path, HAND), lambda: MACHINE)
    print_ = pair.case.fingerprint
    assert (print_.n_ranks, print_.n_hosts, print_.program) == (64, 4, "VPIC-IO")
    assert print_.patterns[0].distributions == ("BLOCK",)
    assert print_.patterns[0].bytes == 64 * 8388608 * 4
    assert (pair.candidate, pair.improved, pair.effect.median) == ({STRIPES: 64}, True, 4.0)
    assert 1 < pair.effect.low < 4
    same, _ = import_pairs(tmp_path, lambda: MACHINE)
    assert same[0].study_id == pair.study_id
    assert compare(pair.case, same[0].case).distance == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"file": "../vpic.xml"}, "not the name of an XML"),
        ({"file": 3}, "not the name of an XML"),
        ({"file": "none.xml"}, "cannot be read"),
        ({"pattern": "<1D>"}, "pair 1"),
        ({"pattern": []}, "pattern: write it as"),
        ({"ranks": 0}, "ranks"),
        ({"ranks": True}, "ranks"),
        ({"ranks": 65}, "equally many"),
        ({"speedup": None}, "speedup"),
        ({"speedup": "4"}, "speedup"),
        ({"mpi": ""}, "mpi"),
        ({"collective": 1}, "neither true nor false"),
        ({"source": "a\x1bb"}, "program"),
        ({"colour": 1}, "'colour' is not known"),
        ({"effect": {"median": -1.0}}, "pair 1"),
        ({"case": {"machine": 3}}, "pair 1"),
        ({"study": "../../x"}, "pair 1"),
    ],
)
def test_a_malformed_pair_is_refused_in_one_line_that_names_it(tmp_path, wrong, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        import_pairs(directory(tmp_path, {**HAND, **wrong}), lambda: MACHINE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"version": 1}', "NaN"])
def test_a_malformed_index_is_refused(tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"index\.json"):
        import_pairs(tmp_path, lambda: MACHINE)


def test_links_are_not_followed(tmp_path):
    place = directory(tmp_path, {**HAND, "file": "link.xml"})
    (place / "link.xml").symlink_to("vpic.xml")
    with pytest.raises(ConfigurationError, match="is a link"):
        import_pairs(place, lambda: MACHINE)


def test_a_value_that_is_impossible_is_refused(tmp_path):
    place = directory(tmp_path, HAND)
    (place / "vpic.xml").write_text(XML.replace("64", "many"))
    with pytest.raises(ConfigurationError, match="pair 1"):
        import_pairs(place, lambda: MACHINE)


def test_no_index_is_said(tmp_path):
    with pytest.raises(ConfigurationError, match="has an index of this name"):
        import_pairs(tmp_path, lambda: MACHINE)
