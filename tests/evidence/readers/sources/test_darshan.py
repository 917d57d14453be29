# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Darshan logs: those inside the PyDarshan package, broken ones, and a library that crashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from stripewise.core import Amount, ReportedPart
from stripewise.core.errors import RuntimeMissingError, TraceError
from stripewise.evidence.diagnosis import diagnose
from stripewise.evidence.readers import read_evidence, recognise
from stripewise.evidence.readers.darshan import _isolated
from stripewise.evidence.readers.darshan._counters import Files, counter_rows
from stripewise.evidence.readers.darshan._isolated import RawLog
from stripewise.evidence.readers.darshan._read import (
    DarshanSource,
    _impossible,
    _layout,
    heat_rows,
)
from stripewise.evidence.trace import FileLayout, IoLayer, Op, RunProfile, accesses
from support.darshan_logs import record_of, write_log

darshan = pytest.importorskip("darshan")
PACKAGE = Path(darshan.__file__).parent
EXAMPLES = PACKAGE / "examples" / "example_logs"


def _package_logs() -> list[Path]:
    """Each log once; some lie in the package twice."""
    by_content = {
        hashlib.sha256(path.read_bytes()).digest(): path
        for path in sorted(PACKAGE.rglob("*.darshan"))
    }
    return sorted(by_content.values())


@pytest.mark.parametrize("path", _package_logs(), ids=lambda path: path.name[:30])
def test_every_log_of_the_package_gives_a_profile(path: Path) -> None:
    profile = read_evidence(path).profile
    assert profile.source.startswith("Darshan 3.")
    assert profile.n_ranks > 0
    assert profile.elapsed_seconds > 0
    assert len(profile.counters)
    assert (profile.counters["outermost_seconds"] >= 0).all()
    moved = profile.counters["outermost_read_bytes"] + profile.counters["outermost_write_bytes"]
    assert moved.sum() > 0
    assert not profile.partial
    assert not profile.hints  # the log's own hints are Darshan's, not the program's


def test_shared_records_keep_slowest_and_fastest_rank() -> None:
    profile = DarshanSource().read(EXAMPLES / "example.darshan").profile
    rows = profile.counters
    (row,) = rows[(rows["rank"] == -2) & (rows["layer"] == IoLayer.MPIIO)]
    assert profile.paths[row["file"]].endswith("vpicio.hdf5")
    assert row["slowest_rank"] >= 0
    assert row["slowest_seconds"] > row["fastest_seconds"] > 0
    assert row["seconds_deviation"] > 0
    assert row["count"][Op.WRITE_COLLECTIVE] == 16384
    assert row["bytes"].sum() == row["outermost_write_bytes"]
    (lower,) = rows[(rows["file"] == row["file"]) & (rows["layer"] == IoLayer.POSIX)]
    assert lower["outermost_write_bytes"] == 0
    assert lower["maximum_offset"] >= lower["bytes"][Op.WRITE]
    assert profile.layouts[int(row["file"])].stripe_count == 24
    assert len(profile.layouts[int(row["file"])].targets) == 24
    assert any("sums over ranks" in note for note in profile.notes)
    assert any("single calls were not recorded" in note for note in profile.notes)


def test_counters_are_pydarshans() -> None:
    path = EXAMPLES / "ior_hdf5_example.darshan"
    report = darshan.DarshanReport(str(path), read_all=True)
    frame = report.records["POSIX"].to_df()["counters"]
    rows = DarshanSource().read(path).profile.counters
    mine = rows[rows["layer"] == IoLayer.POSIX]
    assert mine["bytes"][:, Op.WRITE].sum() == frame["POSIX_BYTES_WRITTEN"].sum()
    assert mine["count"][:, Op.READ].sum() == frame["POSIX_READS"].sum()
    assert mine["write_sizes"].sum() == frame["POSIX_WRITES"].sum()


def test_dxt_becomes_calls_and_pieces() -> None:
    path = EXAMPLES / "ior_hdf5_example.darshan"
    report = darshan.DarshanReport(str(path), read_all=True)
    records = [record for name in ("DXT_POSIX", "DXT_MPIIO") for record in report.records[name]]
    n_calls = sum(record["write_count"] + record["read_count"] for record in records)
    evidence = DarshanSource().read(path)
    assert evidence.trace is not None
    rows = evidence.trace.rows
    assert len(rows) == n_calls
    assert evidence.profile.hosts == ("nid00097",)
    system = rows[rows["layer"] == IoLayer.POSIX]
    assert {evidence.trace.names[parent] for parent in system["parent"]} == {
        "MPI-IO read",
        "MPI-IO write",
    }
    assert (rows["durations"].sum(axis=1) == 1).all()
    write = next(entry for entry in evidence.accesses if entry.writing)
    assert sorted(np.unique(write.rank)) == [0, 1, 2, 3]
    assert write.size.sum() == system["bytes"][system["op"] == Op.WRITE].sum()
    assert any("system calls" in note for note in write.notes)
    assert evidence.profile.heat_bin_seconds > 0
    heat = evidence.profile.heat
    total = rows["bytes"][rows["op"] == Op.WRITE].sum()
    assert heat["write_bytes"].sum() == pytest.approx(total)
    assert accesses(evidence.trace)  # the general reader takes the same trace


def test_datasets_of_old_logs_belong_to_their_file() -> None:
    evidence = DarshanSource().read(EXAMPLES / "ior_hdf5_example.darshan")
    rows = evidence.profile.counters
    data = rows[(rows["layer"] == IoLayer.HDF5) & (rows["count"][:, Op.WRITE] > 0)]
    assert {evidence.profile.paths[row] for row in data["file"]} == {
        "/global/cscratch1/sd/ssnyder/test123.h5"
    }
    assert any("blocks of 32768 elements of 8 bytes" in note for note in evidence.profile.notes)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.9, 0.999])
def test_a_truncated_log_is_partial_or_refused(tmp_path: Path, share: float) -> None:
    data = (EXAMPLES / "example.darshan").read_bytes()
    broken = tmp_path / "broken.darshan"
    broken.write_bytes(data[: int(len(data) * share)])
    profile, error = _read_or_error(broken)
    if profile is None:
        assert str(broken) in error
        assert "\n" not in error
    else:
        assert profile.partial
        assert profile.damaged
        assert any("damaged" in note for note in profile.notes)
        assert "damaged" in profile.write_amount.why
        assert "damaged" in diagnose(read_evidence(broken)).headline


def _read_or_error(path: Path) -> tuple[RunProfile | None, str]:
    try:
        return DarshanSource().read(path).profile, ""
    except TraceError as error:
        return None, str(error)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "x.darshan"
    other.write_text("hello\n")
    with pytest.raises(TraceError, match="not recognised"):
        read_evidence(other)
    with pytest.raises(TraceError, match="no Darshan log"):
        DarshanSource().read(other)
    with pytest.raises(TraceError, match="no such file"):
        DarshanSource().read(tmp_path / "none")


def test_recognised_by_content(tmp_path: Path) -> None:
    copy = tmp_path / "renamed"
    copy.write_bytes((EXAMPLES / "example.darshan").read_bytes())
    assert recognise(copy).name == "darshan"


@pytest.fixture
def fresh_reader() -> Iterator[None]:
    """The worker is started anew in the test, and not kept after it."""
    _isolated._READER.stop()
    yield
    _isolated._READER.stop()


def _replace_worker(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    script = folder / "worker.py"
    script.write_text(body)
    monkeypatch.setattr(_isolated._worker, "__file__", str(script))


@pytest.mark.usefixtures("fresh_reader")
def test_a_crash_of_the_library_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _replace_worker(monkeypatch, tmp_path, "import os; os.kill(os.getpid(), 11)")
    with pytest.raises(TraceError, match=r"damaged Darshan log .*signal 11"):
        DarshanSource().read(EXAMPLES / "example.darshan")


@pytest.mark.usefixtures("fresh_reader")
def test_a_library_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_worker(monkeypatch, tmp_path, "import time; time.sleep(60)")
    with pytest.raises(TraceError, match="cannot be read within"):
        _isolated.read_log(EXAMPLES / "example.darshan", timeout_seconds=0.5)


@pytest.mark.usefixtures("fresh_reader")
def test_missing_pydarshan_fails_only_when_a_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "darshan.py").write_text("raise ImportError('no such module')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert recognise(EXAMPLES / "example.darshan").name == "darshan"
    with pytest.raises(RuntimeMissingError, match=r"stripewise\[darshan\]"):
        DarshanSource().read(EXAMPLES / "example.darshan")


@pytest.mark.usefixtures("fresh_reader")
def test_one_process_reads_all_logs_and_is_started_again_if_it_is_gone() -> None:
    first = _isolated.read_log(EXAMPLES / "example.darshan")
    process = _isolated._READER.process
    assert process is not None
    with pytest.raises(TraceError, match="no Darshan log"):
        DarshanSource().read(Path(__file__))
    again = _isolated.read_log(EXAMPLES / "example.darshan")
    assert again.meta == first.meta
    assert _isolated._READER.process is process
    process.kill()
    process.wait()
    assert _isolated.read_log(EXAMPLES / "example.darshan").meta == first.meta
    assert _isolated._READER.process is not process


def test_lustre_counters_of_both_kinds() -> None:
    new = {"LUSTRE_COMP_STRIPE_SIZE": 1 << 20, "LUSTRE_COMP_STRIPE_COUNT": 4}
    old = {"LUSTRE_STRIPE_SIZE": 1 << 20, "LUSTRE_STRIPE_WIDTH": 4, "LUSTRE_OSTS": 248}
    assert _layout(new, [1, 2, 3, 4]) == FileLayout(1 << 20, 4, (1, 2, 3, 4))
    assert _layout(old, [1, 2, 3, 4]) == FileLayout(1 << 20, 4, (1, 2, 3, 4), n_targets=248)
    assert _layout({"LUSTRE_COMP_STRIPE_SIZE": -1}, []).stripe_bytes == 0


def test_a_log_without_records_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = {"job": {"nprocs": 2, "run_time": 1.0}, "exe": "", "modules": {}, "names": {}}
    raw = RawLog({**meta, "trouble": []})
    monkeypatch.setattr("stripewise.evidence.readers.darshan._read.read_log", lambda path: raw)
    profile = DarshanSource().read(Path("x")).profile
    assert not len(profile.counters)
    assert any("no records of files" in note for note in profile.notes)


def test_an_incomplete_module_makes_the_profile_partial(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {"POSIX": {"partial_flag": True}, "DFS": {"partial_flag": False}}
    meta = {"job": {"nprocs": 2}, "exe": "", "modules": modules, "names": {}, "trouble": []}
    monkeypatch.setattr(
        "stripewise.evidence.readers.darshan._read.read_log", lambda path: RawLog(meta)
    )
    profile = DarshanSource().read(Path("x")).profile
    assert profile.partial
    assert "POSIX: incomplete" in profile.notes[0]
    assert any(note == "no record can be read of: POSIX, DFS" for note in profile.notes)
    assert profile.write_amount.value is None


def _log(path: Path, module: str, **values: float) -> RunProfile:
    return _log_of(path, module, **{"BYTES_READ": 1 << 24, "BYTES_WRITTEN": 1 << 24, **values})


def _log_of(path: Path, module: str, **values: float) -> RunProfile:
    records = np.zeros(1, record_of(module))
    for name, value in {"id": 77, **values}.items():
        records[name] = value
    written = write_log(path / "job.darshan", records, ["/file"], command="./a.out", n_ranks=2,
                        start=1_700_000_000, run_seconds=10, module=module)  # fmt: skip
    return read_evidence(written).profile


@pytest.mark.parametrize(
    ("module", "calls"),
    [
        ("DFS", {"READS": 8, "READXS": 8, "WRITEXS": 16, "LOOKUPS": 1}),
        ("DAOS", {"ARRAY_READS": 15, "KV_GETS": 1, "OBJ_UPDATES": 16, "KV_OPENS": 1}),
    ],
)
def test_daos_is_read(tmp_path: Path, module: str, calls: dict[str, int]) -> None:
    times = {"F_READ_TIME": 1.5, "F_WRITE_TIME": 2.5, "F_META_TIME": 0.25}
    profile = _log(tmp_path, module, **calls, **times)
    assert profile.read_amount == profile.write_amount == Amount(1 << 24)
    assert profile.io_amount == Amount(4.25)
    (row,) = profile.counters
    assert IoLayer(row["layer"]).name == module
    assert row["count"][[Op.READ, Op.WRITE, Op.OPEN]].tolist() == [16, 16, 1]
    assert "single calls were not recorded" in profile.notes[-1]


def test_a_file_of_dfs_is_the_one_that_mpi_io_names() -> None:
    def module(**values: float) -> np.ndarray:
        kinds = [(name, np.dtype(type(value))) for name, value in values.items()]
        return np.array([tuple(values.values())], kinds)

    upper = module(id=1, rank=0, BYTES_WRITTEN=100, INDEP_WRITES=1, F_WRITE_TIME=2.0)
    dfs = module(id=2, rank=0, BYTES_WRITTEN=100, WRITES=1, F_WRITE_TIME=1.0)
    names = {"1": "/mnt/daos/out.dat", "2": "/out.dat"}
    log = RawLog({}, {"MPI-IO": upper, "DFS": dfs, "DAOS": dfs})
    rows = counter_rows(log, Files(names))
    assert set(rows["file"]) == {0}
    assert rows["outermost_write_bytes"].sum() == 100
    assert rows["outermost_seconds"].sum() == 2


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        ({"F_WRITE_TIME": -2.0}, {ReportedPart.SECONDS: "times below zero or too large"}),
        ({"F_WRITE_TIME": float("inf")}, {ReportedPart.SECONDS: "times below zero or too large"}),
        ({"F_META_TIME": float("nan")}, {ReportedPart.SECONDS: "times below zero or too large"}),
        ({"BYTES_WRITTEN": -1}, {ReportedPart.WRITE_BYTES: "written bytes below zero"}),
    ],
)
def test_what_is_below_zero_is_not_known(
    tmp_path: Path, values: dict[str, float], unknown: dict[ReportedPart, str]
) -> None:
    profile = _log(tmp_path, "POSIX", READS=16, WRITES=16, F_READ_TIME=1.0, **values)
    for part in (ReportedPart.READ_BYTES, ReportedPart.WRITE_BYTES, ReportedPart.SECONDS):
        assert unknown.get(part, "") in profile.why_missing(part, 0)
        assert bool(profile.why_missing(part)) == (part in unknown)
    assert any("below zero" in note for note in profile.notes)
    figures = diagnose(read_evidence(tmp_path / "job.darshan")).figures
    assert figures.amount("write_bytes").value == (
        None if ReportedPart.WRITE_BYTES in unknown else 1 << 24
    )
    assert figures.amount("io_seconds") == (
        Amount(1.0, "the log has times below zero or too large for 1 file")
        if ReportedPart.SECONDS in unknown
        else Amount(1.0)
    )


def test_what_nothing_counts_is_not_known(tmp_path: Path) -> None:
    moved = {ReportedPart.READ_BYTES, ReportedPart.WRITE_BYTES, ReportedPart.SECONDS}
    for number, (module, values, parts) in enumerate((
        ("POSIX", {"MMAPS": 3, "OPENS": 1, "BYTES_READ": 0, "BYTES_WRITTEN": 0}, moved),
        ("POSIX", {"MMAPS": 1, "WRITES": 4}, moved),
        ("H5F", {"OPENS": 1}, moved),
        ("PNETCDF_FILE", {"CREATES": 1}, moved),
        ("POSIX", {"OPENS": -1}, {ReportedPart.CALLS}),
        ("STDIO", {"WRITES": -1}, {ReportedPart.CALLS}),
        ("POSIX", {"DUPS": -1, "RENAME_SOURCES": -1, "OPENS": 1}, set()),
    )):  # fmt: skip
        path = tmp_path / str(number)
        path.mkdir()
        profile = (_log_of if "F" in module else _log)(path, module, **values)
        missing = {part for part in (*moved, ReportedPart.CALLS) if profile.why_missing(part)}
        assert missing == parts, (module, values)
        found = diagnose(read_evidence(path / "job.darshan"))
        assert found.figures.n_no_data == 0
        assert ("n_no_data" in found.figures.missing) == bool(parts)
        for row in (*found.files, *found.layers) if parts == moved else ():
            assert {"read_bytes", "write_bytes", "elapsed_seconds"} <= row.missing.keys()


def test_bytes_beyond_any_file_are_no_negative_sums(tmp_path: Path) -> None:
    _log(tmp_path, "POSIX", BYTES_WRITTEN=(1 << 63) - 1, WRITES=1)
    (row,) = diagnose(read_evidence(tmp_path / "job.darshan")).layers
    assert row.write_bytes > 1 << 61


def test_a_module_that_is_not_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = {"job": {"nprocs": 2, "run_time": 1.0}, "exe": "", "names": {}, "trouble": []}
    read = "stripewise.evidence.readers.darshan._read.read_log"
    for unread, amount in (
        ({"MDHIM": 1}, Amount(None, "the MDHIM module holds 1 record that is not read")),
        ({"NEXT": 0}, Amount(None, "the NEXT module holds records that are not read")),
        ({"APMPI": 4}, Amount(0)),
    ):
        raw = RawLog({**meta, "modules": {name: {} for name in unread}, "unread": unread})
        monkeypatch.setattr(read, lambda path, raw=raw: raw)
        profile = DarshanSource().read(Path("x")).profile
        assert profile.read_amount == amount
        assert any(next(iter(unread)) in note for note in profile.notes)


def test_a_log_with_a_heat_map_alone_tells_no_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    heat = np.array([(16592106915301738621, 0, 0.1, 1)],
                    [("id", "u8"), ("rank", "i8"), ("width", "f8"), ("bins", "i8")])  # fmt: skip
    arrays = {"HEATMAP": heat, "HEATMAP/read": np.array([0]), "HEATMAP/write": np.array([1 << 24])}
    meta = {"job": {"nprocs": 1, "run_time": 1.0}, "exe": "", "names": {}, "trouble": []}
    raw = RawLog({**meta, "modules": {"HEATMAP": {}}}, arrays)
    monkeypatch.setattr("stripewise.evidence.readers.darshan._read.read_log", lambda path: raw)
    profile = DarshanSource().read(Path("x")).profile
    assert profile.write_amount.value is None
    assert "only a heat map (0 B read, 16 MiB written)" in profile.write_amount.why


def test_bytes_of_mixed_calls_are_shared_out_and_minus_one_is_nothing() -> None:
    counters = {"COLL_WRITES": 30, "INDEP_WRITES": 10, "NB_WRITES": -1, "BYTES_WRITTEN": 4001}
    values = {"id": 7, "rank": -1, **counters, "F_WRITE_TIME": 8.0}
    module = np.array(
        [tuple(values.values())], [(n, np.dtype(type(v))) for n, v in values.items()]
    )
    rows = counter_rows(RawLog({}, {"MPI-IO": module}), Files({"7": "/a"}))
    assert rows["bytes"][0][Op.WRITE_COLLECTIVE] == 3001
    assert rows["bytes"][0].sum() == rows["outermost_write_bytes"][0] == 4001
    assert rows["seconds"][0][Op.WRITE] == pytest.approx(2)
    assert rows["unaligned"][0] == -1


def test_heat_bins_of_other_widths_are_joined() -> None:
    arrays = {
        "HEATMAP": np.array(
            [(16592106915301738621, 0, 0.1, 4), (3989511027826779520, 0, 0.2, 2)],
            [("id", "u8"), ("rank", "i8"), ("width", "f8"), ("bins", "i8")],
        ),
        "HEATMAP/read": np.array([1, 2, 4, 8, 0, 0]),
        "HEATMAP/write": np.array([0, 0, 0, 0, 5, 6]),
    }
    rows, width = heat_rows(RawLog({"names": {}}, arrays))
    assert width == pytest.approx(0.2)
    posix = rows[rows["layer"] == IoLayer.POSIX]
    assert posix["read_bytes"].tolist() == [3, 12]
    assert rows[rows["layer"] == IoLayer.STDIO]["write_bytes"].tolist() == [5, 6]


def test_dxt_newer_than_the_library_is_told_and_the_counters_stay(tmp_path: Path) -> None:
    found = EXAMPLES / "ior_hdf5_example.darshan"
    content = bytearray(found.read_bytes())
    place = 332  # the version of DXT_POSIX in the header of format 3.21
    assert int.from_bytes(content[place : place + 4], "little") == 1
    content[place] = 3
    newer = tmp_path / "newer.darshan"
    newer.write_bytes(content)
    old, new = DarshanSource().read(found), DarshanSource().read(newer)
    assert np.array_equal(new.profile.counters["count"], old.profile.counters["count"])
    assert new.trace is not None
    assert set(new.trace.rows["layer"]) == {IoLayer.MPIIO}
    assert not new.profile.partial
    text = " ".join(new.profile.notes)
    assert "DXT_POSIX is of format version 3, which PyDarshan's library" in text
    assert "update PyDarshan" in text
    assert "damaged" not in text
    assert "DXT was off" not in text


@pytest.mark.usefixtures("fresh_reader")
def test_a_log_beyond_its_budget_says_so(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(_isolated, "DARSHAN_SECONDS", 0)
    with pytest.raises(TraceError, match=r"cannot be read within .* the budget of a Darshan log"):
        DarshanSource().read(EXAMPLES / "example.darshan")


def test_times_and_sizes_of_single_calls_that_cannot_be_are_counted() -> None:
    kind = np.dtype([("start", "f8"), ("end", "f8"), ("length", "i8")])
    calls = [(0.0, 1.0, 5), (2.0, 1.0, 5), (-1.0, 1.0, 5), (np.nan, 1.0, 5), (0.0, 0.0, -1)]
    assert _impossible(np.array(calls, kind)) == 4
