# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import studies

from stripewise.core import Speedup, VerificationStatus
from stripewise.study.report import result_to_json

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/reference/result.schema.json").read_text("utf-8")
)


@pytest.mark.parametrize("name", studies.ALL)
def test_every_ending_is_valid_json_of_the_schema(name):
    document = result_to_json(studies.ALL[name]())
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    jsonschema.validate(json.loads(text), SCHEMA)


def test_the_schema_itself_is_sound():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_improved_study_carries_its_figures():
    document = result_to_json(studies.improved())
    assert document["result"] == "improved"
    assert document["speedup"]["median"] == 5.2
    assert document["speedup"]["low"] == 4.6
    ratio = document["baseline"]["io_seconds"] / document["best"]["io_seconds"]
    assert ratio == pytest.approx(5.2, rel=0.15)
    assert document["best"]["runs"] == 6
    assert document["settings"]["hdf5.alignment"] == [2**20, 2**20]
    assert document["configuration"]["file"][0]["hdf5"] == {"alignment": [2**20, 2**20]}
    assert document["verified"] is True


def test_no_improvement_repeats_the_baseline_and_claims_nothing():
    document = result_to_json(studies.no_improvement())
    assert document["result"] == "no improvement"
    assert document["best"] == document["baseline"]
    assert document["speedup"]["median"] == 1.0
    assert document["speedup"]["low"] == document["speedup"]["high"] == 1.0
    assert document["speedup"]["n_pairs"] == 0
    assert document["settings"] == {}
    assert document["configuration"] == {"version": 1, "file": []}
    assert document["candidate"]["speedup"]["median"] == 1.04


def test_a_rejected_candidate_without_a_successor_is_not_verified():
    result = studies.rejected()
    alone = replace(
        result,
        improved=False,
        winner=None,
        speedup=None,
        verification=replace(result.verification, status=VerificationStatus.NOT_DONE),
    )
    assert result_to_json(alone)["verified"] is False
    assert result_to_json(result)["verified"] is True
    assert result_to_json(result)["verification"]["rejected"][0]["trial"] == 8


def test_unknown_and_infinite_numbers_are_null():
    result = replace(studies.improved(), speedup=Speedup(math.inf, math.nan, math.nan, 2))
    document = result_to_json(result)
    assert document["speedup"]["median"] is None
    assert document["speedup"]["low"] is None
    failed = result_to_json(studies.troubles())["trials"][8]
    assert failed["speedup"] is None
    assert failed["io_seconds"] is None


def test_names_that_are_not_utf8_show_their_bytes():
    document = result_to_json(studies.troubles())
    assert document["command"][3] == "./flash\\xff"
    assert "log\\xff.txt" in document["verification"]["not_verifiable"]


def test_cases_carry_their_own_figures():
    document = result_to_json(studies.ensemble())
    small, large = document["cases"]
    assert small["outcome"] == large["outcome"] == "faster"
    assert large["baseline"]["io_seconds"] / large["best"]["io_seconds"] > 3
    both = small["baseline"]["io_seconds"] + large["baseline"]["io_seconds"]
    assert document["baseline"]["io_seconds"] == pytest.approx(both)
    assert document["trials"][0]["case_speedups"] == {"small.nml": 2.0, "<large>.nml": 4.0}
    assert {run["case"] for run in document["runs"]} == {"small.nml", "<large>.nml"}


def test_a_trade_off_is_no_improvement_and_told():
    document = result_to_json(studies.ensemble(improved_too=False))
    assert document["result"] == "no improvement"
    assert document["settings"] == {}
    assert document["candidate"]["settings"] == {"mpiio.cb_nodes": 4}
    assert [case["outcome"] for case in document["cases"]] == ["faster", "slower"]
    assert document["cases"][1]["candidate"]["speedup"]["high"] < 1
    assert document["cases"][1]["best"] == document["cases"][1]["baseline"]
