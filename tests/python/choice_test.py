# SPDX-License-Identifier: BSD-3-Clause
"""Which method would be chosen, without data."""

import numpy as np
import pytest

import quadrat

TASKS = ("spread", "reduce", "neighbors", "contacts")


@pytest.fixture(autouse=True)
def shipped_profiles(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("QUADRAT_PROFILE", raising=False)


def test_all_tasks_are_answered_at_once_or_one_alone():
    found = quadrat.choose(n=1e6, device="cpu")
    assert tuple(found) == TASKS
    assert found["spread"] == "tiles" and found["neighbors"] == "sweeps"
    for task in TASKS:
        assert quadrat.choose(task, n=1e6, device="cpu") == found[task]


def test_an_explanation_has_all_candidates_in_order():
    why = quadrat.choose("spread", n=1_000_000, cells=64, device="cpu", explain=True)
    times = [one["milliseconds"] for one in why.candidates if one["milliseconds"] is not None]
    assert times == sorted(times) and why.candidates[0]["method"] == why.chosen
    assert all(one["why_not"] for one in why.candidates if one["milliseconds"] is None)
    assert "not on CPUs" in str(why) and why.load["points"] == 1e6 and "shipped" in why.profile


def test_what_is_chosen_is_what_a_plan_chooses_for_such_points():
    points = np.random.default_rng(1).uniform(0, 1, (20_000, 3))
    plan = quadrat.SpreadPlan([1, 1, 1], 32, order=4, threads=1)
    plan.set_points(points)
    assert plan.method == quadrat.choose("spread", n=20_000, cells=32, order=4, dtype="float64", device="cpu", threads=1)


def test_it_answers_for_a_gpu_that_is_not_here():
    assert quadrat.choose("neighbors", n=1e6, device="cuda") == "masks"
    assert "H200" in quadrat.choose("neighbors", n=1e6, device="cuda", explain=True).profile


@pytest.mark.parametrize(
    "words, arguments",
    [
        ("task is 'sort'", {"task": "sort", "n": 1}),
        ("n is -1", {"n": -1}),
        ("n is nan", {"n": float("nan")}),
        ("cells along an axis are 0", {"n": 1, "cells": 0}),
        ("cells have 4 axes", {"n": 1, "cells": [2, 2, 2, 2]}),
        ("keys is 0", {"n": 1, "keys": 0}),
        ("uses is 0", {"n": 1, "uses": 0}),
        ("order is 20", {"n": 1, "order": 20}),
        ("device is 'tpu'", {"n": 1, "device": "tpu"}),
        ("threads", {"n": 1, "threads": -1}),
    ],
)
def test_what_is_no_load_is_refused_by_name(words, arguments):
    with pytest.raises(ValueError, match=words):
        quadrat.choose(**({"device": "cpu"} | arguments))
