# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.run.slurm import parse_burst
from stripewise.run.tiers import StoragePool

GIB = 1 << 30

DATAWARP = """\
Name=datawarp DefaultPool=wlm_pool Granularity=20GiB TotalSpace=400GiB FreeSpace=340GiB UsedSpace=40GiB
  PoolName[0]=sm_pool Granularity=21474836 TotalSpace=2TB FreeSpace=2TB UsedSpace=0
  AllowUsers=alice,bob
  Flags=EmulateCray,TeardownFailure
  StageInTimeout=86400 StageOutTimeout=86400 ValidateTimeout=5 OtherTimeout=300
  GetSysState=/opt/cray/dw_wlm/default/bin/dw_wlm_cli
  GetSysStatus=/opt/cray/dws/default/bin/dwstat
  Allocated Buffers:
    JobID=169509 CreateTime=2017-01-01T00:00:00 Pool=wlm_pool Size=20GiB State=staged-in UserID=alice(1001)
    JobID=169510_3(169513) Account=k01 CreateTime=2017-01-01T00:01:00 Partition=workq Pool=wlm_pool QOS=normal Size=20G State=running UserID=bob(1002)
    Name=alpha CreateTime=2016-12-01T10:00:00 Pool=sm_pool Size=1MiB State=allocated UserID=alice(1001)
  Per User Buffer Use:
    UserID=alice(1001) Used=21475885056
    UserID=bob(1002) Used=20GiB
"""  # noqa: E501

BEFORE_THE_FIRST_POLL = """\
Name=datawarp DefaultPool=wlm_pool Granularity=1 TotalSpace=0GiB FreeSpace=0GiB UsedSpace=0GiB
  Flags=EmulateCray
  StageInTimeout=86400 StageOutTimeout=86400 ValidateTimeout=5 OtherTimeout=300
"""

OLD = """\
Name=cray DefaultPool=wlm_pool Granularity=368G TotalSpace=98624G UsedSpace=1104G
  AltPoolName[0]=other Granularity=1N TotalSpace=10N UsedSpace=2N
  Flags=
"""

LUA = """\
Name=lua DefaultPool=(null) Granularity=1 TotalSpace=0 FreeSpace=0 UsedSpace=0
  PoolName[0]=bulk Granularity=1GiB TotalSpace=10GiB FreeSpace=9GiB UsedSpace=1GiB
  StageInTimeout=30 StageOutTimeout=30 ValidateTimeout=10 OtherTimeout=30
"""


def test_pools() -> None:
    (found,) = parse_burst(DATAWARP)
    assert (found.plugin, found.default_pool) == ("datawarp", "wlm_pool")
    assert found.pools == (
        StoragePool("wlm_pool", 20 * GIB, 400 * GIB, 340 * GIB, 40 * GIB),
        StoragePool("sm_pool", 21474836, 2 * 10**12, 2 * 10**12, 0),
    )
    assert (found.pools[0].nodes, found.pools[0].free_nodes) == (20, 17)
    assert found.pools[0].drained_nodes == 1
    assert found.pool() == found.pools[0]
    assert found.pool("sm_pool") == found.pools[1]
    assert found.pool("other") is None


def test_who_has_some() -> None:
    (found,) = parse_burst(DATAWARP)
    one, task, persistent = found.buffers
    assert (one.name, one.pool, one.state, one.size_bytes) == (
        "", "wlm_pool", "staged-in", 20 * GIB,
    )  # fmt: skip
    assert (task.state, task.size_bytes) == ("running", 20 * GIB)
    assert (persistent.name, persistent.state) == ("alpha", "allocated")
    assert not {"UserID", "Used"} & found.settings.keys()


def test_its_own_settings() -> None:
    (found,) = parse_burst(DATAWARP)
    assert found.flags == ("EmulateCray", "TeardownFailure")
    assert found.settings["StageInTimeout"] == "86400"
    assert found.settings["AllowUsers"] == "alice,bob"
    assert "TotalSpace" not in found.settings


def test_before_slurm_has_polled_the_pool_is_empty() -> None:
    (found,) = parse_burst(BEFORE_THE_FIRST_POLL)
    assert [(pool.name, pool.nodes) for pool in found.pools] == [("wlm_pool", 0)]


def test_older_releases_say_no_free_space() -> None:
    (found,) = parse_burst(OLD)
    assert found.pools == (
        StoragePool("wlm_pool", 368 * GIB, 98624 * GIB, 97520 * GIB, 1104 * GIB),
        StoragePool("other", 1, 10, 8, 2),
    )
    assert found.pools[0].nodes == 268
    assert found.flags == ()


def test_lua_has_no_default_pool() -> None:
    (found,) = parse_burst(LUA)
    assert found.default_pool == ""
    assert [pool.name for pool in found.pools] == ["bulk"]
    assert found.pool() is None


def test_several_plugins() -> None:
    assert [one.plugin for one in parse_burst(DATAWARP + LUA)] == ["datawarp", "lua"]
    assert parse_burst(DATAWARP + "\n" + LUA)[0] == parse_burst(DATAWARP)[0]


@pytest.mark.parametrize(
    "text", ["", "No burst buffers found\n", "slurm_load_burst_buffer_info: error\n", "\0=\n  a="]
)
def test_nothing_is_there(text: str) -> None:
    assert parse_burst(text) == ()


@given(st.text("Name=JobID[0]Pol123()_ \n:GiB,Alocted Bufrs", max_size=200))
def test_no_text_is_too_strange(text: str) -> None:
    parse_burst("Name=x " + text)
    parse_burst("Name=x\n  Allocated Buffers:\n    " + text)
