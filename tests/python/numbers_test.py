# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that are no whole ones, or too large, are refused by name; plans without points say so."""

import importlib.util
import os
import re

import numpy as np
import pytest

import quadrat

POINTS = np.random.default_rng(1).uniform(0, 10, (50, 3))
ONES = np.ones(50)
BOX = [10.0, 10.0, 10.0]
SCENE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "dam_break_small.toml")

CALLS = {
    "threads": [
        lambda n: quadrat.neighbor_list(POINTS, 1.0, threads=n),
        lambda n: quadrat.NeighborList(1.0, threads=n),
        lambda n: quadrat.knn(POINTS, 3, threads=n),
        lambda n: quadrat.clusters(POINTS, 1.0, threads=n),
        lambda n: quadrat.contacts(POINTS, 0.5, threads=n),
        lambda n: quadrat.rdf(POINTS, 2.0, box=BOX, threads=n),
        lambda n: quadrat.CellList(BOX, cells=2, threads=n),
        lambda n: quadrat.spread(POINTS, ONES, BOX, 8, threads=n),
        lambda n: quadrat.Nufft(8, threads=n),
        lambda n: quadrat.nufft3(POINTS, ONES, POINTS, threads=n),
        lambda n: quadrat.Ewald(threads=n),
        lambda n: quadrat.reduce_by_key([0, 1], [1.0, 2.0], threads=n),
        lambda n: quadrat.count_keys([0, 1], threads=n),
        lambda n: quadrat.Simulation(SCENE, threads=n),
    ],
    "cells": [lambda n: quadrat.CellList(BOX, cells=n)],
    "mesh": [lambda n: quadrat.spread(POINTS, ONES, BOX, n)],
    "order": [lambda n: quadrat.spread(POINTS, ONES, BOX, 8, order=n)],
    "n_modes": [lambda n: quadrat.Nufft(n)],
    "sign": [lambda n: quadrat.nufft1(POINTS, ONES, (4, 4, 4), sign=n)],
    "key_count": [
        lambda n: quadrat.reduce_by_key([0, 1], [1.0, 2.0], key_count=n),
        lambda n: quadrat.count_keys([0, 1], key_count=n),
    ],
    "k": [lambda n: quadrat.knn(POINTS, n)],
    "min_points": [lambda n: quadrat.clusters(POINTS, 1.0, min_points=n)],
    "bins": [lambda n: quadrat.rdf(POINTS, 2.0, box=BOX, bins=n)],
    "steps": [
        lambda n: quadrat.Simulation(SCENE, steps=n),
        lambda n: quadrat.Simulation(SCENE).advance(n),
    ],
    "seed": [lambda n: quadrat.Simulation(SCENE, seed=n)],
    "frame_every": [lambda n: quadrat.run(SCENE, steps=1, frame_every=n)],
}
EACH = [pytest.param(name, call, id=f"{name}-{k}") for name, calls in CALLS.items() for k, call in enumerate(calls)]


@pytest.mark.parametrize("value", [2.5, float("nan"), float("inf"), 10**20, "many", [1, 2, 3, 4]], ids=repr)
@pytest.mark.parametrize("name, call", EACH)
def test_what_is_no_whole_number_is_refused_by_name(name, call, value):
    read = isinstance(value, (int, float)) or isinstance(value, list) and name in ("cells", "mesh", "n_modes")
    with pytest.raises(ValueError if read else TypeError, match=rf"^{name} is .* accepted$"):
        call(value)


def test_whole_numbers_of_other_types_are_accepted():
    assert quadrat.spread(POINTS, ONES, BOX, np.int32(8), order=4.0, threads=np.uint8(1)).shape == (8, 8, 8)


@pytest.mark.parametrize("refused", [False, True])
def test_plans_without_points_say_so(refused):
    spread, transform = quadrat.SpreadPlan(BOX, 8), quadrat.Nufft((4, 4, 4))
    for plan in (spread, transform):
        if refused:
            plan.set_points(POINTS)
            with pytest.raises(ValueError, match="not finite"):
                plan.set_points(np.full((50, 3), np.nan))
    empty = np.zeros((8, 8, 8))
    for call in (
        lambda: spread.spread(ONES),
        lambda: spread.interpolate(empty),
        lambda: spread.gradient(empty),
        lambda: transform.type1(ONES),
        lambda: transform.type2(np.zeros((4, 4, 4), complex)),
    ):
        with pytest.raises(ValueError, match="there are no points yet, or the last were refused; call set_points"):
            call()


def test_points_of_another_type_than_the_plan_are_refused():
    for plan in (quadrat.SpreadPlan(BOX, 8), quadrat.Nufft((4, 4, 4))):
        with pytest.raises(TypeError, match="points have the type float32; float64 is needed, the dtype of the plan"):
            plan.set_points(POINTS.astype(np.float32))


@pytest.mark.skipif(importlib.util.find_spec("quadrat_cuda13") is not None, reason="the package is there")
def test_a_plan_that_cannot_move_to_a_gpu_says_so_and_goes_on():
    class on_gpu:
        shape, dtype, ndim = (2, 3), np.dtype(np.float64), 2

        def __dlpack_device__(self):
            return 2, 0

    for plan, values in ((quadrat.SpreadPlan(BOX, 8), "spread"), (quadrat.Nufft((4, 4, 4)), "type1")):
        with pytest.raises(ImportError):
            plan.set_points(on_gpu())
        assert plan.method == "" if values == "spread" else plan.error_bound > 0
        with pytest.raises(ValueError, match="there are no points"):
            getattr(plan, values)(ONES)
        assert getattr(plan.set_points(POINTS), values)(ONES).shape


@pytest.mark.parametrize("length", [-1.0, 0.0, float("nan"), float("inf")])
def test_lengths_of_boxes_are_positive(length):
    box = [10.0, length, 10.0]
    # No length at all is that of an open axis.
    positive = f"the box is {length:g} long along axis 1; its lengths must be positive"
    message = f"{positive}|the box has no extent along axis 1" if length == 0 else positive
    for call in (
        lambda: quadrat.neighbor_list(POINTS, 1.0, box=box),
        lambda: quadrat.neighbor_list(POINTS, 1.0, box=np.array(box)),
        lambda: quadrat.knn(POINTS, 3, box=box),
        lambda: quadrat.contacts(POINTS, 0.5, box=box),
        lambda: quadrat.CellList(box, cells=2),
        lambda: quadrat.spread(POINTS, ONES, box, 8),
        lambda: quadrat.electrostatics(POINTS, ONES, box),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_bodies_without_a_size_are_refused():
    with pytest.raises(ValueError, match="a radius of all, radii or sizes are needed"):
        quadrat.contacts(POINTS)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: quadrat.neighbor_list(POINTS, "3"), "cutoff is '3'; a number"),
        (lambda: quadrat.neighbor_list(POINTS, 1.0, outputs=["i", "j"]), r"outputs is \['i', 'j'\]; text"),
        (lambda: quadrat.neighbor_list(POINTS, 1.0, method=3), "method is 3; text"),
        (lambda: quadrat.neighbor_list(POINTS, np.ones((40, 3))), r"cutoff is float64 \(40, 3\); a number"),
        (lambda: quadrat.clusters(POINTS, None), "cutoff is None"),
        (lambda: quadrat.reduce_by_key([0], [1.0], np.sum), "operation is <function.*; text.*sum, min, max, mean"),
        (lambda: quadrat.SpreadPlan([1, 1, 1], 8, deterministic=True), "deterministic is True; text.*none, run_to_run"),
        (lambda: quadrat.Nufft(8, 1e-3, mode_order=4), "mode_order is 4; text.*centered, fft"),
        (lambda: quadrat.Ewald("1e-5"), "accuracy is '1e-5'"),
        (lambda: quadrat.choose(points=1, dtype="float16"), "dtype is float16; float32 and float64"),
    ],
)
def test_what_is_no_number_or_no_word_is_named(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_the_accuracy_that_was_asked_for_is_named():
    random = np.random.default_rng(1)
    points, systems = random.uniform(0, 9, (42, 3)), np.repeat([0, 1], [40, 2])  # two charges are looked at more strictly
    points[:20] = points[20:40] + 0.01
    arguments = (points, np.ones(42), [9, 9, 9])
    with pytest.raises(ValueError, match="the accuracy is 1e-13; .* can be reached") as refusal:
        quadrat.electrostatics(*arguments, 1e-13, method="esp", systems=systems)
    reached = float(re.search(r"(\S+) can be reached", str(refusal.value))[1])
    assert 1e-13 < reached < 1e-10
    assert np.isfinite(quadrat.electrostatics(*arguments, reached, method="esp", systems=systems).forces).all()
