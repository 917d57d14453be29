# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from stripewise.model import VerificationStatus
from stripewise.study import _verify
from stripewise.study._bytes import bytes_differ
from stripewise.study._verify import Reference, compare
from stripewise.study.contents import Hdf5, _base

compare_content = Hdf5().differences

IDENTICAL = VerificationStatus.IDENTICAL
SAME = VerificationStatus.SAME_CONTENT
DIFFERENT = VerificationStatus.DIFFERENT
NOT_VERIFIABLE = VerificationStatus.NOT_VERIFIABLE


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    made = tuple(tmp_path / name for name in "abc")
    for path in made:
        path.mkdir()
    return made  # type: ignore[return-value]


def fill(runs: tuple[Path, Path, Path], name: str, *contents: bytes | None) -> None:
    for run, content in zip(runs, contents, strict=True):
        if content is not None:
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (run / name).write_bytes(content)


# -- plain files -----------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [False, True])
def test_equal_files_are_identical(runs, layout):
    fill(runs, "out/x.dat", b"1" * 100, b"1" * 100, b"1" * 100)
    fill(runs, "empty", b"", b"", b"")
    result = compare(*runs, layout=layout)
    assert result.status is IDENTICAL
    assert result.compared == ("empty", "out/x.dat")


@pytest.mark.parametrize("layout", [False, True])
@pytest.mark.parametrize("offset", [0, 4095, (8 << 20) - 1, 8 << 20, (8 << 20) + 17])
def test_one_flipped_bit_is_found_with_its_offset(runs, layout, offset):
    good = bytearray((8 << 20) + 18)
    bad = bytearray(good)
    bad[offset] ^= 1
    fill(runs, "x.dat", bytes(good), bytes(good), bytes(bad))
    result = compare(*runs, layout=layout)
    assert result.status is DIFFERENT
    assert str(offset) in result.differences["x.dat"]


def test_shorter_file(runs):
    fill(runs, "x", b"abc", b"abc", b"ab")
    result = compare(*runs, layout=True)
    assert "3 and 2 bytes, otherwise the same" in result.differences["x"]


def test_missing_and_extra_files(runs):
    fill(runs, "x", b"abc", b"abc", None)
    fill(runs, "y", None, None, b"abc")
    result = compare(*runs, layout=False)
    assert result.status is DIFFERENT
    assert result.differences["x"].startswith("missing")
    assert result.differences["y"].startswith("extra")


def test_a_log_with_times_is_not_verifiable_but_the_rest_is(runs):
    fill(runs, "log", b"12:01", b"12:02", b"12:03")
    fill(runs, "data", b"x" * 1000, b"x" * 1000, b"x" * 1000)
    result = compare(*runs, layout=False)
    assert result.status is IDENTICAL
    assert "first at offset 4" in result.not_verifiable["log"]
    assert result.compared == ("data",)


def test_mostly_incomparable_output_is_not_verifiable(runs):
    fill(runs, "random", b"1" * 1000, b"2" * 1000, b"3" * 1000)
    fill(runs, "data", b"x" * 900, b"x" * 900, b"x" * 900)
    assert compare(*runs, layout=False).status is NOT_VERIFIABLE


def test_a_difference_outweighs_not_verifiable(runs):
    fill(runs, "random", b"1" * 1000, b"2" * 1000, b"3" * 1000)
    fill(runs, "data", b"x", b"x", b"y")
    assert compare(*runs, layout=False).status is DIFFERENT


def test_nothing_written_is_not_verifiable(runs):
    result = compare(*runs, layout=False)
    assert result.status is NOT_VERIFIABLE
    assert result.not_verifiable


def test_a_not_verifiable_file_that_became_empty_differs(runs):
    fill(runs, "log", b"1", b"2", b"")
    fill(runs, "data", b"x" * 100, b"x" * 100, b"x" * 100)
    assert "empty" in compare(*runs, layout=False).differences["log"]


def test_names_that_change_from_run_to_run(runs):
    for run, pid in zip(runs, (101, 222, 31415), strict=True):
        (run / f"out.{pid}").write_bytes(b"x")
        (run / "data").write_bytes(b"y" * 100)
    result = compare(*runs, layout=False)
    assert result.status is IDENTICAL
    assert "name changes" in result.not_verifiable["out.31415"]
    (runs[2] / "surprise").write_bytes(b"")
    assert list(compare(*runs, layout=False).differences) == ["surprise"]


def test_links_are_compared_by_target(runs):
    for run in runs:
        (run / "data").write_bytes(b"x")
        (run / "latest").symlink_to("data")
    assert compare(*runs, layout=False).status is IDENTICAL
    (runs[2] / "latest").unlink()
    (runs[2] / "latest").symlink_to("other")
    assert "link" in compare(*runs, layout=False).differences["latest"]


def test_names_that_are_not_utf8(runs):
    name = os.fsdecode(b"caf\xe9.h5")
    for run in runs:
        with h5py.File(os.fsencode(run / name), "w") as file:
            file["x"] = [1, 2]
    assert compare(*runs, layout=True).compared == ("caf\\xe9.h5",)
    with h5py.File(os.fsencode(runs[2] / name), "r+") as file:
        file["x"][0] = 7
    assert "/x" in compare(*runs, layout=True).differences["caf\\xe9.h5"]


def test_bytes_differ_of_unreadable_file(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert "cannot be read" in bytes_differ(tmp_path / "a", tmp_path / "none")


# -- HDF5 ------------------------------------------------------------------------------------


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


# -- HDF5 among the rules --------------------------------------------------------------------


def write_runs(runs: tuple[Path, Path, Path], change: Callable[[h5py.File, int], None]) -> None:
    for index, run in enumerate(runs):
        with h5py.File(run / "x.h5", "w", alignment_interval=512 if index == 2 else 1) as file:
            file["data"] = np.arange(1000.0)
            change(file, index)


def test_layout_settings_compare_content(runs):
    write_runs(runs, lambda _file, _index: None)
    (runs[2] / "x.h5").write_bytes((runs[2] / "x.h5").read_bytes())
    with h5py.File(runs[2] / "x.h5", "w", libver="latest") as file:
        file.create_dataset("data", data=np.arange(1000.0), chunks=(64,))
    assert compare(*runs, layout=True).status is SAME
    result = compare(*runs, layout=False)
    assert result.status is DIFFERENT
    assert "HDF5 content is the same" in result.differences["x.h5"]


def test_baselines_with_other_bytes_but_the_same_content(runs):
    write_runs(runs, lambda _file, _index: None)
    for run, chunk in zip(runs, (10, 20, 30), strict=True):
        with h5py.File(run / "x.h5", "w") as file:
            file.create_dataset("data", data=np.arange(1000.0), chunks=(chunk,))
    assert compare(*runs, layout=False).status is SAME
    with h5py.File(runs[2] / "x.h5", "r+") as file:
        file["data"][5] = 0
    assert compare(*runs, layout=False).status is DIFFERENT


def test_a_time_in_an_attribute_does_not_hide_the_data(runs):
    write_runs(runs, lambda file, index: file.attrs.__setitem__("time", f"12:0{index}"))
    result = compare(*runs, layout=True)
    assert result.status is SAME
    assert list(result.not_verifiable) == ["x.h5 /@time"]
    with h5py.File(runs[2] / "x.h5", "r+") as file:
        file["data"][5] = 0
    assert "/data" in compare(*runs, layout=True).differences["x.h5"]


def test_random_data_in_hdf5_are_not_verifiable(runs):
    write_runs(runs, lambda file, index: file["data"].__setitem__(3, -index))
    assert compare(*runs, layout=True).status is NOT_VERIFIABLE


def _damage(path: Path, name: str) -> None:
    """Overwrite the first chunk of a dataset, so that its checksum fails."""
    with h5py.File(path) as file:
        offset = file[name].id.get_chunk_info(0).byte_offset
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(b"\xff" * 16)


def _checked(run: Path, chunk: int) -> Path:
    with h5py.File(run / "x.h5", "w") as file:
        file.create_dataset("data", data=np.arange(1000.0), chunks=(chunk,), fletcher32=True)
        file.create_dataset("more", data=np.arange(9000.0), chunks=(900,))
    return run / "x.h5"


@pytest.mark.parametrize("chunks", [(100, 100, 50), (100, 200, 50)])
def test_what_only_the_candidate_cannot_give_differs(runs, chunks):
    for run, chunk in zip(runs, chunks, strict=True):
        _checked(run, chunk)
    assert compare(*runs, layout=True).status is SAME
    _damage(runs[2] / "x.h5", "data")
    result = compare(*runs, layout=True)
    assert result.status is DIFFERENT
    assert "/data: cannot be compared" in result.differences["x.h5"]
    assert result.not_verifiable == {}


@pytest.mark.parametrize("name", ["data", "more"])
def test_what_the_baseline_cannot_give_either_is_lost(runs, name):
    for run, chunk in zip(runs, (100, 100, 50), strict=True):
        with h5py.File(run / "x.h5", "w") as file:
            for part, n in (("data", 1000), ("more", 9000)):
                values = np.arange(float(n))
                file.create_dataset(part, data=values, chunks=(chunk,), fletcher32=True)
        _damage(run / "x.h5", name)
    reference = Reference(runs[0], runs[1])
    for _ in range(2):
        result = reference.verify(runs[2], layout=True)
        assert list(result.not_verifiable) == [f"x.h5 /{name}"]
        assert result.status is (SAME if name == "data" else NOT_VERIFIABLE)


@pytest.mark.parametrize(("n_items", "most"), [(1500, 2000), (300, 200)])
def test_many_items_may_differ_between_baselines(runs, monkeypatch, n_items, most):
    monkeypatch.setattr(_verify, "_MOST_UNSTABLE", most)

    def stamp(file: h5py.File, index: int) -> None:
        for number in range(n_items):
            file.create_group(f"g{number}").attrs["made"] = index

    write_runs(runs, stamp)
    result = compare(*runs, layout=True)
    if n_items > most:
        assert result.status is NOT_VERIFIABLE
        assert result.not_verifiable == {"x.h5": "two baselines differ in 200 items or more"}
        return
    assert result.status is SAME
    assert result.not_verifiable["x.h5 (more)"] == "1400 more items"
    assert len(result.not_verifiable) == 101


def test_layout_settings_keep_other_files_bytewise(runs):
    fill(runs, "x", b"abc", b"abc", b"abd")
    assert compare(*runs, layout=True).status is DIFFERENT


def test_hdf5_that_is_none_any_more(runs):
    write_runs(runs, lambda _file, _index: None)
    (runs[2] / "x.h5").write_bytes(b"oops")
    assert "not an HDF5 file" in compare(*runs, layout=True).differences["x.h5"]


def test_reference_serves_many_candidates(runs):
    write_runs(runs, lambda _file, _index: None)
    reference = Reference(runs[0], runs[1])
    assert reference.verify(runs[1], layout=True).status is IDENTICAL
    assert reference.verify(runs[0], layout=False).status is IDENTICAL
