# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Packs: one form, trusted keys, and nothing half-installed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from dataclasses import replace

import pytest
from lessons import MACHINE, case, lesson
from packed import Signer, model, pack

from stripewise.core.errors import ConfigurationError, PolicyError, StorageError, StripewiseError
from stripewise.learning.knowledge import (
    Store,
    check_installed,
    decode_pack,
    encode_pack,
    gather,
    install,
    read_pack,
    sign,
    site_stores,
)
from stripewise.learning.performance import load_models, model_to_json


@pytest.fixture(scope="module")
def signer(tmp_path_factory):
    return Signer(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def send(tmp_path, signer):
    """Write a pack, or bytes, and its signature as a site sends it."""

    def write(content, name="it.pack", by=signer):
        data = content if isinstance(content, bytes) else encode_pack(content)
        path = tmp_path / name
        path.write_bytes(data)
        signature = sign(data, by.secret, "a test", lambda: "")
        path.with_name(f"{name}.minisig").write_bytes(signature)
        return path

    return write


def never():
    raise AssertionError("no password is asked for")


def test_equal_content_is_equal_bytes_in_any_order():
    lessons = [lesson(), lesson({"mpiio.cb_nodes": 4})]
    models = [model(), model(stack="ompio")]
    one = encode_pack(gather(lessons, models))
    other = encode_pack(gather(lessons[::-1], models[::-1]))
    assert one == other
    assert one.isascii()
    assert decode_pack(one, "x") == gather(lessons, models)


def test_a_pack_is_of_one_storage():
    emulated = case(replace(MACHINE, emulated="hopper@1/16, 4 ranks a node"))
    lessons = [lesson(), lesson(of=emulated)]
    with pytest.raises(ConfigurationError, match=r"hopper@1/16, lustre: .*--storage"):
        gather(lessons, [])
    found = gather(lessons, [model(), model("hopper@1/16")], storage="hopper@1/16")
    assert found.name == "hopper@1-16"
    assert (found.lessons, found.models) == ((lessons[1],), (model("hopper@1/16"),))
    with pytest.raises(ConfigurationError, match="nothing is known of the storage edison"):
        gather(lessons, [], storage="edison")
    with pytest.raises(ConfigurationError, match="nothing to pack"):
        gather([], [])


@pytest.mark.parametrize("name", ["../up", "/etc", ".hidden", "a/b", "A", "a+b", "x" * 65, "a\n"])
def test_names_that_lead_elsewhere_are_none(name):
    with pytest.raises(ConfigurationError, match="cannot be the name of a pack"):
        gather([lesson()], [], name=name)


def header(**changes):
    data = {"format": "stripewise-pack", "version": 1, "name": "x", "storage": "lustre",
            "lessons": 1, "models": 1, "tables": 0} | changes  # fmt: skip
    return json.dumps({key: value for key, value in data.items() if value is not None})


GOOD = encode_pack(pack()).decode().split("\n")
LESSON, MODEL = GOOD[1], GOOD[3]
OTHER = json.dumps(model_to_json(model("edison")))
HUGE = json.dumps(model_to_json(model())).replace("2.5", "9" * 5000)
BAD = {
    "empty": b"",
    "zeros": bytes(1000),
    "not UTF-8": b"\xff" * 100,
    "not JSON": b"hello\n",
    "a list": b"[]\n",
    "deep": b"[" * 200_000 + b"\n",
    "an archive": b"PK\x03\x04" + bytes(100),
    "another format": header(format="zip"),
    "a newer version": header(version=2),
    "a huge version": header(version=10**30),
    "version 0": header(version=0),
    "version true": header(version=True),
    "a text for a number": header(lessons="1"),
    "fewer than none": header(lessons=-1),
    "no name": header(name=None),
    "more keys": header(more=1),
    "a path": header(name="../../etc/cron.d/x"),
    "a control character": header(storage="\x1b[2J"),
    "a lesson too many": header(lessons=2),
    "10^18 lessons": header(lessons=10**18),
    "a model for a lesson": (header(), MODEL, MODEL),
    "a lesson for a model": (header(), LESSON, LESSON),
    "an empty line": (header(lessons=2), LESSON, "", MODEL),
    "twice the same": (header(lessons=2), LESSON, LESSON, MODEL),
    "another storage": (header(), LESSON, OTHER),
    "more than it says": (header(), LESSON, MODEL, MODEL),
    "a huge number": (header(), LESSON, HUGE),
    "a number that is none": (header(), LESSON, MODEL.replace("2.5", "NaN")),
    "a table of another storage": (header(tables=1), LESSON, MODEL, '{"ground":{"storage":"x"}}'),
    "a table that is none": (header(tables=1), LESSON, MODEL, "[]"),
    "a table that is not JSON": (header(tables=1), LESSON, MODEL, "{"),
    "a newer lesson": (header(), LESSON.replace('"version":', '"version":9'), MODEL),
    "a newer model": (header(), LESSON, MODEL.replace('"version":1', '"version":99')),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_hostile_packs_are_refused_in_one_line(content, send, signer, tmp_path):
    if isinstance(content, str):
        content = (content, LESSON, MODEL)
    if isinstance(content, tuple):
        content = "".join(f"{line}\n" for line in content).encode()
    path = send(content)
    with pytest.raises(StripewiseError) as caught:
        read_pack(path, [str(signer.public)])
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500 + len(str(path))


def test_a_newer_version_says_what_to_do():
    with pytest.raises(ConfigurationError, match=r"version 2, this .* reads 1: use a newer"):
        decode_pack(f"{header(version=2, unknown=[])}\nwhatever\n".encode(), "x")


def test_every_changed_byte_is_refused(send, signer):
    path = send(pack())
    good = path.read_bytes()
    assert read_pack(path, [signer.text]).pack.lessons
    for place in (*range(0, len(good), 97), len(good) - 1):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(PolicyError, match="changed or damaged"):
            read_pack(path, [signer.text])
    for content in (good[:-1], good + b"\n", b""):
        path.write_bytes(content)
        with pytest.raises(PolicyError, match="changed or damaged"):
            read_pack(path, [signer.text])


def test_every_changed_byte_of_the_signature_is_refused(send, signer):
    path = send(pack())
    side = path.with_name("it.pack.minisig")
    good = side.read_bytes()
    free = good.index(b"\n") + 1  # the first line is said to be untrusted
    for place in range(free, len(good) - 1):
        side.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises((PolicyError, ConfigurationError)):
            read_pack(path, [signer.text])


def test_who_is_not_trusted_is_refused(send, signer, tmp_path):
    path = send(pack(), by=Signer(tmp_path / "mallory"))
    with pytest.raises(PolicyError, match="no trusted key"):
        read_pack(path, [])
    with pytest.raises(PolicyError, match=r"signed with the key [0-9A-F]{16}, which is not"):
        read_pack(path, [signer.text])
    (tmp_path / "it.pack.minisig").unlink()
    with pytest.raises(StripewiseError, match="pack is not signed"):
        read_pack(path, [signer.text])


def test_a_key_of_the_same_number_does_not_stand_in(send, signer, tmp_path):
    import base64

    false = bytearray(base64.b64decode(signer.text))
    other = bytearray(base64.b64decode(Signer(tmp_path / "other").text))
    other[2:10] = false[2:10]
    forged = base64.b64encode(bytes(other)).decode()
    path = send(pack())
    assert read_pack(path, [forged, signer.text]).key == signer.text
    with pytest.raises(PolicyError, match="changed or damaged"):
        read_pack(path, [forged])


def test_keys_that_are_none(send, tmp_path):
    path = send(pack())
    (tmp_path / "no.pub").write_text("untrusted comment: nothing\n")
    for key in ("", "RW" + "A" * 53, "x" * 56, str(tmp_path / "no.pub"), "/dev/null", "a\0b"):
        with pytest.raises(StripewiseError, match="key"):
            read_pack(path, [key])


def test_a_secret_key_with_a_password(tmp_path):
    secret = Signer(tmp_path / "keys", "open").secret
    assert sign(b"x", secret, "c", lambda: "open").startswith(b"untrusted comment: ")
    with pytest.raises(StripewiseError, match="wrong password"):
        sign(b"x", secret, "c", lambda: "no")
    for place in (tmp_path / "none", tmp_path, Signer(tmp_path / "keys2").public):
        with pytest.raises(StripewiseError):
            sign(b"x", place, "c", never)


@pytest.mark.skipif(not shutil.which("minisign"), reason="the program minisign is not there")
def test_the_program_minisign_reads_and_writes_the_same(send, signer, tmp_path):
    path = send(pack())
    words = ["minisign", "-V", "-q", "-p", signer.public, "-m", path]
    subprocess.run(words, check=True, timeout=60)
    path.with_name("it.pack.minisig").unlink()
    for flags in (["-S"], ["-S", "-l"]):
        subprocess.run(["minisign", *flags, "-s", signer.secret, "-m", path], check=True,
                       timeout=60, capture_output=True)  # fmt: skip
        assert read_pack(path, [str(signer.public)]).pack == decode_pack(path.read_bytes(), "x")


def test_tables_of_first_runs_travel_too(send, signer, tmp_path):
    table = json.dumps({"version": 1, "ground": {"storage": "lustre"}, "rules": []})
    other = table.replace("lustre", "edison")
    found = gather([lesson()], [], [table.encode(), b"{", other.encode()])
    assert len(found.tables) == 1
    place = install(read_pack(send(found), [signer.text]), tmp_path / "packs")
    (path,) = (place / "models" / "series").iterdir()
    assert json.loads(path.read_text()) == json.loads(table)
    assert check_installed(place, [signer.text]).pack == found
    path.chmod(0o600)
    path.write_text("{}")
    with pytest.raises(ConfigurationError, match="was changed since it was installed"):
        check_installed(place, [signer.text])


def modes(path):
    return {stat.S_IMODE(one.stat().st_mode) for one in path.rglob("*") if one.is_file()}


def test_an_installed_pack_gives_what_was_packed(send, signer, tmp_path, monkeypatch):
    home = tmp_path / "deep" / "packs"
    monkeypatch.setenv("STRIPEWISE_SITE_PACKS", str(home))
    mask = os.umask(0o077)
    try:
        place = install(read_pack(send(pack()), [signer.text]), home)
    finally:
        os.umask(mask)
    assert (place.name, modes(home)) == ("lustre", {0o444})
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o755
    (store,) = site_stores(())
    packed = check_installed(place, [signer.text]).pack
    assert sorted(store.lessons(), key=lambda one: one.study_id) == list(packed.lessons)
    assert load_models().models == packed.models
    with pytest.raises(StorageError, match="read only"):
        store.add([lesson()])


def test_a_newer_pack_replaces_and_an_older_one_does_not(send, signer, tmp_path):
    home = tmp_path / "packs"
    old, new = pack("n", at=1.7e9), pack("n", at=1.8e9)
    for one in (old, new):
        place = install(read_pack(send(one), [signer.text]), home)
    assert check_installed(place, [signer.text]).pack == new
    stale = read_pack(send(old), [signer.text])
    with pytest.raises(StripewiseError, match="a newer pack n is installed"):
        install(stale, home)
    assert check_installed(place, [signer.text]).pack == new
    install(stale, home, older=True)
    assert check_installed(place, [signer.text]).pack == old
    assert len(list(home.iterdir())) == 2


def test_nothing_is_half_installed(send, signer, tmp_path, monkeypatch):
    home = tmp_path / "packs"
    place = install(read_pack(send(pack("n", at=1.7e9)), [signer.text]), home)
    before = sorted(home.rglob("*"))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    for name in ("Store.add", "save_model", "_set_mode_and_flush", "_replace_link"):
        with monkeypatch.context() as patch:
            patch.setattr(f"stripewise.learning.knowledge._installed.{name}", full)
            with pytest.raises(StorageError, match=r"cannot install in .*No space left"):
                install(read_pack(send(pack("n")), [signer.text]), home)
        assert sorted(home.rglob("*")) == before
    (home / ".n+killed").mkdir()
    install(read_pack(send(pack("n")), [signer.text]), home)
    assert not (home / ".n+killed").exists()
    assert check_installed(place, [signer.text]).pack.newest_unix_seconds == 1.79e9


def test_what_else_is_there_is_left_alone(send, signer, tmp_path):
    home = tmp_path / "packs"
    (home / "n").mkdir(parents=True)
    (home / "n" / "mine").touch()
    with pytest.raises(StorageError, match="something else"):
        install(read_pack(send(pack("n")), [signer.text]), home)
    assert [path.name for path in home.rglob("*")] == ["n", "mine"]
    (home / "file").touch()
    with pytest.raises(StorageError, match="--prefix"):
        install(read_pack(send(pack("n")), [signer.text]), home / "file")


def test_an_installed_pack_that_was_changed_is_said(send, signer, tmp_path):
    place = install(read_pack(send(pack()), [signer.text]), tmp_path / "packs")
    store = place / "knowledge.sqlite"
    store.chmod(0o600)
    Store(store).add([lesson()])
    with pytest.raises(ConfigurationError, match="was changed since it was installed"):
        check_installed(place, [signer.text])
    install(read_pack(send(pack()), [signer.text]), tmp_path / "packs")
    assert check_installed(place, [signer.text])
    (file,) = (place / "models").iterdir()
    file.chmod(0o600)
    file.write_text("{}")
    with pytest.raises(ConfigurationError, match="was changed since it was installed"):
        check_installed(place, [signer.text])
