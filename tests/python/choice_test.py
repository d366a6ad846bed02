# SPDX-License-Identifier: BSD-3-Clause
"""Which method would be chosen, without data."""

import numpy as np
import pytest

import quadrat

TASKS = ("spread", "reduce_by_key", "neighbor_list", "contacts")


@pytest.fixture(autouse=True)
def shipped_profiles(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("QUADRAT_PROFILE", raising=False)


def test_all_tasks_are_answered_at_once_or_one_alone():
    found = quadrat.choose(points=1e6, device="cpu")
    assert tuple(found) == TASKS
    assert found["spread"] == "tiles" and found["neighbor_list"] == "sweeps"
    for task in TASKS:
        assert quadrat.choose(task, points=1e6, device="cpu") == found[task]


def test_an_explanation_has_all_candidates_in_order():
    why = quadrat.choose("spread", points=1_000_000, mesh=64, device="cpu", explain=True)
    times = [one["milliseconds"] for one in why.candidates if one["milliseconds"] is not None]
    assert times == sorted(times) and why.candidates[0]["method"] == why.chosen
    assert all(one["why_not"] for one in why.candidates if one["milliseconds"] is None)
    assert "not on CPUs" in str(why) and why.load["points"] == 1e6 and "shipped" in why.profile


def test_what_is_chosen_is_what_a_plan_chooses_for_such_points():
    points = np.random.default_rng(1).uniform(0, 1, (20_000, 3))
    plan = quadrat.SpreadPlan([1, 1, 1], 32, threads=1)
    plan.set_points(points)
    assert plan.method == quadrat.choose("spread", points=20_000, mesh=32, device="cpu", threads=1)


def test_it_answers_for_a_gpu_that_is_not_here():
    assert quadrat.choose("neighbor_list", points=1e6, device="cuda") == "masks"
    assert "H200" in quadrat.choose("neighbor_list", points=1e6, device="cuda", explain=True).profile


@pytest.mark.parametrize(
    "words, arguments",
    [
        ("task is 'sort'", {"task": "sort"}),
        ("points is -1", {"points": -1}),
        ("points is nan", {"points": float("nan")}),
        ("points is 2.5", {"points": 2.5}),
        ("mesh is 0", {"mesh": 0}),
        (r"mesh is \[2, 2, 2, 2\]", {"mesh": [2, 2, 2, 2]}),
        ("key_count is 0", {"key_count": 0}),
        ("uses is 0", {"uses": 0}),
        ("order is 20", {"order": 20}),
        ("device is 'tpu'", {"device": "tpu"}),
        ("threads", {"threads": 0}),
    ],
)
def test_what_is_no_load_is_refused_by_name(words, arguments):
    with pytest.raises(ValueError, match=words):
        quadrat.choose(**({"points": 1, "device": "cpu"} | arguments))


@pytest.mark.parametrize("task", TASKS)
def test_methods_are_those_that_a_choice_is_made_of(task):
    names = quadrat.methods(task, device="cpu")
    candidates = quadrat.choose(task, points=1e4, device="cpu", explain=True).candidates
    assert quadrat.choose(task, points=1e4, device="cpu") in names and len(set(names)) == len(names)
    assert {one["method"] for one in candidates if one["why_not"] != "not on CPUs"} >= set(names)


def test_methods_of_no_task_or_device_are_refused():
    with pytest.raises(ValueError, match="task is 'neighbors'; one of spread, reduce_by_key, neighbor_list, contacts"):
        quadrat.methods("neighbors")
    with pytest.raises(ValueError, match="device is 'tpu'"):
        quadrat.methods("spread", device="tpu")
