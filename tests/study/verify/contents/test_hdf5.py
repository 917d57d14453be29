# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files are compared by content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from stripewise.study.verify import _base
from stripewise.study.verify._compare import bytes_differ
from stripewise.study.verify._hdf5 import Hdf5


def compare_content(one: Path, two: Path) -> _base.ContentDifferences:
    return Hdf5().differences(_base.Pair(one, two))


def write(path: Path, **options: object) -> None:
    with h5py.File(path, "w", **options) as file:
        everything(file)


def everything(file: h5py.File) -> None:
    rng = np.random.default_rng(1)
    file["g/x"] = rng.standard_normal((40, 30))
    file["g/x"].attrs["units"] = "m"
    file["g/x"].attrs["scale"] = np.array([1.5, np.nan])
    file["g/z"] = file["g/x"]
    file["soft"] = h5py.SoftLink("/g/x")
    file["external"] = h5py.ExternalLink("other.h5", "/y")
    file["scalar"] = np.float32(3)
    file["empty"] = h5py.Empty("f8")
    file["nothing"] = np.zeros((0, 3))
    file["strings"] = ["a", "bcd", ""]
    file["fixed"] = np.array([b"ab", b"c"])
    file["nan"] = np.array([np.nan, np.inf, -0.0])
    ragged = file.create_dataset("ragged", 3, h5py.vlen_dtype("i4"))
    ragged[:] = [np.arange(n, dtype="i4") for n in (1, 0, 4)]
    compound = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    file["compound"] = np.array([(1, 2.0), (3, 4.0)], compound)
    mixed = np.dtype([("name", h5py.string_dtype()), ("n", "i4")])
    file["mixed"] = np.array([("one", 1), ("two", 2)], mixed)
    file["enum"] = np.array([0, 1], h5py.enum_dtype({"NO": 0, "YES": 1}, "i1"))
    file["array"] = np.zeros(2, np.dtype(("i4", (3,))).base)
    file["type"] = np.dtype("f4")
    refs = file.create_dataset("references", 3, h5py.ref_dtype)
    refs[0], refs[1] = file["g/x"].ref, file["g"].ref
    region = file.create_dataset("regions", 1, h5py.regionref_dtype)
    region[0] = file["g/x"].regionref[2:4, ::3]
    file.attrs["reference"] = file["g/x"].ref
    file.attrs["words"] = ["x", "y"]
    file.create_dataset("filled", 4, "i4", fillvalue=-9999)
    file.create_dataset("growing", (4, 5), maxshape=(None, 5), chunks=(2, 5), dtype="i2")
    file.create_dataset("huge", (1 << 40,), chunks=(1 << 16,), dtype="f8")
    cycle = file.create_group("cycle")
    cycle["self"] = cycle


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one.h5", "two.h5"):
        write(tmp_path / name)
    return tmp_path / "one.h5", tmp_path / "two.h5"


def test_equal_content(pair):
    found = compare_content(*pair)
    assert found.differences == {}
    assert found.unknown == {}


def test_other_layout_is_equal_content(tmp_path, pair):
    write(tmp_path / "two.h5", libver="latest", alignment_threshold=1, alignment_interval=4096)
    assert bytes_differ(*pair)
    found = compare_content(*pair)
    assert (found.differences, found.unknown) == ({}, {})


def _set(path: str, index: object, value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file[path][index] = value

    return change


def _replace(path: str, value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        del file[path]
        file[path] = value

    return change


def _attribute(path: str, name: str, value: object) -> Callable[[h5py.File], None]:
    return lambda file: file[path].attrs.__setitem__(name, value)


PLANTED: dict[str, tuple[str, Callable[[h5py.File], object]]] = {
    "element": ("/g/x", _set("g/x", (39, 29), 0.0)),
    "negative zero": ("/nan", _set("nan", 2, 0.0)),
    "nan bits": ("/nan", _set("nan", 0, np.frombuffer(b"\1\0\0\0\0\0\xf8\x7f")[0])),
    "scalar": ("/scalar", _set("scalar", (), 4)),
    "string": ("/strings", _set("strings", 1, "bcD")),
    "fixed string": ("/fixed", _set("fixed", 0, b"aB")),
    "ragged": ("/ragged", _set("ragged", 2, np.array([0, 1, 2, 4], "i4"))),
    "ragged length": ("/ragged", _set("ragged", 1, np.array([0], "i4"))),
    "compound": ("/compound", _set("compound", 1, (3, 5.0))),
    "mixed": ("/mixed", _set("mixed", 0, ("One", 1))),
    "enum": ("/enum", _set("enum", 0, 1)),
    "shape": ("/nothing", _replace("nothing", np.zeros((0, 4)))),
    "type": ("/fixed", _replace("fixed", np.array([b"abc", b"c"]))),
    "byte order": ("/enum", _replace("enum", np.array([0, 1], ">i2"))),
    "named type": ("/type", _replace("type", np.dtype("f8"))),
    "null space": ("/empty", _replace("empty", np.zeros(0))),
    "kind": ("/scalar", lambda f: (f.__delitem__("scalar"), f.create_group("scalar"))),
    "missing": ("/strings", lambda f: f.__delitem__("strings")),
    "new": ("/g/new", lambda f: f.create_group("g/new")),
    "soft link": ("/soft", _replace("soft", h5py.SoftLink("/g/y"))),
    "external link": ("/external", _replace("external", h5py.ExternalLink("o.h5", "/y"))),
    "hard link": ("/g/z", lambda f: (f.__delitem__("g/z"), f.copy("g/x", "g/z"))),
    "reference": ("/references", lambda f: _set("references", 1, f["g/x"].ref)(f)),
    "null reference": ("/references", lambda f: _set("references", 2, f["g/x"].ref)(f)),
    "region": ("/regions", lambda f: _set("regions", 0, f["g/x"].regionref[2:4, ::4])(f)),
    "attribute": ("/g/x@units", _attribute("g/x", "units", "k")),
    "attribute type": ("/g/x@units", _attribute("g/x", "units", np.bytes_(b"m"))),
    "attribute shape": ("/g/x@scale", _attribute("g/x", "scale", [[1.5, 2.5]])),
    "attribute nan": ("/g/x@scale", _attribute("g/x", "scale", [1.5, -np.nan])),
    "new attribute": ("/@new", _attribute("/", "new", 1)),
    "lost attribute": ("/g/x@units", lambda f: f["g/x"].attrs.__delitem__("units")),
    "reference attribute": ("/@reference", lambda f: _attribute("/", "reference", f["g"].ref)(f)),
    "string attribute": ("/@words", _attribute("/", "words", ["x", "z"])),
    "fill value": (
        "/filled",
        lambda f: (f.__delitem__("filled"), f.create_dataset("filled", 4, "i4", fillvalue=-1)),
    ),
    "extent limit": (
        "/growing",
        lambda f: (
            f.__delitem__("growing"),
            f.create_dataset("growing", (4, 5), maxshape=(8, 5), chunks=(2, 5), dtype="i2"),
        ),
    ),
    "late chunk": ("/growing", _set("growing", (3, 4), 1)),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_difference_is_found_where_it_is(pair, kind):
    item, change = PLANTED[kind]
    with h5py.File(pair[1], "r+") as file:
        change(file)
    found = compare_content(*pair)
    assert item in found.differences, found
    assert found.unknown == {}
    others = {other for other in found.differences if not other.startswith(item.split("@")[0])}
    assert others <= {"/references", "/regions", "/soft", "/scalar"}


def test_chunking_and_filters_are_not_content(tmp_path):
    data = np.arange(3000, dtype="i4").reshape(30, 100)
    with h5py.File(tmp_path / "a", "w") as file:
        file["x"] = data
    with h5py.File(tmp_path / "b", "w") as file:
        file.create_dataset("x", data=data, chunks=(7, 9), compression="gzip")
    assert compare_content(tmp_path / "a", tmp_path / "b").differences == {}


def test_large_data_go_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_base, "BLOCK_BYTES", 4096)
    data = np.arange(60_000, dtype="i8").reshape(30, 40, 50)
    for name in "ab":
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("x", data=data, chunks=(4, 7, 11))
    assert compare_content(tmp_path / "a", tmp_path / "b").differences == {}
    with h5py.File(tmp_path / "b", "r+") as file:
        file["x"][29, 3, 49] = 0
    found = compare_content(tmp_path / "a", tmp_path / "b")
    assert found.differences == {"/x": "element [29, 3, 49] differs"}


@pytest.mark.parametrize(
    ("dims", "size", "chunk"),
    [((5, 7), 8, None), ((0, 3), 8, None), ((100,), 1, (7,)), ((3, 500, 11), 8, (1, 64, 11))],
)
def test_blocks_cover_every_element_once(monkeypatch, dims, size, chunk):
    monkeypatch.setattr(_base, "BLOCK_BYTES", 256)
    seen = np.zeros(dims, int)
    for start, count in _base.boxes(dims, size, chunk):
        seen[tuple(slice(b, b + n) for b, n in zip(start, count, strict=True))] += 1
        assert np.prod(count) * size <= 256
    assert (seen == 1).all()


def test_truncated_hdf5_is_not_readable(pair):
    pair[1].write_bytes(pair[1].read_bytes()[:3000])
    assert "cannot be read as HDF5" in compare_content(*pair).unknown["/"]
