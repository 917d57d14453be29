# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from stripewise.evidence.facts._facts import chosen_component, implementation, parse_components

TEXT = """mca:iof:orted:version:"mca:2.1.0"
mca:io:romio321:version:"mca:2.1.0"
mca:io:romio321:version:"api:2.0.0"
mca:io:ompio:version:"mca:2.1.0"
"""


def test_components() -> None:
    assert parse_components(TEXT) == ("ompio", "romio321")


@pytest.mark.parametrize(
    ("reported", "given", "chosen", "expected"),
    [
        ({}, {}, "", "ompio"),
        ({}, {}, "romio321", "romio"),
        ({}, {}, "^ompio", "romio"),
        ({"romio_ds_write": "automatic"}, {}, "", "romio"),
        ({"romio_ds_write": "disable"}, {"romio_ds_write": "disable"}, "", "ompio"),
    ],
)
def test_implementation(
    reported: dict[str, str], given: dict[str, str], chosen: str, expected: str
) -> None:
    assert implementation(reported, given, chosen) == expected


def test_the_command_line_wins_over_the_environment() -> None:
    command = ["mpiexec", "--mca", "io", "romio321", "-n", "2", "./a"]
    assert chosen_component([command], {"OMPI_MCA_io": "ompio"}) == "romio321"
    assert chosen_component([["mpiexec", "./a"]], {"OMPI_MCA_io": "ompio"}) == "ompio"
    assert chosen_component([], {}) == ""
