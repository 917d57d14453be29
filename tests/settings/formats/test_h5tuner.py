# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""H5Tuner's XML with the matching and precedence of 2016-07."""

from __future__ import annotations

import pytest

from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats import effective, get

EXAMPLE = """<?xml version="1.0" encoding="utf-8"?>
<Parameters>
  <High_Level_IO_Library>
    <sieve_buf_size>262144</sieve_buf_size>
    <alignment>524288,262144 </alignment>
    <chunk FileName="ParaEg2.h5" VariableName="Data2">4,7</chunk>
  </High_Level_IO_Library>
  <Middleware_Layer>
    <cb_buffer_size>4194304</cb_buffer_size>
    <cb_nodes>32</cb_nodes>
    <IBM_largeblock_io>false</IBM_largeblock_io>
    <bgl_nodes_pset>8</bgl_nodes_pset>
  </Middleware_Layer>
  <Parallel_File_System>
    <striping_factor FileName="ParaEg0.h5">7</striping_factor>
    <striping_factor>11</striping_factor>
    <striping_unit>65536</striping_unit>
    <IBM_lockless_io>true</IBM_lockless_io>
  </Parallel_File_System>
</Parameters>
"""


def read(inside: str):
    return get("h5tuner").read(f"<Parameters>{inside}</Parameters>", "best.xml")


def test_example():
    loaded = get("h5tuner").read(EXAMPLE)
    found = effective(loaded.configuration, "/scratch/ParaEg2.h5")
    assert dict(found.layers["mpiio"]) == {
        "cb_buffer_size": 4194304,
        "cb_nodes": 32,
        "IBM_largeblock_io": False,
        "bgl_nodes_pset": 8,
        "striping_factor": 11,
        "striping_unit": 65536,
    }
    assert found.layers["hdf5"]["alignment"] == (524288, 262144)
    assert found.dataset("/Data2") == {"chunk": (4, 7)}
    assert found.dataset("/Data1") == {}
    assert any("IBM_lockless_io" in line for line in loaded.warnings)


def test_a_named_file_always_wins():
    configuration = get("h5tuner").read(EXAMPLE).configuration
    assert effective(configuration, "ParaEg0.h5").layers["mpiio"]["striping_factor"] == 7
    assert effective(configuration, "xParaEg0.h5").layers["mpiio"]["striping_factor"] == 11


def test_first_of_one_file_last_of_general():
    loaded = read(
        '<cb_nodes>1</cb_nodes><cb_nodes FileName="a">2</cb_nodes>'
        '<cb_nodes FileName="a">3</cb_nodes><cb_nodes>4</cb_nodes>'
    )
    assert effective(loaded.configuration, "x/a").layers["mpiio"]["cb_nodes"] == 2
    assert effective(loaded.configuration, "x/b").layers["mpiio"]["cb_nodes"] == 4


def test_precedence_of_chunk():
    loaded = read(
        '<chunk FileName="a.h5" VariableName="x">1</chunk>'
        '<chunk FileName="a.h5" VariableName="x">2</chunk>'
        '<chunk VariableName="x">3</chunk><chunk FileName="a.h5">4</chunk><chunk>5</chunk>'
        '<chunk VariableName="y">6</chunk>'
    )
    found = effective(loaded.configuration, "dir/a.h5")
    assert found.dataset("/x") == {"chunk": (1,)}
    assert found.dataset("/y") == {"chunk": (6,)}
    assert found.dataset("/z") == {"chunk": (5,)}
    assert effective(loaded.configuration, "other").dataset("/x") == {"chunk": (5,)}
    # the path must end with the name
    assert effective(loaded.configuration, "dir/xa.h5").dataset("/x") == {"chunk": (1,)}


def test_names_are_no_globs():
    loaded = read('<cb_nodes FileName="a[1]*.h5">2</cb_nodes>')
    assert effective(loaded.configuration, "a[1]*.h5").layers["mpiio"]
    assert not effective(loaded.configuration, "a1x.h5").layers["mpiio"]


@pytest.mark.parametrize("text", [" 1048576, 8388608 ", "1048576,8388608", "\n1048576\n,8388608"])
def test_blanks_in_lists(text: str):
    rule = read(f"<alignment>{text}</alignment>").configuration.files[0]
    assert rule.hdf5["alignment"] == (1048576, 8388608)
    assert rule.override


def test_only_the_first_word_counts():
    loaded = read("<cb_nodes>4 8</cb_nodes>")
    assert loaded.configuration.files[0].mpiio["cb_nodes"] == 4
    assert "first word" in loaded.warnings[0]


def test_any_known_name_in_any_section():
    loaded = read("<Middleware_Layer><romio_ds_write>disable</romio_ds_write></Middleware_Layer>")
    assert loaded.configuration.files[0].mpiio["romio_ds_write"] == "disable"
    written = get("h5tuner").write(loaded.configuration)
    assert "romio_ds_write" in written.notes[0]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<cb_nodez>4</cb_nodez>", "did you mean cb_nodes"),
        ('<cb_nodes Filename="a">4</cb_nodes>', "attribute Filename is ignored"),
        ('<cb_nodes FileName="d/a">4</cb_nodes>', "never matches"),
        ('<alignment VariableName="x">1,1</alignment>', "VariableName is ignored"),
    ],
)
def test_warnings(inside: str, message: str):
    assert any(message in line for line in read(inside).warnings)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Parameters>&b;</Parameters>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "refused"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><Parameters/>', "refused"),
        ('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><P>&e;</P>', "refused"),
        ("<Parameters>", "broken XML"),
        ("<Parameters><cb_nodes>4</Parameters>", "broken XML"),
        ("<Parameters>&unknown;</Parameters>", "broken XML"),
        ('<?xml version="1.0" encoding="nonsense"?><P/>', "broken XML"),
        ("<P><cb_nodes/></P>", "is empty"),
        ("<P><cb_nodes>many</cb_nodes></P>", "an integer"),
        ("<P><alignment>1</alignment></P>", "2 integers"),
        ('<P><chunk VariableName="x">1,a</chunk></P>', "integers"),
    ],
)
def test_refused_in_one_line(text: str, message: str):
    with pytest.raises(ConfigurationError, match=message) as caught:
        get("h5tuner").read(text, "best.xml")
    assert str(caught.value).startswith("best.xml: ")
    assert "\n" not in str(caught.value)


def test_deep_nesting_is_no_problem():
    assert get("h5tuner").read("<a>" * 20000 + "</a>" * 20000).configuration.is_empty


def test_empty_sections_are_no_news():
    loaded = get("h5tuner").read(
        "<Parameters><Middleware_Layer><cb_nodes>1</cb_nodes></Middleware_Layer>"
        "<Parallel_File_System> </Parallel_File_System></Parameters>",
        "best.xml",
    )
    assert not loaded.warnings
