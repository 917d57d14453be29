# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The canonical form: what it accepts, and one clear line for what it does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.core import Configuration, DatasetRule, FileRule, JobSettings
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import parse_toml
from stripewise.settings.formats import canonical, get
from stripewise.settings.formats._toml import as_it_should_be
from stripewise.settings.formats._toml_form import checked

EXAMPLE = """
version = 1
[[file]]
match = "wrfout*"
mpiio = { romio_cb_write = "enable", cb_nodes = 40, striping_unit = 524288 }
hdf5  = { alignment = [1048576, 1048576], coll_metadata_write = true }
override = false
[[file.dataset]]
match = "/Timestep_*/x"
chunk = [1, 26, 327680]
[job]
mca = { io = "romio321" }
environment = { FI_OFI_RXM_SAR_LIMIT = "64K" }
"""


def test_example():
    loaded = get("toml").read(EXAMPLE)
    assert loaded.configuration == Configuration(
        (
            FileRule(
                "wrfout*",
                {"romio_cb_write": "enable", "cb_nodes": 40, "striping_unit": 524288},
                {"alignment": (1048576, 1048576), "coll_metadata_write": True},
                datasets=(DatasetRule("/Timestep_*/x", {"chunk": (1, 26, 327680)}),),
            ),
        ),
        JobSettings({"io": "romio321"}, {"FI_OFI_RXM_SAR_LIMIT": "64K"}),
    )


def test_written_form_is_the_documented_one():
    text = get("toml").write(get("toml").read(EXAMPLE).configuration).text
    assert text.splitlines()[:6] == [
        "version = 1",
        "",
        "[[file]]",
        'match = "wrfout*"',
        'mpiio = { romio_cb_write = "enable", cb_nodes = 40, striping_unit = 524288 }',
        "hdf5 = { alignment = [1048576, 1048576], coll_metadata_write = true }",
    ]


def test_unknown_hints_are_passed_on_with_a_warning():
    loaded = get("toml").read('version = 1\n[[file]]\nmatch = "*"\nmpiio = { cb_nodez = 4 }')
    assert loaded.configuration.files[0].mpiio["cb_nodez"] == "4"
    assert len(loaded.warnings) == 1
    assert "did you mean cb_nodes" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "version is missing"),
        ("version = 2", "version = 2 is not known"),
        ("version = true", "version"),
        ("version = 1\n[[fil]]", "did you mean file"),
        ('version = 1\n[[file]]\nmatch = "*"\nmpio = {}', "did you mean mpiio"),
        ("version = 1\n[[file]]\nmpiio = {}", r"file\[1\]\.match is missing"),
        ('version = 1\n[[file]]\nmatch = "*"\noverride = 1', "override"),
        ('version = 1\n[[file]]\nmatch = "*"\nhdf5 = { aligment = [1, 1] }', "alignment"),
        ('version = 1\n[[file]]\nmatch = "*"\nhdf5 = { alignment = 4096 }', "2 integers"),
        ('version = 1\n[[file]]\nmatch = "*"\nmpiio = { cb_nodes = "4" }', "an integer"),
        ('version = 1\n[[file]]\nmatch = "*"\nmpiio = { cb_nodes = 4.0 }', "an integer"),
        ('version = 1\n[[file]]\nmatch = "*"\nmpiio = { odd = 1979-05-27 }', "text or a number"),
        ('version = 1\n[[file]]\nmatch = "*"\nmpiio = { odd = { a = 1 } }', "text or a number"),
        ("version = 1\n[job]\nburst_buffer = 1", "burst_buffer"),
        ("version = 1\n[job.environment]\nX = 1", "environment"),
        ("version = 1\nversion = 1", "not TOML"),
        ("version = " + "9" * 5000, "not TOML"),
        ("version = " + "[" * 100000, "not TOML"),
    ],
)
def test_refused_in_one_line(text: str, message: str):
    with pytest.raises(ConfigurationError, match=message) as caught:
        get("toml").read(text, "best.toml")
    assert str(caught.value).startswith("best.toml: ")
    assert "\n" not in str(caught.value)


def test_resources_of_the_job():
    text = "version = 1\n[job]\nranks = 4\nranks_per_node = 2\nthreads = 3\n"
    job = get("toml").read(text).configuration.job
    assert (job.ranks, job.ranks_per_node, job.threads) == (4, 2, 3)
    with pytest.raises(ConfigurationError, match=r"job\.ranks"):
        get("toml").read("version = 1\n[job]\nranks = 0\n")
    with pytest.raises(ConfigurationError, match=r"job\.ranks = '4'"):
        get("toml").read("version = 1\n[job]\nranks = '4'\n")
    with pytest.raises(ConfigurationError, match="did you mean threads"):
        get("toml").read("version = 1\n[job]\nthread = 4\n")


values = st.one_of(
    st.booleans(),
    st.integers(-1, 2),
    st.sampled_from(["*", "", "x", "\udc80", 1.0, None]),
    st.lists(st.integers(0, 1), max_size=1),
)
tables = st.dictionaries(st.sampled_from(["cb_nodes", "match", "\udc80"]), values, max_size=2)
rules = st.fixed_dictionaries(
    {},
    optional={
        "match": values,
        "override": values,
        "mpiio": tables | values,
        "hdf5": tables,
        "dataset": st.lists(tables | values, max_size=2) | values,
        "odd": values,
    },
)
jobs = st.fixed_dictionaries(
    {}, optional={"mca": tables, "environment": tables, "ranks": values, "odd": values}
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "version": values,
        "file": st.lists(rules | values, max_size=2) | values,
        "job": jobs | values,
        "odd": values,
    },
)


@settings(max_examples=300, deadline=None)
@given(documents)
def test_what_is_taken_without_a_look_at_its_form_is_of_it(data: dict[str, Any]):
    found = as_it_should_be(data)
    if found is not None:
        assert canonical(found) == canonical(checked(data, "name"))


def test_a_document_without_a_fault_needs_no_second_look():
    data = parse_toml(EXAMPLE)
    assert as_it_should_be(data) == checked(data, "name")
    assert as_it_should_be({"version": 1}) == Configuration()
    assert as_it_should_be({**data, "version": True}) is None


def test_a_key_of_another_table_names_that_table() -> None:
    with pytest.raises(ConfigurationError, match=r"'mca' belongs in \[job\]"):
        get("toml").parse('version = 1\nmca = { io = "ompio" }\n')
    with pytest.raises(ConfigurationError, match=r"job: 'hdf5' belongs in \[\[file\]\]"):
        get("toml").parse("version = 1\n[job]\nhdf5 = { chunk = [1] }\n")
