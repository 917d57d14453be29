# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Policies: narrow only, and never silently ignored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stripewise.core import (
    Configuration,
    FileRule,
    JobSettings,
    installed_packs,
    site_packs,
    user_packs,
    user_policy_path,
)
from stripewise.core.errors import ConfigurationError, PolicyError
from stripewise.settings import Policy, load_policy, parse_policy
from stripewise.settings.tunables import all_tunables, get

SITE = """
version = 1
lock_layout = true
[tunables]
allowed = ["mpiio.*", "hdf5.*"]
denied = ["mpiio.cb_nodes"]
[caps]
max_trials = 50
max_bytes = "100 GiB"
max_concurrency = 2
"""


def hints(**mpiio: object) -> Configuration:
    return Configuration((FileRule("*", mpiio=mpiio),))  # type: ignore[arg-type]


def test_everything_is_said():
    policy = parse_policy(SITE, "site")
    assert policy.lock_layout
    assert (policy.max_trials, policy.max_runs) == (50, None)
    assert policy.max_bytes == 100 * 2**30
    assert policy.max_concurrency == 2


def test_knobs():
    policy = parse_policy(SITE, "site")
    assert policy.why_not(get("mpiio.cb_buffer_size")) == ""
    assert "denied" in policy.why_not(get("mpiio.cb_nodes"))
    assert "layout" in policy.why_not(get("hdf5.alignment"))
    assert "layout" in policy.why_not(get("mpiio.striping_unit"))
    assert "not among" in policy.why_not(get("mca.io"))


def test_no_policy_allows_everything():
    policy = Policy()
    assert all(policy.why_not(knob) == "" for knob in all_tunables())
    policy.check(Configuration(job=JobSettings(environment={"ROMIO_HINTS": "x"})))


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (hints(striping_factor=4), "locked"),
        (hints(stripe_size="4"), "locked"),
        (hints(unheard_of="4"), "locked"),
        (hints(cb_nodes=4), "denied"),
        (Configuration(job=JobSettings(mca={"io": "ompio"})), "not among"),
        (Configuration(job=JobSettings(environment={"ROMIO_HINTS": "/x"})), "by name"),
        (Configuration(job=JobSettings(environment={"OMPI_MCA_io": "x"})), "job.mca"),
    ],
)
def test_check_refuses(configuration: Configuration, message: str):
    with pytest.raises(PolicyError, match=message) as caught:
        parse_policy(SITE, "/etc/x.toml").check(configuration)
    assert "/etc/x.toml" in str(caught.value)


def test_check_accepts():
    parse_policy(SITE, "site").check(hints(romio_cb_write="enable"))
    named = parse_policy('[tunables]\nallowed = ["environment.MY_*"]', "x")
    named.check(Configuration(job=JobSettings(environment={"MY_VARIABLE": "1"})))


def test_an_empty_list_allows_nothing():
    policy = parse_policy("[tunables]\nallowed = []", "x")
    assert all(policy.why_not(knob) for knob in all_tunables())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lock_layuot = true", "lock_layout"),
        ("[caps]\nmax_trails = 3", "max_trials"),
        ("[caps]\nmax_trials = -1", "max_trials"),
        ("[caps]\nmax_trials = true", "max_trials"),
        ('[caps]\nmax_bytes = "much"', "100 GiB"),
        ("[caps]\nmax_concurrency = 0", "max_concurrency"),
        ('lock_layout = "yes"', "lock_layout"),
        ('[tunables]\ndenied = ["mpio.*"]', "mpio"),
        ('[tunables]\ndenied = ["mpiio.stripping_factor"]', "striping_factor"),
        ('[tunables]\ndenied = "mpiio.*"', "denied"),
        ("version = 2", "version"),
        ("= = =", "not TOML"),
    ],
)
def test_malformed(text: str, message: str):
    with pytest.raises(ConfigurationError, match=message) as caught:
        parse_policy(text, "/etc/stripewise/policy.toml")
    assert str(caught.value).startswith("/etc/stripewise/policy.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "size"),
    [("100 GiB", 100 << 30), ("1.5 KiB", 1536), ("2 TB", 2 * 10**12), ("7", 7), ("8k", 8000)],
)
def test_sizes(text: str, size: int):
    assert parse_policy(f'[caps]\nmax_bytes = "{text}"', "x").max_bytes == size


def test_user_narrows_site(tmp_path: Path):
    site, user = tmp_path / "site.toml", tmp_path / "user.toml"
    site.write_text(SITE)
    user.write_text('lock_layout = false\n[tunables]\nallowed = ["*"]\n[caps]\nmax_trials = 99\n')
    policy = load_policy(site, user)
    assert policy.lock_layout
    assert policy.max_trials == 50
    assert policy.why_not(get("mca.io"))
    assert policy.sources == (str(site), str(user))


def test_absent_files_restrict_nothing(tmp_path: Path):
    assert load_policy(tmp_path / "a", tmp_path / "b") == Policy()


def test_unreadable_is_an_error(tmp_path: Path):
    path = tmp_path / "policy.toml"
    path.mkdir()
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_policy(path, tmp_path / "none")
    path.rmdir()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="dangling link"):
        load_policy(path, tmp_path / "none")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_no_permission_is_an_error(tmp_path: Path):
    path = tmp_path / "policy.toml"
    path.write_text("")
    path.chmod(0)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_policy(path, tmp_path / "none")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (2 << 20)])
def test_not_text_or_huge(tmp_path: Path, data: bytes):
    path = tmp_path / "policy.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match="policy"):
        load_policy(path, tmp_path / "none")


def test_user_path_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_policy_path() == tmp_path / "stripewise" / "policy.toml"


globs = st.sampled_from(["*", "mpiio.*", "mpiio.cb_*", "hdf5.alignment", "mca.io", "m*"])
caps = st.none() | st.integers(0, 10)
policies = st.builds(
    Policy,
    allowed=st.lists(st.lists(globs, max_size=3).map(tuple), max_size=1).map(tuple),
    denied=st.lists(globs, max_size=2).map(tuple),
    lock_layout=st.booleans(),
    max_trials=caps,
    max_bytes=caps,
)


@given(policies, policies)
def test_combining_only_narrows(first: Policy, second: Policy):
    both = first.narrowed(second)
    for knob in all_tunables():
        for one in (first, second):
            if one.why_not(knob):
                assert both.why_not(knob)
    for one in (first, second):
        if one.max_trials is not None:
            assert both.max_trials is not None
            assert both.max_trials <= one.max_trials


def test_site_store_of_what_studies_found(tmp_path):
    site, user = tmp_path / "site.toml", tmp_path / "user.toml"
    site.write_text('knowledge = "/opt/site/knowledge.sqlite"\n')
    user.write_text('knowledge = "/home/me/group.sqlite"\n')
    policy = load_policy(site=site, user=user)
    assert policy.knowledge == ("/opt/site/knowledge.sqlite", "/home/me/group.sqlite")
    assert all(policy.why_not(knob) == "" for knob in all_tunables())


@pytest.mark.parametrize("value", ['"relative.sqlite"', "1", '""'])
def test_a_store_needs_an_absolute_path(value):
    with pytest.raises(ConfigurationError, match=r"site: policy: .*knowledge"):
        parse_policy(f"knowledge = {value}\n", "site")


def test_the_earlier_name_of_the_table_is_read():
    assert (
        parse_policy('[knobs]\ndenied = ["mpiio.cb_nodes"]\n', "old").denied
        == parse_policy('[tunables]\ndenied = ["mpiio.cb_nodes"]\n', "new").denied
        == ("mpiio.cb_nodes",)
    )


def test_site_models_and_trusted_keys():
    key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    policy = parse_policy(
        f'models = ["/opt/m"]\npack_keys = ["{key}", "/etc/stripewise/site.pub"]\n', "site"
    )
    assert policy.models == ("/opt/m",)
    assert policy.pack_keys == (key, "/etc/stripewise/site.pub")
    assert policy.narrowed(policy).models == ("/opt/m", "/opt/m")


def test_the_users_preference_comes_before_the_sites():
    site, user = (parse_policy(f'hybrid = "{how}"\n', how) for how in ("links", "redirect"))
    assert site.narrowed(Policy()).hybrid == "links"
    assert site.narrowed(user).hybrid == "redirect"
    with pytest.raises(ConfigurationError, match="hybrid"):
        parse_policy('hybrid = "copies"\n', "site")


def test_where_runs_report_themselves():
    site, user = (parse_policy(f'reports = "{where}"\n', where) for where in ("/s", "/u"))
    assert site.narrowed(Policy()).reports == "/s"
    assert site.narrowed(user).reports == "/u"
    with pytest.raises(ConfigurationError, match="absolute path"):
        parse_policy('reports = "spool"\n', "site")


@pytest.mark.parametrize(
    "text", ['models = ["m"]', 'models = "/m"', 'pack_keys = ["RWshort"]', 'pack_keys = ["a.pub"]']
)
def test_models_and_keys_that_cannot_be(text):
    with pytest.raises(ConfigurationError, match=r"site: policy: .*(models|pack_keys)"):
        parse_policy(text, "site")


def test_installed_packs_are_found_the_users_first(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STRIPEWISE_SITE_PACKS", str(tmp_path / "site"))
    assert installed_packs() == ()
    for path in ("site/b", "site/a", "site/.a+x", "home/stripewise/packs/c"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "site/file").touch()
    found = [path.relative_to(tmp_path) for path in installed_packs()]
    assert found == [Path("home/stripewise/packs/c"), Path("site/a"), Path("site/b")]
    monkeypatch.setenv("XDG_DATA_HOME", "no home")
    monkeypatch.delenv("STRIPEWISE_SITE_PACKS")
    assert site_packs() == Path("/var/lib/stripewise/packs")
    assert user_packs() == Path("/dev/null/stripewise/packs")
