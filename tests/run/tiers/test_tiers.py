# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core.errors import StorageError, UsageError
from stripewise.run.tiers import (
    StoragePool,
    TierRequest,
    burst_size_bytes,
    burst_size_text,
    find_tier,
    tier_of_words,
)
from stripewise.study.job_scripts import ladder
from stripewise.testing.tier_suite import TierSuite, some_pool, words_of

GIB = 1 << 30
STAGED = TierRequest(nodes=4, stage_in=Path("/usr"), stage_out=Path("/results"), place="run")


class TestDataWarp(TierSuite):
    tier_name = "datawarp"
    request = STAGED


class TestDataWarpPrivate(TierSuite):
    tier_name = "datawarp"
    request = TierRequest(nodes=2, access="private")

    def test_staging_is_refused(self) -> None:
        with pytest.raises(UsageError, match="access_mode=striped"):
            find_tier("datawarp").check(
                replace(self.request, stage_in=Path("/usr")), [some_pool()]
            )


class TestDataWarpCache(TierSuite):
    tier_name = "datawarp"
    request = TierRequest(nodes=2, type="cache", backing=Path("/usr"))


class TestRabbit(TierSuite):
    tier_name = "rabbit"
    request = replace(STAGED, name="my-job", profile="wide")


class TestLua(TierSuite):
    tier_name = "lua"
    request = TierRequest(
        nodes=4,
        template=("#BB_LUA pool={pool} capacity={capacity}", "#BB_LUA mode=fast"),
        variable="BB_DIR",
    )


class TestDirectory(TierSuite):
    tier_name = "directory"
    request = TierRequest(directory="/local/$SLURM_JOB_ID", place="run")


class TestNone(TierSuite):
    tier_name = "none"
    request = TierRequest()


def test_the_lines_of_datawarp() -> None:
    pool = some_pool(368 * GIB)
    tier = find_tier("datawarp")
    assert tier.directives(STAGED, pool) == (
        "#DW jobdw type=scratch access_mode=striped capacity=1471GiB pool=wlm_pool",
        "#DW stage_in type=directory source=/usr destination=$DW_JOB_STRIPED/run",
        "#DW stage_out type=directory source=$DW_JOB_STRIPED/run destination=/results",
    )
    assert tier.directory_text(STAGED) == "${DW_JOB_STRIPED}/run"


def test_a_persistent_one_is_only_named() -> None:
    tier = find_tier("datawarp")
    request = TierRequest(persistent="alpha")
    assert tier.check(request, []) is None
    assert tier.directives(request, None) == ("#DW persistentdw name=alpha",)
    assert tier.directory_variable(request) == "DW_PERSISTENT_STRIPED_alpha"
    with pytest.raises(UsageError, match="only letters"):
        tier.check(TierRequest(persistent="al-pha"), [])


def test_only_some_tiers_outlive_jobs() -> None:
    request = TierRequest(persistent="alpha", variable="X", template=("#BB_LUA",), directory="/x")
    for name in ("lua", "directory", "none"):
        with pytest.raises(UsageError, match=f"alpha: the tier {name} has none"):
            find_tier(name).check(request, [])
    assert find_tier("rabbit").check(request, []) is None


def test_what_the_lines_of_a_script_copy(tmp_path: Path) -> None:
    """The directory of the request, and what is kept; a study copies the same for each run."""
    (tmp_path / "one").touch()
    there = "$DW_PERSISTENT_STRIPED_x"
    words = words_of(
        (
            "#DW persistentdw name=x",
            f"#DW stage_in type=directory source={tmp_path} destination={there}/d",
            f"#DW stage_in type=file source={tmp_path}/one destination={there}/",
            f"#DW stage_out type=file source={there}/o destination={tmp_path}/o",
        )
    )
    tier, request = tier_of_words(words)
    assert tier.copied_in(request) == ((str(tmp_path), "d"), (f"{tmp_path}/one", ""))
    words = words_of(("#DW persistentdw name=x", f"#DW copy_in source={tmp_path}/one"))
    tier, request = tier_of_words(words)
    assert tier.name == "rabbit"
    with pytest.raises(UsageError, match=r"copies what a study cannot .* to \$DW_PERSISTENT_x"):
        tier.copied_in(request)
    assert tier_of_words(words[:1])[0].name == "datawarp"
    assert tier_of_words(words[:1], "rabbit")[0].name == "rabbit"


def test_capacities_of_known_sites() -> None:
    """368 GiB: one GiB less; 174416 MiB: in MiB; nodes of 1 GiB or less: all of them."""
    tier = find_tier("datawarp")
    sizes = {
        368 * GIB: "735GiB",
        174416 << 20: "339GiB",
        GIB: "2GiB",
        100 << 20: "200MiB",
        4096: "8KiB",
        4097: "8194",
    }
    for grain, text in sizes.items():
        assert burst_size_text(tier.capacity_bytes(2, some_pool(grain))) == text


def test_what_a_script_asks_for() -> None:
    words = words_of(
        (
            "#DW jobdw capacity=2TB type=scratch access_mode=striped(MDS) pool=sm_pool",
            "#DW stage_in source=/a/in destination=${DW_JOB_STRIPED} type=directory",
            "#DW stage_in source=/a/one destination=$DW_JOB_STRIPED/one type=file",
            "#DW swap 32GiB",
        )
    )
    tier, request = tier_of_words(words)
    assert tier.name == "datawarp"
    assert request == TierRequest(
        pool="sm_pool",
        type="scratch",
        capacity_bytes=2 * 10**12,
        stage_in=Path("/a/in"),
        kept=(
            "#DW stage_in source=/a/one destination=$DW_JOB_STRIPED/one type=file",
            "#DW swap 32GiB",
        ),
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("#DW jobdw type=scratch capacity=1GiB", "datawarp"),
        ("#DW jobdw type=cache pfs=/lus capacity=1GiB", "datawarp"),
        ("#DW persistentdw name=x", "datawarp"),
        ("#DW jobdw type=xfs capacity=1GiB name=x", "rabbit"),
        ("#BB_LUA capacity=1G", "lua"),
        ("#BB create_persistent name=x capacity=1GiB", "none"),
    ],
)
def test_which_tier_a_script_is_for(line: str, name: str) -> None:
    assert tier_of_words(words_of((line,)))[0].name == name


def test_a_size_that_is_none_is_said() -> None:
    with pytest.raises(UsageError, match="capacity=lots in the job script is not a size"):
        tier_of_words(words_of(("#DW jobdw type=scratch capacity=lots",)))


def test_a_lua_line_whose_staging_is_not_wanted_is_left_out() -> None:
    tier = find_tier("lua")
    request = TierRequest(
        nodes=2,
        template=("#BB_LUA n={nodes} pool={pool}", "#BB_LUA from={stage_in}"),
        variable="BB",
    )
    pool = tier.check(request, [some_pool()])
    assert tier.directives(request, pool) == ("#BB_LUA n=2 pool=wlm_pool",)
    staged = replace(request, stage_in=Path("/usr"))
    assert tier.directives(staged, pool)[1] == "#BB_LUA from=/usr"


@pytest.mark.parametrize(
    ("template", "variable", "said"),
    [
        ((), "BB", "give a template"),
        (("#BB_LUA {nodes.__class__}",), "BB", ""),
        (("#BB_LUA {node}",), "BB", "there are {capacity}"),
        (("rm -rf /",), "BB", "begins with #"),
        (("#BB_LUA x",), "B B", "name the variable"),
    ],
)
def test_templates(template: tuple[str, ...], variable: str, said: str) -> None:
    request = TierRequest(nodes=1, template=template, variable=variable)
    if not said:
        pool = find_tier("lua").check(request, [some_pool()])
        assert find_tier("lua").directives(request, pool) == template  # not looked into
        return
    with pytest.raises(UsageError, match=said):
        find_tier("lua").check(request, [some_pool()])


def test_the_name_of_a_rabbit_is_in_its_variable() -> None:
    tier = find_tier("rabbit")
    assert tier.directory_variable(TierRequest(name="my-job")) == "DW_JOB_my_job"
    assert tier.directory_variable(TierRequest(persistent="a-b")) == "DW_PERSISTENT_a_b"


def test_some_tiers_do_without_pools() -> None:
    """Slurm knows none of Rabbit, and a site's lua script may have none."""
    rabbit, lua = find_tier("rabbit"), find_tier("lua")
    request = TierRequest(capacity_bytes=GIB)
    assert rabbit.check(request, []) is None
    assert rabbit.directives(request, None) == (
        "#DW jobdw type=lustre capacity=1GiB name=stripewise",
    )
    with pytest.raises(UsageError, match="needs a capacity"):
        rabbit.check(TierRequest(), [])
    with pytest.raises(UsageError, match="no pool of rabbit"):
        rabbit.check(TierRequest(nodes=2), [])
    fixed = TierRequest(template=("#BB_LUA fast",), variable="BB")
    assert lua.check(fixed, []) is lua.check(fixed, [some_pool()]) is None
    assert lua.directives(fixed, None) == ("#BB_LUA fast",)
    with pytest.raises(UsageError, match="at least 1 node"):
        lua.check(replace(fixed, template=("#BB_LUA {capacity}",)), [some_pool()])


def test_no_pool_is_said() -> None:
    with pytest.raises(UsageError, match="no pool of datawarp here"):
        find_tier("datawarp").check(STAGED, [])


def test_drained_nodes_are_counted() -> None:
    pool = StoragePool("p", GIB, 10 * GIB, 3 * GIB, 4 * GIB)
    assert (pool.nodes, pool.free_nodes, pool.drained_nodes) == (10, 3, 3)
    with pytest.raises(StorageError, match=r"3 of 10 are free \(3 drained\)"):
        find_tier("lua").check(TierRequest(nodes=4, template=("#BB_LUA x",), variable="B"), [pool])


@pytest.mark.parametrize("directory", ["", "relative", "/a\nb"])
def test_a_directory_that_is_none(directory: str) -> None:
    with pytest.raises(UsageError, match="absolute path or begins"):
        find_tier("directory").check(TierRequest(directory=directory), [])


def test_the_ladder() -> None:
    assert ladder(4, 268) == (4, 8, 16, 32, 64, 128, 256)
    assert ladder(4, 3) == ()
    assert ladder(5, 5) == (5,)
    with pytest.raises(UsageError, match="at least 1"):
        ladder(0, 4)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("20GiB", 20 * GIB),
        ("20G", 20 * GIB),
        ("20g", 20 * GIB),
        ("20GB", 20 * 10**9),
        ("1M", 1 << 20),
        ("4N", 4),
        ("1073741824", GIB),
        ("1.5TiB", 3 << 39),
        ("0GiB", 0),
        ("", None),
        ("INFINITE", None),
        ("-1", None),
        ("1XiB", None),
    ],
)
def test_sizes_as_slurm_has_them(text: str, size: int | None) -> None:
    assert burst_size_bytes(text) == size


@given(st.integers(0, 1 << 60))
def test_a_written_size_reads_back(size: int) -> None:
    assert burst_size_bytes(burst_size_text(size)) == size


@given(st.integers(1, 1 << 42), st.integers(1, 5000))
def test_any_granularity_gives_the_nodes(grain: int, nodes: int) -> None:
    """Also after the size was written and read."""
    tier, pool = find_tier("datawarp"), some_pool(grain, nodes=nodes, free=nodes)
    request = TierRequest(nodes=nodes)
    _, read = tier_of_words(words_of(tier.directives(request, pool)))
    assert tier.nodes_of(read.capacity_bytes, pool) == nodes


_NAME = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
_PATH = _NAME.map(lambda name: Path("/lustre") / name)


@given(_NAME, _NAME, st.none() | _PATH, st.none() | _PATH, st.sampled_from(["", "lustre", "xfs"]))
def test_requests_read_back(
    pool: str, place: str, source: Path | None, target: Path | None, kind: str
) -> None:
    staged = bool(source or target)
    request = TierRequest(
        pool="" if kind else pool,
        type=kind or "scratch",
        capacity_bytes=3 * GIB,
        stage_in=source,
        stage_out=target,
        place=place if staged else "",
    )
    name = "rabbit" if kind else "datawarp"
    if kind:
        request = replace(request, name=pool)
    tier, read = tier_of_words(words_of(find_tier(name).directives(request, None)))
    assert (tier.name, read) == (name, request)
