# SPDX-License-Identifier: BSD-3-Clause
"""A forked process has none of the threads of its parent: what would wait for them is refused, and does not hang."""

import os
import signal

import numpy as np
import pytest

import quadrat

POINTS = np.random.default_rng(1).uniform(0, 1, (50_000, 3))
VALUES = POINTS[:, 0].copy()
CHARGES = np.resize([1.0, -1.0], len(POINTS))
BOX = [1.0, 1.0, 1.0]
SCENE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "dam_break_small.toml")


def neighbors(threads):
    kept = quadrat.NeighborList(0.03, threads=threads)
    return lambda: kept.update(POINTS, box=BOX)


def cells(threads):
    kept = quadrat.CellList(BOX, cells=16, threads=threads)
    return lambda: kept.build(POINTS)


def spreading(threads):
    kept = quadrat.SpreadPlan(BOX, 32, threads=threads).set_points(POINTS)
    return lambda: kept.spread(VALUES)


def points_of_a_plan(threads):
    kept = quadrat.SpreadPlan(BOX, 32, threads=threads)
    return lambda: kept.set_points(POINTS)


def transform(threads):
    kept = quadrat.Nufft((32, 32, 32), 1e-3, period=1, threads=threads).set_points(POINTS)
    return lambda: kept.type1(VALUES)


def charges(threads):
    kept = quadrat.Ewald(1e-2, threads=threads)
    return lambda: kept.compute(POINTS[:5000], CHARGES[:5000], BOX)


def scene(threads):
    kept = quadrat.Simulation(SCENE, threads=threads)
    return lambda: kept.advance(2)


def in_a_forked_process(work):
    """0: done, 3: refused for being forked, 4: another error; a signal's negative number if it hung."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        status = 4
        try:
            work()
            status = 0
        except RuntimeError as error:
            status = 3 if "forked" in str(error) else 4
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("make", [neighbors, cells, spreading, points_of_a_plan, transform, charges, scene])
def test_what_was_made_before_a_fork_is_refused_after_it(make):
    work = make(2)
    work()
    assert in_a_forked_process(work) == 3
    work()  # the parent goes on


@pytest.mark.parametrize("make", [neighbors, cells, spreading, points_of_a_plan, transform, charges, scene])
def test_what_has_one_thread_goes_on_after_a_fork(make):
    work = make(1)
    work()
    assert in_a_forked_process(work) == 0


def test_scenes_opened_after_a_fork_need_one_thread():
    scene(2)()
    assert in_a_forked_process(lambda: quadrat.Simulation(SCENE)) == 3
    assert in_a_forked_process(lambda: quadrat.Simulation(SCENE, threads=1).advance(2)) == 0
