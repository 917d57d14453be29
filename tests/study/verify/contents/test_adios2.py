# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""ADIOS2's directories are compared by content."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from stripewise.core import VerificationStatus
from stripewise.study.verify import FORMATS, _adios, _base, format_of, unreadable
from stripewise.study.verify._adios import AdiosBp
from stripewise.study.verify._adios import compare as read_bp
from stripewise.study.verify._compare import units_of
from stripewise.study.workspace import OutputSet
from support.outputs import compare

IDENTICAL = VerificationStatus.IDENTICAL
SAME = VerificationStatus.SAME_CONTENT
DIFFERENT = VerificationStatus.DIFFERENT
NOT_VERIFIABLE = VerificationStatus.NOT_VERIFIABLE
ENGINES = ("BP4", "BP5")


def bp_differences(one: Path, two: Path, base_seconds: float = 60.0) -> _base.ContentDifferences:
    return AdiosBp(base_seconds).differences(_base.Pair(one, two))


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
    found = read_bp(_base.Pair(one, two))
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
    found = read_bp(_base.Pair(one, two))
    assert found.differences == {"/T": "step 1: element [3, 5] differs"}


@pytest.mark.parametrize("name", ["md.idx", "md.0", "data.0"])
@pytest.mark.parametrize("engine", ENGINES)
def test_damaged_bp_is_not_the_same(engine: str, name: str, tmp_path: Path) -> None:
    """Truncated, ADIOS2 waits for the rest of some of them."""
    one, two = write_bp(tmp_path / "a.bp", engine), write_bp(tmp_path / "b.bp", engine)
    (two / name).write_bytes((two / name).read_bytes()[:40])
    found = bp_differences(one, two, base_seconds=4.0)
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
    found = bp_differences(one, one, base_seconds=0.0)
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
    units = units_of(OutputSet.of(runs[0]))
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
    assert units_of(OutputSet.of(runs[0])).keys() == {"x.bp", f"x.bp/{name}"}
    assert compare(*runs, layout=True).status is IDENTICAL
    (runs[2] / "x.bp" / name).write_text("the sane")
    assert compare(*runs, layout=True).differences.keys() == {f"x.bp/{name}"}
    (runs[2] / "x.bp" / name).unlink()
    assert "missing" in compare(*runs, layout=True).differences[f"x.bp/{name}"]


def test_an_output_inside_another(runs: tuple[Path, Path, Path]) -> None:
    for run in runs:
        write_bp(write_bp(run / "x.bp") / "y.bp", change=_poke)
    assert units_of(OutputSet.of(runs[0])).keys() == {"x.bp", "x.bp/y.bp"}
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
    assert units_of(OutputSet.of(tmp_path)).keys() == {"md.idx"}


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
    monkeypatch.setitem(sys.modules, "adios2", None)
    result = compare(*runs, layout=True)
    assert result.status is DIFFERENT
    assert result.differences == {
        "x.bp": "not verifiable: adios2 is not installed; run: pip install 'stripewise[adios2]'"
    }
    assert unreadable(OutputSet.of(runs[0])).startswith(
        "x.bp is an ADIOS2 BP directory: not verifiable"
    )
    safe = compare(*runs, layout=False)
    assert safe.status is (DIFFERENT if same_baselines else NOT_VERIFIABLE)


def test_readable_outputs(runs: tuple[Path, Path, Path]) -> None:
    write_bp(runs[0] / "x.bp")
    netCDF4.Dataset(runs[0] / "x.nc", "w", format="NETCDF3_CLASSIC").close()
    (runs[0] / "log").write_text("done")
    assert unreadable(OutputSet.of(runs[0])) == ""


def test_every_format_says_what_it_is(tmp_path: Path) -> None:
    for one in FORMATS:
        assert one.title
        assert one.noun.startswith(("a ", "an "))
        assert not one.matches(tmp_path / "nothing")
        assert not one.matches(tmp_path)
