# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The mapping: the same in C and Python, one for a directory, gone with its owner."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from stripewise.core.errors import ConfigurationError, StorageError, StudyError, UsageError
from stripewise.run.runtime import native_sources
from stripewise.storage.emulation import EmulatedStorage, Emulation, EmulationOptions, _mapping
from stripewise.storage.emulation import _emulation as _claim
from stripewise.storage.emulation import _servers as _tallies

HEADER = native_sources() / "include/stripewise/emulate.h"


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep mappings of these tests apart from those of other processes."""
    (tmp_path / "mappings").mkdir()
    monkeypatch.setattr(_claim, "home", lambda: tmp_path / "mappings")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def storage(machine: str = "archer2-hdd@1/64", **options: object) -> EmulatedStorage:
    return EmulatedStorage.find(EmulationOptions(machine, **options))  # type: ignore[arg-type]


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "mappings").iterdir())


def defined(text: str, name: str) -> int:
    found = re.search(rf"#define {name}\s+(0x[0-9a-f]+|[0-9]+)", text.replace("\\\n", ""))
    assert found, name
    return int(found[1], 0)


def members(text: str, name: str) -> list[str]:
    """What an X macro lists."""
    body = text[text.index(f"#define {name}(X)") :]
    body = body[: re.search(r"[^\\]\n", body).end()]  # type: ignore[union-attr]
    return re.findall(r'X\((?:\w+, )?"?([\w.]+)"?\)', body.split("(X)", 1)[1])


def test_c_and_python_agree_on_the_format() -> None:
    text = HEADER.read_text()
    numbers = {
        "SW_EMULATE_VERSION": _mapping.VERSION,
        "SW_EMULATE_HEADER": _mapping.HEADER_BYTES,
        "SW_EMULATE_COUNTERS": _mapping.COUNTERS_BYTES,
        "SW_EMULATE_ROOT": _mapping.ROOT_BYTES,
        "SW_EMULATE_FIGURES_ROOM": _mapping.FIGURES_ROOM,
        "SW_EMULATE_LUSTRE": _mapping.FLAG_LUSTRE,
        "SW_EMULATE_PRIVATE": _mapping.FLAG_PRIVATE,
        "SW_EMULATE_JOB_ID": _mapping.JOB_ID_BYTES,
        "SW_EMULATE_PAGE": _mapping.PAGE_BYTES,
        "SW_EMULATE_TARGET_BYTES": _mapping.TARGET_BYTES,
        "SW_EMULATE_METADATA_BYTES": _mapping.METADATA_BYTES,
        "SW_EMULATE_SIZES": _tallies.SIZES,
        "SW_EMULATE_TIMES": _tallies.TIMES,
    }
    assert {name: defined(text, name) for name in numbers} == numbers
    assert f'"{_mapping.MAGIC.decode()}"' in text
    assert members(text, "SW_EMULATE_FIGURES") == list(_mapping.FIGURES)
    assert members(text, "SW_EMULATE_COUNTERS_OF") == list(_mapping.COUNTERS)
    assert [name.lower() for name in members(text, "SW_EMULATE_LIMITS")] == list(_mapping.LIMITS)
    assert f"SW_CLOCK_FIXED = {_mapping.CLOCKS_FIXED}" in text
    found = members(text, "SW_EMULATE_TARGET_OPERATIONS")
    assert tuple(found) == _tallies.TARGET_OPERATIONS
    found = members(text, "SW_EMULATE_METADATA_OPERATIONS")
    assert tuple(found) == _tallies.METADATA_OPERATIONS


PLACES = """
#include "%s"
#include <stddef.h>
#include <stdio.h>
int main(int n, char **a)
{
    struct sw_emulate_header h;
    FILE *f = fopen(a[n - 1], "r");
    if (!f || fread(&h, sizeof h, 1, f) != 1)
        return 1;
    struct sw_emulate_places p = sw_emulate_places(&h);
    printf("%%s %%s %%s %%lu %%lu %%lu %%lu %%lu %%lu\\n", h.fs, h.jobid_var, h.jobid_name,
           p.factors, p.jobs, p.tallies, sw_emulate_tally_bytes(&h), p.bytes, h.began_ns);
    printf("%%zu %%zu %%zu %%zu\\n", offsetof(struct sw_emulate_target, transfers),
           sizeof(struct sw_emulate_transfers), offsetof(struct sw_emulate_target, operations),
           offsetof(struct sw_emulate_metadata, operations));
    printf("%%zu %%zu\\n", offsetof(struct sw_emulate_header, jobid_var),
           offsetof(struct sw_emulate_header, jobid_name));
    return 0;
}
"""


def test_the_c_compiler_sees_the_servers_counters_where_python_reads_them(root: Path) -> None:
    program = root / "places.c"
    program.write_text(PLACES % HEADER)
    subprocess.run(["cc", str(program), "-o", str(root / "places")], check=True)
    before_ns = time.time_ns()
    with Emulation.begin(storage(), root) as made:
        words = [str(root / "places"), str(made.path)]
        seen = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
        places = _mapping.places(12, 256, _mapping.FILES, _mapping.OBJECTS, _mapping.JOBS)
        assert made.path.stat().st_size == places.size
        there = made.path.stat().st_blocks * 512
        assert places.tallies + places.tally_bytes <= there < places.size // 4
    assert seen[:3] == ["archer2h", "SLURM_JOB_ID", "%e.%u"]
    assert tuple(map(int, seen[3:8])) == places
    assert before_ns <= int(seen[8]) <= time.time_ns()
    words_before = 8 * _tallies._SPAN_WORDS
    transfers = 8 * _tallies._TRANSFER_WORDS
    assert list(map(int, seen[9:13])) == [
        words_before, transfers, words_before + 2 * transfers, words_before,
    ]  # fmt: skip
    assert [int(word) for word in seen[13:]] == [
        _mapping.JOBID_VAR_OFFSET,
        _mapping.JOBID_NAME_OFFSET,
    ]


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        ("archer2-hdd@1/64", "archer2h"), ("/a/b.c/my_site.toml@1/8", "mysite"),
        ("---", "emulated"), ("\u00fcber", "ber"),
    ],
)  # fmt: skip
def test_a_file_system_has_a_name_that_lustre_takes(machine: str, name: str) -> None:
    assert _mapping.file_system_name(machine) == name


def test_the_c_compiler_sees_the_header_where_python_puts_it(root: Path) -> None:
    program = root / "look.c"
    program.write_text(
        f'#include "{HEADER}"\n#include <stdio.h>\nint main(int n, char **a) {{\n'
        'struct sw_emulate_header h; (void)n; FILE *f = fopen(a[1], "r");\n'
        "if (!f || fread(&h, sizeof h, 1, f) != 1) return 1;\n"
        'printf("%u %u %u %d %lu %lu %s %g", h.targets, h.nodes, h.ranks_per_node,'
        " h.stripe_count, h.stripe_size, h.bytes == sw_emulate_places(&h).bytes, h.root,"
        " h.figures[SW_FIGURE_TARGET_WRITE]); return 0; }\n"
    )
    subprocess.run(["cc", str(program), "-o", str(root / "look")], check=True)
    with Emulation.begin(storage(ranks_per_node=2), root) as made:
        words = [str(root / "look"), str(made.path)]
        seen = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    rate = storage().storage.value("servers.target_write")
    assert seen[:6] == ["12", "256", "2", "1", str(1 << 20), "1"]
    assert seen[6] == str(root)
    assert float(seen[7]) == pytest.approx(rate, rel=1e-4)


def test_the_network_does_not_act_within_one_virtual_node(root: Path) -> None:
    two = storage(ranks_per_node=2, transport="ofi")
    ofi = next(one for one in two.storage.transports if one.name == "ofi")
    assert ofi.from_nodes == 2
    place = _mapping.FIGURES.index("exchange.bandwidth")
    chosen = dict(ofi.when)
    packed = [_mapping.header(two, str(root), chosen, "", ranks) for ranks in (0, 2, 3)]
    rates = [_mapping.HEADER.unpack(one[: _mapping.HEADER.size])[15 + place] for one in packed]
    slow = ofi.figures["exchange.bandwidth"].value
    inside = two.storage.value("exchange.bandwidth")
    assert rates == [pytest.approx(rate) for rate in (slow, inside, slow)]


def test_counters_are_read_and_said_in_words(root: Path) -> None:
    with Emulation.begin(storage(), root) as made:
        values = dict.fromkeys(_mapping.COUNTERS, 0) | {
            "processes": 4, "writes": 10, "metadata": 2, "held": 9, "held_ns": 4 * 10**9,
            "model_ns": 5 * 10**9, "late": 3, "late_ns": 5 * 10**9, "mapped": 1,
        }  # fmt: skip
        limits = [0] * len(_mapping.LIMITS)
        limits[_mapping.LIMITS.index("process")] = 3 * 10**9
        limits[_mapping.LIMITS.index("target")] = 10**9
        with made.path.open("r+b") as stream:
            stream.seek(_mapping.HEADER_BYTES)
            stream.write(struct.pack(f"<{len(values) + len(limits)}Q", *values.values(), *limits))
        run = made.read()
    assert (run.requests, run.held, run.held_seconds) == (12, 9, 4.0)
    assert run.limits_text == "single processes 75%, the targets 25%"
    assert run.host_was_the_limit
    assert "the host was the limit: 3 requests took 5 s longer" in run.problem
    assert run.problem.endswith("--on archer2-hdd@1/256")
    assert any("1 memory map of files bypassed" in text for text in run.warnings)


def test_nothing_is_left_behind_and_two_at_a_time_are_refused(tmp_path: Path, root: Path) -> None:
    (root / "inner").mkdir()
    with Emulation.begin(storage(), root):
        for place in (root, root / "inner", tmp_path):
            with pytest.raises(StudyError, match=f"emulated in {root} already by .*{os.getpid()}"):
                Emulation.begin(storage(), place)
        (tmp_path / "beside").mkdir()
        Emulation.begin(storage(), tmp_path / "beside").end()
    assert not left(tmp_path)
    Emulation.begin(storage(), root).end()


def test_of_those_that_begin_together_in_nested_directories_one_does(root: Path) -> None:
    places = [root, root / "a", root / "a/b", root / "a/b/c"]
    places[-1].mkdir(parents=True)
    asked = storage()
    fork = multiprocessing.get_context("fork")
    together, begun = fork.Barrier(len(places)), fork.Value("i", 0)

    def begin(place: Path) -> None:
        together.wait(120)
        with suppress(StudyError):
            Emulation.begin(asked, place)
            with begun:
                begun.value += 1
        together.wait(120)

    for turn in range(1, 6):
        processes = [fork.Process(target=begin, args=(place,)) for place in places]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert begun.value == turn


def test_a_killed_owner_leaves_nothing_that_stays(tmp_path: Path, root: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from stripewise.storage.emulation import EmulatedStorage, Emulation, EmulationOptions\n"
        "from stripewise.storage.emulation import _emulation\n"
        "_emulation.home = lambda: Path(sys.argv[2])\n"
        "storage = EmulatedStorage.find(EmulationOptions('archer2-hdd'))\n"
        "kept = Emulation.begin(storage, Path(sys.argv[1])); print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    words = [sys.executable, "-c", script, str(root), str(tmp_path / "mappings")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        with pytest.raises(StudyError, match=f"by process {owner.pid}"):
            Emulation.begin(storage(), root)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    assert len(left(tmp_path)) == 1
    (tmp_path / "beside").mkdir()
    with Emulation.begin(storage(), tmp_path / "beside"):
        assert len(left(tmp_path)) == 1, "what the dead one left was not swept"
    assert not left(tmp_path)


def test_what_cannot_be_is_refused_in_one_line(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="no storage is called 'archer3'"):
        storage("archer3")
    with pytest.raises(UsageError, match="--ranks-per-node must be at least 1"):
        storage(ranks_per_node=-1)
    with pytest.raises(UsageError, match="a node of archer2-hdd has 128"):
        storage(ranks_per_node=129)
    with pytest.raises(UsageError, match="--transport slow: archer2-hdd: it has ofi"):
        storage(transport="slow")
    with pytest.raises(UsageError, match="archer2-hdd is not a burst buffer"):
        storage(capacity_bytes=1 << 40)
    with pytest.raises(UsageError, match=r"--root .*missing: No such file"):
        Emulation.begin(storage(), tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is not a directory"):
        Emulation.begin(storage(), tmp_path / "file")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StorageError, match="cannot be written"):
        Emulation.begin(storage(), root)
    assert not left(tmp_path)


def test_a_burst_buffer_has_nodes_for_its_capacity() -> None:
    small, large = (storage("cori-datawarp", capacity_bytes=n << 30) for n in (1, 1000))
    granularity = small.storage.value("layout.granularity")
    assert small.targets == 1
    assert large.targets == -(-(1000 << 30) // int(granularity))
    assert large.striping.stripe_count == large.targets
    least = storage("cori-datawarp")
    assert least.targets == least.striping.stripe_count == 1, "as simulated without a capacity"
    with pytest.raises(ConfigurationError, match=r"capacity = 1 EiB needs .* nodes"):
        storage("cori-datawarp", capacity_bytes=1 << 60)


def test_the_environment_chooses_the_transport() -> None:
    found = storage()
    assert found.transport({}).name == "ofi-sar64k"  # type: ignore[union-attr]
    assert found.transport({"FI_OFI_RXM_SAR_LIMIT": "256K"}).name == "ofi"  # type: ignore[union-attr]
    assert found.transport({"CRAYPE_NETWORK_TARGET": "ucx"}).name == "ucx"  # type: ignore[union-attr]
    assert storage(transport="ucx").transport({}).name == "ucx"  # type: ignore[union-attr]


def test_noise_slows_runs_down_and_is_the_same_for_the_same_run() -> None:
    noisy = storage(noise=True, seed=3)
    factors = [noisy.noise_factor(str(number)) for number in range(200)]
    assert min(factors) == 1.0
    assert 1.01 < sum(factors) / 200 < 1.2
    assert factors == [noisy.noise_factor(str(number)) for number in range(200)]
    assert storage().noise_factor("1") == 1.0
