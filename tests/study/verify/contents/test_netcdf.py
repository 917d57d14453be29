# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classic NetCDF files are compared by content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from stripewise.core import VerificationStatus
from stripewise.study.verify import _base, format_of
from stripewise.study.verify._netcdf import ClassicNetcdf
from support.outputs import compare

SAME = VerificationStatus.SAME_CONTENT
DIFFERENT = VerificationStatus.DIFFERENT
KINDS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")


def netcdf_differences(one: Path, two: Path) -> _base.ContentDifferences:
    return ClassicNetcdf().differences(_base.Pair(one, two))


def write_netcdf(path: Path, kind: str = KINDS[0], step: int = 1) -> Path:
    """All types, fixed and record variables, a NaN; `step` -1 defines everything backwards."""
    more = "u1 u2 u4 i8 u8".split() if kind.endswith("DATA") else []
    fixed = {f"v_{name}": name for name in ["i1", "i2", "i4", "f4", "f8", "S1", *more]}
    values: dict[str, Any] = {name: np.arange(12).reshape(4, 3) for name in fixed}
    values["v_S1"] = np.frombuffer(b"abcdefghijkl", "S1").reshape(4, 3)
    values["v_f8"] = np.where(np.arange(12).reshape(4, 3) == 5, np.nan, 1.0)
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for name, size in [("x", 4), ("y", 3), ("t", None)][::step]:
            file.createDimension(name, size)
        attributes = {
            "title": "caf\u00e9",
            "version": np.int16(3),
            "range": np.array([1.5, np.nan]),
        }
        for name in list(attributes)[::step]:
            file.setncattr(name, attributes[name])
        for name in list(fixed)[::step]:
            file.createVariable(name, fixed[name], ("x", "y"))
        file.createVariable("growing", "f8", ("t", "x")).units = "K"
        file.createVariable("scalar", "f8", ())
        for name, value in values.items():
            file[name][...] = value
        file["growing"][:2] = np.arange(8.0).reshape(2, 4)
        file["scalar"][...] = 7.5
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_netcdf_of_another_layout_is_the_same(kind: str, tmp_path: Path) -> None:
    one = write_netcdf(tmp_path / "a", kind)
    two = write_netcdf(tmp_path / "b", kind, step=-1)
    assert one.read_bytes() != two.read_bytes()
    found = netcdf_differences(one, two)
    assert (found.differences, found.unknown) == ({}, {})
    assert found.bytes_of["/growing"] == 64
    assert isinstance(format_of(one), ClassicNetcdf)


def _set(name: str, index: Any, value: Any) -> Callable[[netCDF4.Dataset], None]:
    def change(file: netCDF4.Dataset) -> None:
        file[name].set_auto_maskandscale(False)
        file[name][index] = value

    return change


NETCDF_PLANTED: dict[str, tuple[str, str, Callable[[netCDF4.Dataset], None]]] = {
    "element": ("/v_i4", "element [3, 2] differs", _set("v_i4", (3, 2), 99)),
    "text": ("/v_S1", "element [0, 1] differs", _set("v_S1", (0, 1), b"z")),
    "record": ("/growing", "element [1, 0] differs", _set("growing", (1, 0), -1.0)),
    "minus zero": ("/v_f4", "element [0, 0] differs", _set("v_f4", (0, 0), -0.0)),
    "other nan": (
        "/v_f8",
        "element [1, 2] differs",
        _set("v_f8", (1, 2), np.frombuffer(b"\1\0\0\0\0\0\xf8\x7f", "f8")[0]),
    ),
    "nan lost": ("/v_f8", "element [1, 2] differs", _set("v_f8", (1, 2), 0.0)),
    "scalar": ("/scalar", "element [] differs", _set("scalar", (), 8.0)),
    "records": ("dimension t", "length 2 (unlimited) and 3 (unlimited)", _set("growing", 2, 0.0)),
    "attribute": ("/@title", "value", lambda f: f.setncattr("title", "tea")),
    "attribute type": ("/@version", "value", lambda f: f.setncattr("version", np.int32(3))),
    "attribute nan": ("/@range", "value", lambda f: f.setncattr("range", [1.5, -np.nan])),
    "attribute of a variable": (
        "/growing@units",
        "value",
        lambda f: f["growing"].setncatts({"units": "C"}),
    ),
    "lost attribute": ("/@title", "is missing", lambda f: f.delncattr("title")),
    "new attribute": ("/@more", "is new", lambda f: f.setncattr("more", 1)),
    "new variable": ("/more", "is new", lambda f: f.createVariable("more", "i4", ("x",))),
    "renamed variable": ("/scalar", "is missing", lambda f: f.renameVariable("scalar", "vector")),
    "renamed dimension": ("dimension y", "is missing", lambda f: f.renameDimension("y", "z")),
}


@pytest.mark.parametrize("kind", NETCDF_PLANTED)
def test_planted_difference_in_netcdf(kind: str, tmp_path: Path) -> None:
    item, what, change = NETCDF_PLANTED[kind]
    one, two = write_netcdf(tmp_path / "a"), write_netcdf(tmp_path / "b", step=-1)
    with netCDF4.Dataset(two, "r+") as file:
        change(file)
    found = netcdf_differences(one, two)
    assert found.differences[item] == what
    assert found.unknown == {}


def test_netcdf_of_other_types_and_versions(tmp_path: Path) -> None:
    one = write_netcdf(tmp_path / "a", KINDS[0])
    two = write_netcdf(tmp_path / "b", KINDS[2])
    found = netcdf_differences(one, two)
    assert found.differences["/"] == "format NETCDF3_CLASSIC and NETCDF3_64BIT_DATA"
    assert found.differences["/v_u8"] == "is new"


def test_large_netcdf_goes_in_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        with netCDF4.Dataset(tmp_path / name, "w", format=KINDS[1]) as file:
            file.createDimension("x", 300)
            file.createDimension("y", 40)
            file.createVariable("v", "f8", ("x", "y"))[...] = np.arange(12000.0).reshape(300, 40)
            if name == "b":
                file["v"][299, 39] = 0
    monkeypatch.setattr(_base, "BLOCK_BYTES", 4096)
    found = netcdf_differences(tmp_path / "a", tmp_path / "b")
    assert found.differences == {"/v": "element [299, 39] differs"}


@pytest.mark.parametrize("damage", [lambda b: b[:60], lambda b: b[:4] + b"\xff" * 200])
def test_damaged_netcdf_is_unknown(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    one, two = write_netcdf(tmp_path / "a"), write_netcdf(tmp_path / "b")
    two.write_bytes(damage(two.read_bytes()))
    assert "cannot be read as NetCDF" in netcdf_differences(one, two).unknown["/"]


@pytest.mark.parametrize("name", ["http:x", "a#mode=bytes", "b\udcff"])
def test_names_are_taken_as_they_are(name: str, tmp_path: Path) -> None:
    found = netcdf_differences(write_netcdf(tmp_path / "a"), write_as(tmp_path, name))
    assert (found.differences, found.unknown) == ({}, {})


def write_as(where: Path, name: str) -> Path:
    return write_netcdf(where / "plain").rename(where / name)


def test_netcdf_among_the_rules(runs: tuple[Path, Path, Path]) -> None:
    for run, step in zip(runs, (1, 1, -1), strict=True):
        write_netcdf(run / "x.nc", step=step)
    assert compare(*runs, layout=True).status is SAME
    result = compare(*runs, layout=False)
    assert result.status is DIFFERENT
    assert "the NetCDF content is the same" in result.differences["x.nc"]
    with netCDF4.Dataset(runs[2] / "x.nc", "r+") as file:
        file["v_i4"][0, 0] = 5
    assert "/v_i4" in compare(*runs, layout=True).differences["x.nc"]


def test_a_date_in_netcdf_does_not_hide_the_data(runs: tuple[Path, Path, Path]) -> None:
    for index, run in enumerate(runs):
        with netCDF4.Dataset(write_netcdf(run / "x.nc"), "r+") as file:
            file.history = f"12:0{index}"
    result = compare(*runs, layout=False)
    assert result.status is SAME
    assert list(result.not_verifiable) == ["x.nc /@history"]
