# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import csv
import json

import campaigns
import pytest

from stripewise.bench.campaign import figures_of
from stripewise.bench.report import (
    campaign_rows,
    campaign_to_json,
    write_campaign_csv,
    write_campaign_parquet,
)
from stripewise.bench.report._files import COLUMNS
from stripewise.core.errors import StorageError


@pytest.fixture(params=list(campaigns.ALL))
def campaign(request):
    return campaigns.ALL[request.param]()


def test_there_is_a_row_for_each_run_and_operation(campaign):
    rows = list(campaign_rows(campaign))
    expected = sum(max(len(run.samples), 1) for run in campaign.runs)
    assert len(rows) == expected
    assert all(list(row) == list(COLUMNS) for row in rows)


def test_values_have_the_types_of_their_columns(campaign):
    for row in campaign_rows(campaign, campaigns.flagged(campaign)):
        for name, value in row.items():
            assert value is None or isinstance(value, COLUMNS[name]), name


def test_csv_holds_the_rates(campaign, tmp_path):
    path = tmp_path / "c.csv"
    write_campaign_csv(campaign, path, campaigns.flagged(campaign))
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rates = [sample.rate for run in campaign.runs for sample in run.samples]
    assert [float(row["rate"]) for row in rows if row["rate"]] == rates
    assert not any(cell.startswith("=") for row in rows for cell in row.values())


def test_parquet_round_trip(campaign, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "c.parquet"
    write_campaign_parquet(campaign, path)
    found = parquet.read_table(path)
    assert found.to_pylist() == list(campaign_rows(campaign))
    about = json.loads(found.schema.metadata[b"stripewise"])
    assert about["suite"] == campaign.suite.name


def test_an_outlier_is_marked_in_its_own_run():
    campaign = campaigns.array3d(5, (1, 2, 4, 8))
    figures = campaigns.flagged(campaign)
    marked = {(row["key"], row["operation"], row["rate"])
              for row in campaign_rows(campaign, figures) if row["outlier"]}  # fmt: skip
    expected = {(one.case.key, one.operation, one.rates[place])
                for one in figures for place in one.outliers}  # fmt: skip
    assert marked == expected
    assert expected


def test_json_has_the_figures_and_what_failed(campaign):
    figures = campaigns.flagged(campaign)
    found = json.loads(json.dumps(campaign_to_json(campaign, figures)))
    assert [one["median"] for one in found["figures"]] == [one.median for one in figures]
    assert len(found["failed"]) == sum(run.status != "ok" for run in campaign.runs)
    assert found["limits"] is None


def test_json_has_the_limits():
    campaign = campaigns.one_cell()
    limits = campaigns.limits_of(campaign)
    found = campaign_to_json(campaign, figures_of(campaign), limits)["limits"]
    assert [one["value"] for one in found["limits"]] == [one.value for one in limits.limits]


def test_a_place_that_cannot_be_written_is_one_error(tmp_path):
    with pytest.raises(StorageError, match="cannot write"):
        write_campaign_csv(campaigns.one_cell(), tmp_path / "no" / "c.csv")
