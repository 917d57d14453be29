# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of NetCDF and ADIOS2 are compared by content; HDF5's are in test_verify.py."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from stripewise.model import VerificationStatus
from stripewise.study._units import units_of
from stripewise.study._verifiable import unreadable
from stripewise.study._verify import compare
from stripewise.study.contents import FORMATS, AdiosBp, ClassicNetcdf, _adios, _base, format_of
from stripewise.study.contents._adios_read import compare as read_bp

IDENTICAL = VerificationStatus.IDENTICAL
SAME = VerificationStatus.SAME_CONTENT
DIFFERENT = VerificationStatus.DIFFERENT
NOT_VERIFIABLE = VerificationStatus.NOT_VERIFIABLE
KINDS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")

netcdf_differences = ClassicNetcdf().differences
bp_differences = AdiosBp().differences


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    made = tuple(tmp_path / name for name in "abc")
    for path in made:
        path.mkdir()
    return made  # type: ignore[return-value]


# -- classic NetCDF --------------------------------------------------------------------------


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


# -- ADIOS2 ----------------------------------------------------------------------------------

ENGINES = ("BP4", "BP5")


def write_bp(
    path: Path,
    engine: str = "BP5",
    *,
    ends: tuple[int, ...] = (2, 4),
    steps: int = 2,
    change: Callable[[int, dict[str, Any]], None] = lambda step, values: None,
) -> Path:
    """A global array written in blocks that end at these rows, one with local blocks, values."""
    adios2 = pytest.importorskip("adios2")
    io = adios2.Adios().declare_io("out")
    io.set_engine(engine)
    with adios2.Stream(io, str(path), "w") as stream:
        for step in range(steps):
            values: dict[str, Any] = {
                "T": np.arange(24.0).reshape(4, 6) + step,
                "nan": np.array([np.nan, -0.0], "f4"),
                "growing": np.ones(step + 1, "i4"),
                "local": [np.arange(3.0), np.arange(2.0) + step],
                "complex": np.array([1 + 2j, 3]),
                "number": np.array(step, "i8"),
                "name": f"step {step}",
                "/units": "K",
                "/range": np.array([1, 2]),
                "/words": ["a", "b"],
            }
            change(step, values)
            stream.begin_step()
            write_step(stream, step, values, ends)
            stream.end_step()
    return path


def write_step(stream: Any, step: int, values: dict[str, Any], ends: tuple[int, ...]) -> None:
    for name, value in values.items():
        if name.startswith("/"):
            if step == 0:
                stream.write_attribute(name[1:], value)
        elif name == "T":
            for start, end in zip((0, *ends), ends, strict=False):
                part = np.ascontiguousarray(value[start:end])
                stream.write(name, part, list(value.shape), [start, 0], list(part.shape))
        elif name == "local":
            for block in value:
                stream.write(name, block, [], [], list(block.shape))
        elif isinstance(value, np.ndarray) and value.ndim:
            stream.write(name, value, list(value.shape), [0] * value.ndim, list(value.shape))
        else:
            stream.write(name, value)


@pytest.mark.parametrize("engine", ENGINES)
def test_bp_of_other_blocks_is_the_same(engine: str, tmp_path: Path) -> None:
    one = write_bp(tmp_path / "a.bp", engine)
    two = write_bp(tmp_path / "b.bp", engine, ends=(1, 3, 4))
    found = bp_differences(one, two)
    assert (found.differences, found.unknown) == ({}, {})
    assert found.bytes_of["/T"] == 2 * 24 * 8
    assert isinstance(format_of(one), AdiosBp)


def test_bp_of_two_versions_is_the_same(tmp_path: Path) -> None:
    found = bp_differences(write_bp(tmp_path / "a.bp", "BP4"), write_bp(tmp_path / "b.bp", "BP5"))
    assert (found.differences, found.unknown) == ({}, {})


def _put(name: str, value: Any, at: int = 1) -> Callable[[int, dict[str, Any]], None]:
    def change(step: int, values: dict[str, Any]) -> None:
        if step == at:
            values[name] = value

    return change


def _lose(name: str) -> Callable[[int, dict[str, Any]], None]:

    def change(step: int, values: dict[str, Any]) -> None:
        del values[name]

    return change


def _poke(step: int, values: dict[str, Any]) -> None:
    values["T"][3, 5] += step


BP_PLANTED: dict[str, tuple[str, str, Callable[[int, dict[str, Any]], None]]] = {
    "element": ("/T", "step 1: element [3, 5] differs", _poke),
    "plus zero": (
        "/nan",
        "step 1: element [1] differs",
        _put("nan", np.array([np.nan, 0.0], "f4")),
    ),
    "value": ("/number", "step 1: element [0] differs", _put("number", np.array(7, "i8"))),
    "string": ("/name", "step 1: the value differs", _put("name", "other")),
    "complex": ("/complex", "step 1: element [0] differs", _put("complex", np.array([1 - 2j, 3]))),
    "shape": ("/growing", "step 1: shape", _put("growing", np.ones(5, "i4"))),
    "block": (
        "/local",
        "step 1: block 1: element [1] differs",
        _put("local", [np.arange(3.0), np.array([1.0, 9.0])]),
    ),
    "blocks": ("/local", "step 1: shape", _put("local", [np.arange(3.0)])),
    "missing": ("/complex", "step 0: is missing", _lose("complex")),
    "new": ("/more", "step 1: is new", _put("more", np.ones(2))),
    "attribute": ("/@units", "value", _put("/units", "C", at=0)),
    "attribute numbers": ("/@range", "value", _put("/range", np.array([1, 3]), at=0)),
    "attribute words": ("/@words", "value", _put("/words", ["a", "c"], at=0)),
    "lost attribute": ("/@units", "is missing", _lose("/units")),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", BP_PLANTED)
def test_planted_difference_in_bp(kind: str, engine: str, tmp_path: Path) -> None:
    item, what, change = BP_PLANTED[kind]
    one = write_bp(tmp_path / "a.bp", engine)
    two = write_bp(tmp_path / "b.bp", engine, ends=(1, 4), change=change)
    found = read_bp(str(one), str(two), ())
    assert found.differences.keys() == {item}
    assert found.differences[item].startswith(what)
    assert found.unknown == {}
    assert found.bytes_of["/T"] == 2 * 24 * 8


def test_another_number_of_steps(tmp_path: Path) -> None:
    one, two = write_bp(tmp_path / "a.bp"), write_bp(tmp_path / "b.bp", steps=1)
    assert bp_differences(one, two).differences["/"] == "fewer than 1 steps"
    assert bp_differences(two, one).differences["/"] == "more than 1 steps"


def test_large_bp_goes_in_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = write_bp(tmp_path / "a.bp"), write_bp(tmp_path / "b.bp", change=_poke)
    monkeypatch.setattr(_base, "BLOCK_BYTES", 32)
    found = read_bp(str(one), str(two), ())
    assert found.differences == {"/T": "step 1: element [3, 5] differs"}


@pytest.mark.parametrize("name", ["md.idx", "md.0", "data.0"])
@pytest.mark.parametrize("engine", ENGINES)
def test_damaged_bp_is_not_the_same(engine: str, name: str, tmp_path: Path) -> None:
    """Truncated, ADIOS2 waits for the rest of some of them."""
    one, two = write_bp(tmp_path / "a.bp", engine), write_bp(tmp_path / "b.bp", engine)
    (two / name).write_bytes((two / name).read_bytes()[:40])
    found = AdiosBp(base_seconds=4.0).differences(one, two)
    assert found.differences or found.unknown


@pytest.mark.parametrize("engine", ENGINES)
def test_truncated_bp_is_different(engine: str, runs: tuple[Path, Path, Path]) -> None:
    for run, ends in zip(runs, ((2, 4), (2, 4), (1, 4)), strict=True):
        write_bp(run / "x.bp", engine, ends=ends)
    data = runs[2] / "x.bp" / "data.0"
    data.write_bytes(data.read_bytes()[:40])
    result = compare(*runs, layout=True)
    assert result.status is DIFFERENT
    assert "cannot be" in result.differences["x.bp"]
    assert "\x1b" not in result.differences["x.bp"]
    assert result.not_verifiable == {}


def test_a_reader_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write_bp(tmp_path / "a.bp")
    monkeypatch.setattr(_adios, "_READER", "this")
    monkeypatch.setattr(_adios, "_LEAST_BYTES_PER_SECOND", 1e12)
    found = AdiosBp(base_seconds=0.0).differences(one, one)
    assert "did not end within 0 s" in found.unknown["/"]


@pytest.mark.parametrize("engine", ENGINES)
def test_baselines_of_other_numbers_of_steps(engine: str, runs: tuple[Path, Path, Path]) -> None:
    for run, steps in zip(runs, (2, 1, 2), strict=True):
        write_bp(run / "x.bp", engine, steps=steps, change=_poke)
    result = compare(*runs, layout=True)
    assert result.status is NOT_VERIFIABLE
    assert result.not_verifiable == {"x.bp": "two baselines differ: fewer than 1 steps"}
    assert result.compared == ()


# -- directories as one output ---------------------------------------------------------------


def as_with_two_aggregators(path: Path) -> None:
    """A second subfile beside the first one; what reads BP opens only those in its index."""
    (path / "data.1").write_bytes(b"")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_directory_is_one_output(engine: str, runs: tuple[Path, Path, Path]) -> None:
    for run in runs:
        (run / "out").mkdir()
        write_bp(run / "out" / "x.bp", engine)
        (run / "out" / "log").write_text("done\n")
    units = units_of(runs[0])
    assert units.keys() == {"out/x.bp", "out/log"}
    assert "profiling.json" not in units["out/x.bp"].members
    result = compare(*runs, layout=False)
    assert result.status in (IDENTICAL, SAME)  # BP4 keeps the time
    assert result.compared == ("out/log", "out/x.bp")
    assert result.not_verifiable == {}


def test_other_files_inside_are_layout(runs: tuple[Path, Path, Path]) -> None:
    for run in runs:
        write_bp(run / "x.bp")
    as_with_two_aggregators(runs[2] / "x.bp")
    assert compare(*runs, layout=True).status is SAME
    result = compare(*runs, layout=False)
    assert result.status is DIFFERENT
    wanted = "data.1 is new (the ADIOS2 BP content is the same)"
    assert result.differences == {"x.bp": wanted}


@pytest.mark.parametrize("name", ["notes.txt", "data.txt", "deeper/data.0"])
def test_files_inside_that_are_not_of_adios2(name: str, runs: tuple[Path, Path, Path]) -> None:
    for run in runs:
        own = write_bp(run / "x.bp") / name
        own.parent.mkdir(exist_ok=True)
        own.write_text("the same")
    assert units_of(runs[0]).keys() == {"x.bp", f"x.bp/{name}"}
    assert compare(*runs, layout=True).status is IDENTICAL
    (runs[2] / "x.bp" / name).write_text("the sane")
    assert compare(*runs, layout=True).differences.keys() == {f"x.bp/{name}"}
    (runs[2] / "x.bp" / name).unlink()
    assert "missing" in compare(*runs, layout=True).differences[f"x.bp/{name}"]


def test_an_output_inside_another(runs: tuple[Path, Path, Path]) -> None:
    for run in runs:
        write_bp(write_bp(run / "x.bp") / "y.bp", change=_poke)
    assert units_of(runs[0]).keys() == {"x.bp", "x.bp/y.bp"}
    assert compare(*runs, layout=True).compared == ("x.bp", "x.bp/y.bp")


def test_a_lost_or_plain_directory(runs: tuple[Path, Path, Path]) -> None:
    for run in runs[:2]:
        write_bp(run / "x.bp")
    assert "missing" in compare(*runs, layout=True).differences["x.bp"]
    (runs[2] / "x.bp").write_text("no directory")
    assert (
        compare(*runs, layout=True).differences["x.bp"]
        == "not an ADIOS2 BP directory, the baseline's is"
    )


def test_the_runs_own_directory_is_no_output(tmp_path: Path) -> None:
    (tmp_path / "md.idx").write_text("someone's own file")
    assert units_of(tmp_path).keys() == {"md.idx"}


def test_random_data_in_bp_are_not_verifiable(runs: tuple[Path, Path, Path]) -> None:
    for index, run in enumerate(runs):
        write_bp(run / "x.bp", change=_put("T", np.full((4, 6), float(index)), at=index % 2))
    result = compare(*runs, layout=True)
    assert "two baselines differ" in result.not_verifiable["x.bp /T"]


@pytest.mark.parametrize("same_baselines", [True, False])
def test_without_the_reader_layout_settings_are_rejected(
    same_baselines: bool, runs: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bp(runs[0] / "x.bp")
    if same_baselines:
        shutil.copytree(runs[0] / "x.bp", runs[1] / "x.bp")
    else:
        write_bp(runs[1] / "x.bp", ends=(3, 4))
    write_bp(runs[2] / "x.bp", ends=(1, 4))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = compare(*runs, layout=True)
    assert result.status is DIFFERENT
    assert result.differences == {"x.bp": "not verifiable: install stripewise[adios2]"}
    assert unreadable(runs[0]).startswith("x.bp is an ADIOS2 BP directory: not verifiable")
    safe = compare(*runs, layout=False)
    assert safe.status is (DIFFERENT if same_baselines else NOT_VERIFIABLE)


def test_readable_outputs(runs: tuple[Path, Path, Path]) -> None:
    write_bp(runs[0] / "x.bp")
    write_netcdf(runs[0] / "x.nc")
    (runs[0] / "log").write_text("done")
    assert unreadable(runs[0]) == ""


def test_every_format_says_what_it_is(tmp_path: Path) -> None:
    for one in FORMATS:
        assert one.title
        assert one.noun.startswith(("a ", "an "))
        assert not one.matches(tmp_path / "nothing")
        assert not one.matches(tmp_path)
