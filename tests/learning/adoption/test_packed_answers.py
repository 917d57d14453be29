# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pack that was made on one machine gives the same answers on another."""

from __future__ import annotations

from dataclasses import replace

from learning.adoption.questions import HOPPER, question, tuned
from learning.knowledge.lessons import lesson
from learning.knowledge.packed import Signer
from stripewise.learning.adoption import Level, answer
from stripewise.learning.knowledge import (
    Memory,
    encode_pack,
    gather,
    install,
    own_store,
    read_pack,
    sign,
    site_stores,
)
from stripewise.learning.performance import (
    Model,
    Range,
    Term,
    class_of_program,
    ground_of,
    load_models,
    own_models,
    save_model,
    site_models,
)


def on_hopper(asked):
    """The same question on an emulated storage."""
    machine = replace(asked.case.machine, emulated="hopper@1/16", storage="cd" * 8)
    ground = ground_of(asked.facts, storage=HOPPER)
    return replace(asked, case=replace(asked.case, machine=machine), ground=ground)


def model_of(asked):
    """A model that holds four stripes for best."""
    known = {name: Range(1e-6, 1e6) for name in ("c", "s", "a", "f", "ranks")}
    known["c"] = Range(1.0, 4.0)
    return Model(
        asked.ground,
        class_of_program(asked.facts),
        "regression",
        terms=(Term({}, 0.1), Term({"c": -1}, 2.0)),
        ranges=known,
        tunables=("mpiio.striping_factor",),
        trained_unix_seconds=1.79e9,
    )


def answers(asked):
    """What a study and a run of this program would begin with here."""
    own = own_store()
    memory = Memory(own, site_stores(()), asked.case.machine)
    models = load_models((own_models(), *site_models())).models
    lessons = [one for store in (own, *site_stores(())) for one in store.lessons()]
    recollection = memory.recall(asked.case, asked.space, asked.facts)
    return recollection, answer(asked, lessons, models), answer(asked, [], models)


def test_the_same_answers_on_another_machine(tmp_path, monkeypatch):
    asked = on_hopper(question())
    signer = Signer(tmp_path / "keys")
    own_store().add([lesson({"mpiio.striping_factor": 2}, of=tuned(asked))])
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path / "models"))
    save_model(model_of(asked))
    here = answers(asked)
    assert [found.level for found in here[1:]] == [Level.PATTERN, Level.MODEL]
    assert here[0].seeds
    data = encode_pack(gather(own_store().lessons(), [model_of(asked)]))
    (tmp_path / "it.pack").write_bytes(data)
    (tmp_path / "it.pack.minisig").write_bytes(sign(data, signer.secret, "a test", str))

    monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", str(tmp_path / "there.sqlite"))
    monkeypatch.setenv("STRIPEWISE_MODELS", str(tmp_path / "models there"))
    monkeypatch.setenv("STRIPEWISE_SITE_PACKS", str(tmp_path / "packs"))
    assert {found.level for found in answers(asked)[1:]} == {Level.DEFAULT}
    install(read_pack(tmp_path / "it.pack", [signer.text]), tmp_path / "packs")
    assert answers(asked) == here
    own_store().add([lesson({"mpiio.striping_factor": 4}, of=asked.case, median=9.0)])
    assert answers(asked)[1] != here[1], "what the user found counts too"
