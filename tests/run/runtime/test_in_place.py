# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs under the real library, read back with our own reader."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from stripewise.core import MARK, Configuration, FileRule, JobSettings
from stripewise.core.errors import ProgramError, RuntimeMissingError, StorageError
from stripewise.evidence.containers import HandshakeState
from stripewise.evidence.facts import observed_files, program_facts
from stripewise.run.runtime import InPlaceRun, Runtime, find_runtime, run_in_place

DATA = Path(__file__).parent / "data"
MIB = 1 << 20
TWO_AGGREGATORS = FileRule(
    "*.dat", mpiio={"cb_nodes": 2, "cb_config_list": "*:*", "cb_buffer_size": 524288}
)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    monkeypatch.chdir(tmp_path)
    try:
        return find_runtime()
    except RuntimeMissingError:
        pytest.skip("the runtime library is not built (stripewise doctor build)")


@pytest.fixture(scope="module")
def comb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    family: str = request.param
    if not shutil.which(f"mpicc.{family}") or not shutil.which(f"mpiexec.{family}"):
        pytest.skip(f"no {family} here")
    program = tmp_path_factory.mktemp(family) / f"comb.{family}"
    command = [f"mpicc.{family}", str(DATA / "comb.c"), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def two_ranks(comb: Path, *wrapper: str) -> list[str]:
    family = comb.suffix[1:]
    more = ["--oversubscribe"] if family == "openmpi" else []
    return [f"mpiexec.{family}", *more, "-n", "2", *wrapper, str(comb)]


def run(runtime: Runtime, command: list[str], configuration: Configuration) -> InPlaceRun:
    done = run_in_place(command, runtime, configuration=configuration)
    assert done.exit_code == 0
    assert done.problem == ""
    return done


both = pytest.mark.parametrize("comb", ["mpich", "openmpi"], indirect=True)


@pytest.mark.extended(keep=1)
@pytest.mark.mpi
@both
def test_ranks_bytes_and_hints(runtime: Runtime, comb: Path) -> None:
    done = run(runtime, two_ranks(comb), Configuration((TWO_AGGREGATORS,)))
    assert done.handshake.ok, done.handshake.message
    assert (done.handshake.seen_ranks, done.handshake.expected_ranks) == (2, 2)
    (file,) = observed_files(done.profile, Path.cwd())
    assert (file.path, file.interface, file.write_bytes) == ("shared.dat", "mpiio", 2 * MIB)
    assert file.system_write_bytes == 2 * MIB
    assert file.requested["access_style"] == "write_once"
    assert file.applied["cb_nodes"] == "2"
    assert file.reported["cb_nodes"] == "2"
    assert 0 < done.profile.io_seconds < done.elapsed_seconds


@pytest.mark.mpi
@pytest.mark.parametrize("comb", ["mpich"], indirect=True)
def test_hints_change_what_reaches_the_storage(runtime: Runtime, comb: Path) -> None:
    plain = run(runtime, two_ranks(comb), Configuration())
    Path("shared.dat").unlink()
    tuned = run(runtime, two_ranks(comb), Configuration((TWO_AGGREGATORS,)))
    writers = [observed_files(r.profile, Path.cwd())[0].writers for r in (plain, tuned)]
    sizes = [observed_files(r.profile, Path.cwd())[0].largest_write_bytes for r in (plain, tuned)]
    assert writers == [1, 2]
    assert sizes == [2 * MIB, MIB // 2]


@pytest.mark.mpi
@pytest.mark.parametrize("comb", ["openmpi"], indirect=True)
def test_the_implementation_is_told_apart(runtime: Runtime, comb: Path) -> None:
    for name, expected in (("ompio", "ompio"), ("romio321", "romio")):
        Path("shared.dat").unlink(missing_ok=True)
        configuration = Configuration((), JobSettings(mca={"io": name}))
        done = run(runtime, two_ranks(comb), configuration)
        facts = program_facts(done.profile, done.elapsed_seconds, environment=done.environment)
        assert facts.mpiio_implementation == expected
        assert facts.mpiio_alternatives == ("ompio", "romio321")


@pytest.mark.extended(keep=1)
@pytest.mark.mpi
@both
def test_a_wrapper_that_drops_the_preload(runtime: Runtime, comb: Path) -> None:
    command = two_ranks(comb, "env", "-u", "LD_PRELOAD")
    done = run(runtime, command, Configuration())
    assert done.handshake.state is HandshakeState.DROPPED
    assert Path("shared.dat").stat().st_size == 2 * MIB


@pytest.mark.extended(keep=1)
@pytest.mark.mpi
@both
def test_no_plugin(runtime: Runtime, comb: Path, tmp_path: Path) -> None:
    bare = Runtime(tmp_path / "bare")
    bare.core.parent.mkdir(parents=True)
    bare.core.symlink_to(runtime.core)
    done = run(bare, two_ranks(comb), Configuration())
    assert done.handshake.state is HandshakeState.PLUGIN_MISSING
    assert "stripewise doctor build --mpicc" in done.handshake.message


def test_without_mpi(runtime: Runtime) -> None:
    done = run(runtime, ["dd", "if=/dev/zero", "of=x", "bs=65536", "count=4"], Configuration())
    (file,) = observed_files(done.profile, Path.cwd())
    assert (file.path, file.interface, file.write_bytes) == ("x", "posix", 4 * 65536)
    assert file.system_writes == 4
    assert file.aligned_fraction[65536] == 1.0


def test_containers_are_kept_on_request(runtime: Runtime, tmp_path: Path) -> None:
    done = run_in_place(["true"], runtime, keep=tmp_path / "evidence")
    assert list((tmp_path / "evidence" / done.run_id).glob("*.sw"))


def test_no_place_for_containers(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="--keep-containers"):
        run_in_place(["true"], runtime, keep=tmp_path / "file")


def test_nothing_to_start(runtime: Runtime) -> None:
    with pytest.raises(ProgramError, match="no such program"):
        run_in_place(["./gone"], runtime)


def test_containers_lie_in_a_directory_of_stripewise(runtime: Runtime, tmp_path: Path) -> None:
    run(runtime, ["sh", "-c", 'ls -a "$STRIPEWISE_DIRECTORY" > seen'], Configuration())
    assert MARK in (tmp_path / "seen").read_text().split()
