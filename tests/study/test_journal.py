# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core import Measurement, ObservedFile, RunStatus, from_json, to_json
from stripewise.core.errors import StorageError, StudyError
from stripewise.study.plan import Journal, StudyCase, StudyOptions, parse_journal
from stripewise.study.plan._options import options_from_json, options_to_json
from support.journal_checks import encode


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    for number in range(3):
        journal.append("value", name=f"n{number}", value=number)
    journal.close()
    return path


def names(path):
    journal = Journal(path)
    found = [record["name"] for record in journal.records]
    journal.close()
    return found, journal.note


def test_reads_back_what_was_written(path):
    assert names(path) == (["n0", "n1", "n2"], "")


def test_each_line_is_json(path):
    for line in path.read_text().splitlines():
        assert set(json.loads(line)) == {"crc", "record"}


def test_torn_last_line_is_dropped_with_a_note(path):
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for cut in range(1, len(last)):
        path.write_bytes(whole[:-cut])
        found, note = names(path)
        assert found == ["n0", "n1"]
        assert "incomplete last record" in note or cut == len(last)
        assert names(path) == (["n0", "n1"], ""), "the repair lasts"


def test_damage_in_the_middle_names_the_line(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"n1", b"nX")
    path.write_bytes(b"".join(lines))
    with pytest.raises(StudyError, match="line 2"):
        Journal(path)


@pytest.mark.parametrize("order", [(0, 2), (0, 1, 1, 2), (1, 0, 2), (0, 1, 2, 2)])
def test_lines_that_were_taken_out_doubled_or_moved_are_seen(path, order):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in order))
    with pytest.raises(StudyError, match=r"damaged in line \d; .*--force"):
        Journal(path)


def test_a_journal_of_another_version_is_refused(path):
    record = {"kind": "study", "at": 1.5, "version": 1, "options": {}, "provenance": {}}
    path.write_bytes(encode([record]))
    with pytest.raises(StudyError, match=r"study of version 1, .* reads version 2; .*--force"):
        Journal(path)


def test_full_disk_leaves_the_journal_whole(path, monkeypatch):
    journal = Journal(path)
    before = path.read_bytes()

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(StorageError, match=r"No space left.*--resume"):
        journal.append("value", name="n3", value=3)
    assert path.read_bytes() == before


def test_read_only_directory_is_said(tmp_path):
    with pytest.raises(StorageError, match="cannot open the journal"):
        Journal(tmp_path / "missing" / "journal.jsonl")


@given(st.dictionaries(st.text(), st.one_of(st.none(), st.integers(), st.floats(allow_nan=False))))
def test_any_record_survives(data):
    record = {"kind": "value", "at": 1.5, "name": "n", "value": data}
    content = encode([record])
    assert parse_journal(content, None)[:2] == ([record], len(content))


def test_a_journal_without_readers_is_read():
    data = to_json(ObservedFile("a", writers=2, readers=3))
    del data["readers"]
    assert from_json(ObservedFile, data) == ObservedFile("a", writers=2)


def test_measurement_survives_with_any_bytes_in_a_path():
    file = ObservedFile(
        "out\udcff.dat", writers=2, aligned_fraction={4096: 0.5}, applied={"cb_nodes": "2"}
    )
    measurement = Measurement("id", RunStatus.TIMEOUT, None, 1.5, 0.5, 1, 2, 3.0, (file,), "slow")
    data = to_json(measurement)
    text = encode([{"kind": "run-finished", "at": 1.5, "run_id": "id", "measurement": data}])
    record = parse_journal(text, None)[0][0]
    assert from_json(Measurement, record["measurement"]) == measurement


def test_unknown_fields_of_a_later_version_are_ignored():
    data = to_json(Measurement("id", RunStatus.OK)) | {"later": 1}
    assert from_json(Measurement, data) == Measurement("id", RunStatus.OK)


def test_options_with_cases_survive_the_journal(tmp_path):
    cases = (StudyCase("a", ("p", "a b"), 2.0, (tmp_path,)), StudyCase("b", ("p",)))
    vary = {"hdf5.chunk": ((4, 7), (8, 7)), "mpiio.romio_ds_write": ("disable",)}
    options = StudyOptions((), tmp_path, tmp_path, cases=cases, vary=vary)
    restored = options_from_json(json.loads(json.dumps(options_to_json(options))), tmp_path)
    assert restored.cases == cases
    assert restored.ladders == vary
