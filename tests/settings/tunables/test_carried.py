# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A configuration that somebody else wrote sets what tunes, and nothing that runs code."""

from __future__ import annotations

import pytest

from stripewise.core import Configuration, JobSettings
from stripewise.settings.tunables import Layer, all_tunables, refused_variables

CODE = (
    "LD_AUDIT", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PATH", "PYTHONPATH", "PYTHONSTARTUP",
    "HDF5_PLUGIN_PATH", "HDF5_VOL_CONNECTOR", "HDF5_DRIVER", "OMP_TOOL_LIBRARIES",
    "UCX_MODULE_DIR", "FI_PROVIDER_PATH", "PMIX_MCA_mca_base_component_path",
    "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER_EXEC",
)  # fmt: skip
MCA_CODE = (
    "mca_base_component_path", "plm_rsh_agent", "orte_launch_agent", "mca_base_env_list",
    "mca_base_param_files", "opal_signal", "filem_raw", "coll_tuned_dynamic_rules_filename",
    "mpi_show_mca_params_file", "orte_tmpdir_base", "dl_dlopen_filename_suffixes",
)  # fmt: skip
TUNING = (
    "MPICH_MPIIO_HINTS", "ROMIO_HINTS", "PNETCDF_HINTS", "HDF5_USE_FILE_LOCKING", "FORT_BUFFERED",
    "GFORTRAN_UNFORMATTED_BUFFER_SIZE", "OMP_NUM_THREADS", "OMPI_MCA_io",
)  # fmt: skip


@pytest.mark.parametrize("name", CODE)
def test_what_can_run_code_is_refused(name):
    carried = Configuration(job=JobSettings(environment={name: "x"}))
    assert refused_variables(carried) == [name]
    assert refused_variables(carried, (name,)) == []


@pytest.mark.parametrize("key", MCA_CODE)
def test_parameters_that_can_run_code_are_refused(key):
    name = f"OMPI_MCA_{key}"
    assert refused_variables(Configuration(job=JobSettings(mca={key: "x"}))) == [name]
    assert refused_variables(Configuration(job=JobSettings(environment={name: "x"}))) == [name]


@pytest.mark.parametrize("name", TUNING)
def test_what_tunes_may_be_carried(name):
    assert refused_variables(Configuration(job=JobSettings(environment={name: "x"}))) == []


def test_every_parameter_that_is_known_may_be_carried():
    known = {t.key: "x" for t in all_tunables() if t.layer is Layer.MCA}
    assert known
    assert refused_variables(Configuration(job=JobSettings(mca=known))) == []
