# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Suites that users write: what the form means, and one clear line for each mistake."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.bench import Case
from stripewise.bench._case import case_of
from stripewise.bench.campaign import find_suite, parse_suite
from stripewise.core.errors import ConfigurationError, StripewiseError, UsageError

HEAD = 'version = 1\nname = "mine"\ntitle = "Mine"\n'


def parsed(text: str) -> tuple[Case, ...]:
    return parse_suite(HEAD + text, "mine.toml").cases


def case(text: str, more: str = "") -> str:
    return f'{more}\n[[case]]\nseries = "one"\n{text}\n'


# ---- what the form means ---------------------------------------------------------------------


def test_lists_are_all_combinations() -> None:
    cases = parsed(case('nodes = [1, 2]\nrank_size = ["8 B", "1 MiB"]\ncache = "none"'))
    assert [(one.nodes, one.local) for one in cases] == [
        (1, "1"), (1, "131072"), (2, "1"), (2, "131072"),
    ]  # fmt: skip


def test_a_case_overrides_all() -> None:
    cases = parsed(case("nodes = 3", "repeats = 4\n[all]\nnodes = [1, 2]\nranks_per_node = 5"))
    assert [(one.nodes, one.ranks_per_node, one.repeats) for one in cases] == [(3, 5, 4)]


def test_units_are_read() -> None:
    (one,) = parsed(case('rank_size = "8 MiB"\ntransfer = "1 MiB"\nstonewall = "120 s"'))
    assert (one.local, one.transfer_bytes, one.stonewall_seconds) == ("1048576", 1 << 20, 120.0)


def test_settings_are_axes_too() -> None:
    cases = parsed(
        case('backend = "mpiio"\nmode = "collective"\n[case.settings]\ncb_nodes = [1, 2]')
    )
    assert [one.settings for one in cases] == [
        (("mpiio.cb_nodes", 1),), (("mpiio.cb_nodes", 2),),
    ]  # fmt: skip


def test_a_list_of_numbers_is_a_setting_of_a_quick_run_too() -> None:
    text = case("[case.settings]\nchunk = [[16, 16], [8, 8]]") + "[quick]\nrepeats = 1\n"
    suite = parse_suite(HEAD + text, "mine.toml")
    assert [dict(one.settings)["hdf5.chunk"] for one in suite.quick] == [(16, 16), (8, 8)]
    again = [case_of(json.loads(json.dumps(one.as_json()))) for one in suite.cases]
    assert dict.fromkeys(again) == dict.fromkeys(suite.cases)


def test_unless_leaves_combinations_out() -> None:
    text = case(
        "nodes = [1, 2]\nranks_per_node = [1, 2]\nunless = { nodes = 1, ranks_per_node = 2 }"
    )
    assert [(one.nodes, one.ranks_per_node) for one in parsed(text)] == [(1, 1), (2, 1), (2, 2)]
    text = case("nodes = [1, 2, 4]\nunless = [{ nodes = [1, 4] }]")
    assert [one.nodes for one in parsed(text)] == [2]


def test_max_is_the_most_of_all() -> None:
    assert [one.nodes for one in parsed(case('nodes = "max"', "[all]\nnodes = [1, 7, 3]"))] == [7]


def test_quick_replaces_what_is_there() -> None:
    suite = parse_suite(
        HEAD
        + '[all]\nnodes = [4, 8]\nrank_size = "1 GiB"\n[[case]]\nseries = "a"\n'
        + '[[case]]\nseries = "b"\nnodes = 1\nrank_size = "2 GiB"\n[[case]]\nseries = "c"\n'
        + '[quick]\nnodes = [1, 2]\nrank_size = "8 B"\nrepeats = 1\nseries = ["a", "b"]\n',
        "mine.toml",
    )
    assert [(one.series, one.nodes, one.local, one.repeats) for one in suite.quick] == [
        ("a", 1, "1", 1), ("a", 2, "1", 1), ("b", 1, "1", 1),
    ]  # fmt: skip


# ---- mistakes --------------------------------------------------------------------------------

COLLECTIVE = 'backend = "mpiio"\nmode = "collective"\n'
DIRECT = 'operation = "write-read"\ncache = "direct"'
METADATA = 'runner = "mdtest"\noperation = "metadata"\nfiles = 10\n'
MISTAKES = {
    "unknown key": (case("node = 2"), "no key is called 'node', did you mean nodes"),
    "unknown word": (case('layout = "per-rank"'), "'shared', 'per-process' or 'per-node'"),
    "key in another table": (case("stripe_count = 2"), "belongs in"),
    "no case": ("case = []", "case"),
    "size without unit": (case('rank_size = "100"'), "has no unit"),
    "no TOML": ("[[case]\n", "no TOML"),
    "unknown directory": (
        case('directory = "stripped"', "[directories]\nstriped = { stripe_count = 4 }"),
        "directory = 'stripped' is not in [directories], did you mean striped?",
    ),
    "unknown backend": (case('backend = "hdf"'), "did you mean hdf5?"),
    "unknown pattern": (case('pattern = "cube"'), "no kernel is called 'cube'"),
    "unknown tunable": (case("[case.settings]\ncb_node = 1"), "did you mean"),
    "value of a tunable": (
        case('backend = "mpiio"\n[case.settings]\ncb_nodes = "many"'), "cb_nodes",
    ),
    "unknown runner": (case('runner = "fio"'), "'kernel'"),
    "posix, collective": (case('mode = "collective"'), "POSIX has no collective calls"),
    "collective files per process": (
        case(COLLECTIVE + 'layout = "per-process"'),
        "write one file: give layout",
    ),
    "collective stonewall": (case(COLLECTIVE + "stonewall = 5"), "waiting in collective calls"),
    "library per process": (
        case('backend = "hdf5"\nlayout = "per-process"'),
        "hdf5 writes one shared file",
    ),
    "serial library": (case('backend = "hdf5"\nmode = "serial"'), "one rank writes one file"),
    "transfer above block": (
        case('rank_size = "1 MiB"\ntransfer = "4 MiB"'),
        "transfer = 4194304 B is larger than the 1048576 B of a rank",
    ),
    "transfer that does not divide": (
        case('rank_size = "1 MiB"\ntransfer = "24 KiB"'),
        "transfer = 24576 B does not divide the 1048576 B",
    ),
    "transfer of half an element": (case('transfer = "12 B"'), "give 8 B"),
    "rank size of half an element": (case('rank_size = "1001 B"'), "give 1000 B"),
    "rank size of nothing": (case('rank_size = "0 B"'), "give 8 B"),
    "rank size of an array": (
        case('pattern = "array3d"\nrank_size = "8 B"'), "give local or size",
    ),
    "rank size and local": (case('local = "8"\nrank_size = "8 B"'), "give local or size"),
    "local and size": (case('local = "8"\nsize = "8"'), "give local or size, not both"),
    "dimensions": (case('pattern = "array3d"\nlocal = "8,8"'), "give 3 whole numbers"),
    "direct through a library": (
        case('backend = "mpiio"\noperation = "write-read"\ncache = "direct"'),
        "cache = 'direct' is for backend = 'posix'",
    ),
    "direct in odd pieces": (
        case('rank_size = "6 MiB"\ntransfer = "3 KiB"\n' + DIRECT),
        "multiples of 4096 B",
    ),
    "metadata by the kernel": (case('operation = "metadata"\nfiles = 9'), 'runner = "metadata"'),
    "metadata without files": (
        case('runner = "mdtest"\noperation = "metadata"'),
        "as files = 1000",
    ),
    "data of metadata": (case(METADATA + 'layout = "per-process"'), "layout has no effect on"),
    "settings of metadata": (case(METADATA + "[case.settings]\ncb_nodes = 2"), "no effect on"),
    "depth without width": (case(METADATA + "depth = 2"), "as width = 2"),
    "width without depth": (case(METADATA + "width = 2"), "as depth = 2"),
    "data by mdtest": (case('runner = "mdtest"'), 'operation = "metadata"'),
    "files of data": (case("files = 10"), "files has no effect on the operation write"),
    "own directories of data": (case('sharing = "shared"'), "sharing has no effect"),
    "hints of POSIX": (case("[case.settings]\ncb_nodes = 2"), "is a hint of MPI-IO"),
    "two stripe counts": (
        case(
            'directory = "d"\nbackend = "mpiio"\n[case.settings]\nstriping_factor = 8',
            "[directories]\nd = { stripe_count = 4 }",
        ),
        "contradicts the directory 'd', which has 4",
    ),
    "odd stripe size": (
        case('directory = "d"', '[directories]\nd = { stripe_size = "100 kB" }'),
        "not a multiple of 65536 B",
    ),
    "beside itself": (case('beside = "one"'), "is the series itself"),
    "beside nothing": (case('beside = "two"'), "is not a series of the suite"),
    "beside a program that takes all ranks": (
        case('beside = "two"')
        + '[[case]]\nseries = "two"\nrunner = "ior"\npattern = "blocks"\nlocal = "64"',
        "the runner ior takes all ranks of a job for itself",
    ),
    "beside one beside another": (
        case('beside = "two"') + '[[case]]\nseries = "two"\nbeside = "one"',
        "runs beside 'one' itself",
    ),
    "the same case twice": (case("") + case("repeats = 9"), "is there twice"),
    "the same value twice": (case("nodes = [2, 2]"), "is there twice"),
    "max of nothing": (case('nodes = "max"'), "give nodes in [all]"),
    "max of ranks": (case('ranks_per_node = "max"'), "ranks_per_node"),
    "too many ranks": (case("nodes = 1000000\nranks_per_node = 100"), "100,000,000 ranks"),
    "too many cases": (
        case(f"nodes = {list(range(1, 201))}\nranks_per_node = {list(range(1, 101))}"),
        "more than 10000 cases",
    ),
    "nothing is left": (case("nodes = 1\nunless = { nodes = 1 }"), "no case is left"),
    "unknown key in unless": (case("unless = { node = 1 }"), "did you mean nodes"),
    "IOR: transfer": (
        case('runner = "ior"\nlocal = "1000"\ntransfer = "24 B"'),
        "transfer = 24 B does not divide",
    ),
    "IOR: no block": (case('runner = "ior"'), "give rank_size"),
    "IOR: ADIOS2": (
        case('runner = "ior"\nrank_size = "8 B"\nbackend = "adios2"'), "or the runner",
    ),
    "benchio: sync": (
        case('runner = "benchio"\npattern = "array3d"\nlocal = "8,8,8"\nlayout = "per-process"'),
        "give sync = false",
    ),
    "mdtest: cache": (case(METADATA + 'cache = "drop"'), "give shift"),
    "quick of a case alone": (case("quick = { steps = 2 }"), "give the table [quick]"),
    "fault in quick": (
        case('rank_size = "1 MiB"\ntransfer = "1 MiB"', '[quick]\ntransfer = "2 MiB"\n'),
        "[quick]: case 'one': transfer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(MISTAKES))
def test_a_mistake_is_one_clear_line(name: str) -> None:
    text, said = MISTAKES[name]
    with pytest.raises(ConfigurationError) as caught:
        parsed(text)
    message = str(caught.value)
    assert said in message
    assert "\n" not in message
    assert message.startswith("mine.toml: ")


@pytest.mark.parametrize(
    "name",
    [one for one, (text, _) in MISTAKES.items() if "[[case]]" in text and "quick" not in one],
)
def test_names_the_case_or_the_table(name: str) -> None:
    """So that it is found in a long file."""
    with pytest.raises(ConfigurationError) as caught:
        parsed(MISTAKES[name][0])
    words = ("case 'one'", "case[1]", "directory 'd'", "no TOML", "more than", "is left")
    assert any(word in str(caught.value) for word in words)


def test_another_version_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="version"):
        parse_suite(HEAD.replace("= 1", "= 2") + case(""), "mine.toml")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one of aggregators, array3d"):
        find_suite("arra3d")
    with pytest.raises(ConfigurationError, match="No such file"):
        find_suite(str(tmp_path / "none.toml"))
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "\xe9"')
    with pytest.raises(ConfigurationError, match="save it as UTF-8"):
        find_suite(str(latin))
    mine = tmp_path / "mine.toml"
    mine.write_text(HEAD + case("nodes = 2"))
    assert find_suite(str(mine)).most_nodes == 2


def test_changed_suites_are_read_or_refused_in_a_line() -> None:
    """Whatever a slip of the hand does to a file that comes along."""
    random = Random(3)
    texts = [find_suite(name).text for name in ("limits", "mixed", "transfer-size")]
    for number in range(300):
        text = texts[number % len(texts)]
        at = random.randrange(len(text))
        more = random.choice(["", "\n", '"', "0", "-1", "x", "[", " = ", "9" * 30, "nodes = 3\n"])
        text = text[:at] + more + text[at + random.choice([0, 1, 5]) :]
        assert "\n" not in _refusal(text)


def _refusal(text: str) -> str:
    try:
        parse_suite(text, "mine.toml")
    except StripewiseError as error:
        return str(error)
    return ""


@given(
    nodes=st.lists(st.integers(1, 64), min_size=1, max_size=4, unique=True),
    ranks=st.lists(st.integers(1, 64), min_size=1, max_size=4, unique=True),
    repeats=st.integers(1, 20),
)
def test_the_matrix_is_complete(nodes: list[int], ranks: list[int], repeats: int) -> None:
    cases = parsed(case(f"nodes = {nodes}\nranks_per_node = {ranks}\nrepeats = {repeats}"))
    assert {(one.nodes, one.ranks_per_node) for one in cases} == {
        (n, r) for n in nodes for r in ranks
    }
    assert len(cases) == len(nodes) * len(ranks)
    assert {one.repeats for one in cases} == {repeats}
