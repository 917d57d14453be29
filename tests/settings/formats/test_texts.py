# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Hint lines, hint files, MCA files, the flat form: pure parsers on strings."""

from __future__ import annotations

import pytest

from stripewise.core import Configuration, DatasetRule, FileRule, JobSettings
from stripewise.core.errors import ConfigurationError
from stripewise.settings.formats import get, job_environment


@pytest.mark.parametrize(
    "text",
    [
        "*:cb_nodes=4:cb_config_list=#*:8#,*.h5:striping_unit=65536",
        "export MPICH_MPIIO_HINTS='*:cb_nodes=4:cb_config_list=#*:8#,*.h5:striping_unit=65536'\n",
        'MPICH_MPIIO_HINTS="*:cb_nodes=4:cb_config_list=#*:8#,\\\n*.h5:striping_unit=65536,"',
    ],
)
def test_hints_line(text: str):
    first, second = get("mpich-hints").read(text).configuration.files
    assert first == FileRule("*", {"cb_nodes": 4, "cb_config_list": "*:8"}, override=True)
    assert second == FileRule("*.h5", {"striping_unit": 65536}, override=True)


def test_hints_line_written():
    rule = FileRule("*", {"cb_nodes": 4, "cb_config_list": "*:*"}, override=True)
    text = get("mpich-hints").write(Configuration((rule,))).text
    assert text == "export MPICH_MPIIO_HINTS='*:cb_nodes=4:cb_config_list=#*:*#'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cb_nodes=4", "pattern:key=value"),
        ("*:cb_nodes", "not key=value"),
        ("*:cb_config_list=#*:8", "not closed"),
        ("*:cb_nodes=many", "an integer"),
        (",", "no hints"),
        ("MPICH_MPIIO_HINTS='*:a=b", "close the quotes"),
        ("MPICH_MPIIO_HINTS=*:a=b c", "more than one word"),
    ],
)
def test_hints_line_refused(text: str, message: str):
    with pytest.raises(ConfigurationError, match=message):
        get("mpich-hints").read(text)


def test_romio_hints():
    text = "# site\ncb_nodes 4\n\nromio_ds_write\tdisable\ncb_buffer_size 1 2\n"
    loaded = get("romio-hints").read(text)
    assert loaded.configuration.files == (
        FileRule("*", {"cb_nodes": 4, "romio_ds_write": "disable"}),
    )
    assert any("line 5" in line for line in loaded.warnings)
    with pytest.raises(ConfigurationError, match="line 1"):
        get("romio-hints").read("cb_nodes\n")


@pytest.mark.parametrize(
    "text",
    [
        "# comment\nio = romio321\nio_ompio_num_aggregators=2\n",
        "mpirun --mca io romio321 -n 4 --mca io_ompio_num_aggregators 2 ./program",
        "export OMPI_MCA_io=romio321\nOMPI_MCA_io_ompio_num_aggregators='2'",
    ],
)
def test_mca(text: str):
    job = get("mca").read(text).configuration.job
    assert dict(job.mca) == {"io": "romio321", "io_ompio_num_aggregators": 2}


@pytest.mark.parametrize("text", ["io romio321", "--mca io", "io = nonsense", "--mca 'io x"])
def test_mca_refused(text: str):
    with pytest.raises(ConfigurationError):
        get("mca").read(text)


def test_job_environment():
    job = JobSettings({"io": "romio321", "fbtl_posix_read_datasieving": False}, {"X": "y"})
    assert job_environment(Configuration(job=job)) == {
        "OMPI_MCA_io": "romio321",
        "OMPI_MCA_fbtl_posix_read_datasieving": "false",
        "X": "y",
    }


def test_flat():
    rule = FileRule(
        "a b*",
        {"cb_nodes": 4, "romio_no_indep_rw": True, "odd": "x\ty%"},
        {"alignment": (1, 4096), "coll_metadata_write": True},
        True,
        (DatasetRule("/x", {"chunk": (2, 3)}),),
    )
    assert get("flat").write(Configuration((rule,))).text.split("\n") == [
        "stripewise-flat 1",
        "file\ta%20b*\t1",
        "mpiio\tcb_nodes\t4",
        "mpiio\tromio_no_indep_rw\ttrue",
        "mpiio\todd\tx%09y%25",
        "hdf5\talignment\t1,4096",
        "hdf5\tcoll_metadata_write\t1",
        "dataset\t/x",
        "hdf5\tchunk\t2,3",
        "",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "mpiio\tcb_nodes\t4",
        "file\t*\t2",
        "file\t*",
        "file\t*\t0\ndataset\t/x\nmpiio\ta\tb",
        "file\t*\t0\nmpiio\ta\t%0",
        "file\t*\t0\nmpiio\ta\t%00",
        "nonsense\ta\tb",
    ],
)
def test_flat_refused(body: str):
    with pytest.raises(ConfigurationError, match="line"):
        get("flat").read(f"stripewise-flat 1\n{body}\n")


LIBRARIES = FileRule(
    "*.nc", pnetcdf={"nc_var_align_size": 4096}, adios2={"NumAggregators": 2}, override=True
)


def test_libraries_in_the_flat_form():
    text = get("flat").write(Configuration((LIBRARIES,))).text
    assert text.splitlines()[2:] == [
        "pnetcdf\tnc_var_align_size\t4096",
        "adios2\tNumAggregators\t2",
    ]
    assert get("flat").parse(text).configuration.files == (LIBRARIES,)


def test_libraries_in_toml():
    text = get("toml").write(Configuration((LIBRARIES,))).text
    assert "pnetcdf = { nc_var_align_size = 4096 }" in text
    assert get("toml").read(text).configuration.files == (LIBRARIES,)


@pytest.mark.parametrize("name", ["h5tuner", "mpich-hints", "romio-hints"])
def test_formats_that_know_hints_alone_say_what_they_lose(name: str):
    lost = get(name).write(Configuration((LIBRARIES,))).lost
    assert "PnetCDF hints for *.nc: nc_var_align_size" in lost
    assert "ADIOS2 engine parameters for *.nc: NumAggregators" in lost
