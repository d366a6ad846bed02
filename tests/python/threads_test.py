# SPDX-License-Identifier: BSD-3-Clause
"""Calls and objects in several threads and processes, interrupted and copied."""

import copy
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import quadrat
import quadrat.vesin


def test_lists_in_many_threads_are_those_of_one():
    points = [np.random.default_rng(k).uniform(0, 5, (800, 3)) for k in range(8)]
    wanted = [quadrat.neighbor_list(p, 1.0, outputs="ijd", sorted=True) for p in points]
    found = [None] * 8

    def work(k):
        found[k] = quadrat.neighbor_list(points[k], 1.0, outputs="ijd", sorted=True, threads=1)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for k in range(8) for a, b in zip(found[k], wanted[k]))


def test_threads_that_share_a_list_take_turns():
    neighbors = quadrat.NeighborList(1.0, outputs="ijn", threads=1)
    sets = [np.random.default_rng(k).uniform(0, 4, (100 * k + 50, 3)) for k in range(6)]
    wanted = {len(p): len(quadrat.neighbor_list(p, 1.0, outputs="j")) for p in sets}
    wrong = []

    def work(points):
        for _ in range(20):
            neighbors.update(points)
            i, j, n = neighbors.arrays()
            if not len(i) == len(j) == n[-1] == wanted[len(n) - 1]:
                wrong.append(len(n) - 1)

    threads = [threading.Thread(target=work, args=(points,)) for points in sets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_control_c_ends_a_long_build_before_it_is_complete():
    points = np.random.default_rng(1).uniform(0, 68, (1_500_000, 3))
    neighbors = quadrat.NeighborList(1.2, outputs="j")
    for delay in (0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2):
        timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            neighbors.update(points)
            timer.join()
            time.sleep(1)
        try:
            neighbors.arrays()
        except ValueError:  # there is no list: the build did not end
            break
        neighbors = quadrat.NeighborList(1.2, outputs="j")
    else:
        pytest.fail("every build was complete")
    assert neighbors.update(points[:1000]) and len(neighbors.arrays()) > 0


def test_copies_and_pickles_have_the_parameters_and_are_empty():
    random = np.random.default_rng(3)
    points, values = random.uniform(0, 3, (60, 3)), random.normal(size=60)
    box = np.array([3.0, 3, 3])
    calls = {
        quadrat.NeighborList(1.1, skin=0.2, outputs="ij", sorted=True): lambda own: (own.update(points, box=box), own.arrays()),
        quadrat.SpreadPlan(box, 6, order=5): lambda own: own.set_points(points).spread(values),
        quadrat.Nufft((4, 5, 6), 1e-8, mode_order="fft"): lambda own: own.set_points(points).type1(values),
        quadrat.Ewald(1e-7, law="dispersion"): lambda own: own.compute(points, values, box).forces,
        quadrat.CellList(box, cutoff=0.7): lambda own: own.build(points).indices,
        quadrat.vesin.NeighborList(cutoff=1.1, full_list=True, sorted=True): lambda own: own.compute(points, np.diag(box), True),
    }
    box = box.copy()
    wanted = [call(own) for own, call in calls.items()]
    for (own, call), first in zip(calls.items(), wanted):
        for other in (copy.copy(own), copy.deepcopy({"of a model": own})["of a model"], pickle.loads(pickle.dumps(own))):
            assert type(other) is type(own) and other is not own
            for a, b in zip(call(other), first):
                np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=1e-12)
    lengths = np.array([3.0, 3, 3])
    plan = quadrat.SpreadPlan(lengths, 6)
    lengths *= 2
    with pytest.raises(ValueError, match="set_points"):
        copy.deepcopy(plan.set_points(points)).spread(values)
    mesh = plan.spread(values)
    np.testing.assert_allclose(copy.deepcopy(plan).set_points(points).spread(values), mesh)


def test_forked_processes_have_one_thread():
    points = np.random.default_rng(1).uniform(0, 5, (5000, 3))
    wanted = len(quadrat.neighbor_list(points, 0.5, outputs="j"))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            quadrat.neighbor_list(points, 0.5)
        except RuntimeError as error:
            found = len(quadrat.neighbor_list(points, 0.5, outputs="j", threads=1))
            status = 0 if "fork" in str(error) and found == wanted else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
