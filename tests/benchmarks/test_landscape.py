# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from dataclasses import replace
from math import inf, isnan

import pytest
from surfaces import Landscape, draw_surface, surface_lines

from stripewise.core import RunStatus
from stripewise.core.errors import UsageError
from stripewise.study.training import Surface, SurfaceRole, SurfaceRun
from support.random_draws import regret_of
from support.strategy_suite import romio_facts
from support.study_fakes import lognormal
from support.surfaces import synthetic_surface

DS, BUFFER = "mpiio.romio_ds_write", "mpiio.ind_wr_buffer_size"
VARY = {DS: ("enable", "disable"), BUFFER: (1 << 20, 4 << 20, 16 << 20)}


def truth(settings) -> float:
    factor = {"enable": 1.5, "disable": 0.5}.get(settings.get(DS), 1.0)
    return 2.0 * factor * {1 << 20: 0.9, 4 << 20: 0.88}.get(settings.get(BUFFER), 1.0)


EXACT = Landscape(synthetic_surface(truth, VARY))
NOISY = Landscape(synthetic_surface(truth, VARY, noise=lognormal(0.1), repeats=9))


def test_optimum_default_and_gain():
    assert len(EXACT.spots) == 12
    assert EXACT.default.io_seconds == 2.0
    assert dict(EXACT.best.settings) == {DS: "disable", BUFFER: 4 << 20}
    assert EXACT.gain == pytest.approx(2 / 0.88)
    assert EXACT.gain_interval() == pytest.approx((2 / 0.88, 2 / 0.88))
    assert EXACT.enough_repeats


def test_runs_of_the_default_in_between_leave_fewer_repeats_an_optimum():
    few = synthetic_surface(truth, VARY, repeats=3)
    more = [SurfaceRun({}, 2.0, 2.0, role=SurfaceRole.CONTROL) for _ in range(6)]
    scene = Landscape(replace(few, runs=(*few.runs, *more)))
    assert dict(scene.best.settings) == {DS: "disable", BUFFER: 4 << 20}
    assert not scene.enough_repeats


def test_near_and_regret():
    assert [dict(spot.settings)[BUFFER] for spot in EXACT.near()] == [4 << 20, 1 << 20]
    assert regret_of(EXACT, EXACT.best.settings) == 0
    assert regret_of(EXACT, {}) == pytest.approx(2 / 0.88 - 1)
    assert regret_of(EXACT, {DS: "disable", BUFFER: 3}) == inf


def test_a_tunable_that_cannot_act_is_in_no_optimum():
    """What differs with it is noise: nothing is written with holes."""
    facts = replace(romio_facts(), noncontiguous=False)
    surface = replace(synthetic_surface(truth, VARY), facts=facts)
    scene = Landscape(surface)
    assert DS in scene.inert
    assert DS in scene.spots[0].settings
    assert DS not in scene.best.settings
    assert any(f"{DS} cannot act" in text for text in surface_lines(surface, "s"))


def test_effects_are_those_of_the_formula():
    effects = {effect.name: effect for effect in EXACT.effects()}
    assert list(effects) == [DS, BUFFER]
    assert dict(effects[DS].ratios) == pytest.approx({"enable": 1.5, "disable": 0.5})
    assert effects[DS].factor == pytest.approx(3)
    assert effects[BUFFER].factor == pytest.approx(1 / 0.88)


def test_noise_is_seen_and_widens_the_interval():
    assert EXACT.noise == 0
    assert 0.05 < NOISY.noise < 0.15
    low, high = NOISY.gain_interval()
    assert low < NOISY.gain < high


def test_fresh_rounds_take_the_luck_out():
    """Without any effect the best of many medians still looks better; fresh rounds do not."""
    flat = Landscape(synthetic_surface(lambda s: 1.0, VARY, noise=lognormal(0.3)))
    assert flat.gain > 1.1
    assert flat.fresh_gain() < flat.gain
    assert EXACT.fresh_gain() == pytest.approx(EXACT.gain)
    assert isnan(Landscape(Surface(("a",), runs=(SurfaceRun({}, 1, 1),))).fresh_gain())


def test_a_configuration_that_failed_once_is_no_optimum():
    best = dict(EXACT.best.settings)
    runs = list(EXACT.surface.runs)
    place = next(i for i, run in enumerate(runs) if dict(run.settings) == best)
    runs[place] = replace(runs[place], status=RunStatus.FAILED)
    scene = Landscape(replace(EXACT.surface, runs=tuple(runs)))
    assert dict(scene.best.settings) != best
    assert scene.find(best).io_seconds == inf


def test_few_repeats_are_said():
    assert not Landscape(synthetic_surface(truth, VARY, repeats=3)).enough_repeats


def test_without_a_default_there_is_no_reference():
    with pytest.raises(UsageError, match="no run of the default"):
        Landscape(Surface(("a",), runs=(SurfaceRun({DS: "disable"}, 1, 1),)))


def test_the_lines_say_what_there_is():
    text = "\n".join(surface_lines(NOISY.surface, "small"))
    assert "12 configurations, 113 runs" in text
    assert "romio_ds_write=disable" in text
    assert "95 %, bootstrap" in text
    assert "within 5 %" in text


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture(tmp_path, suffix):
    picture = tmp_path / f"a.{suffix}"
    draw_surface(NOISY.surface, picture, "small")
    content = picture.read_bytes()
    assert content[:4] in (b"<svg", b"\x89PNG")
    if suffix == "svg":
        assert b"within 5 % of the optimum" in content
