# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a caller gives for an argument: the result of the same numbers, or one short error that names it."""

import pathlib

import ase
import numpy as np
import pytest
import quadrat
import quadrat.ase
import quadrat.finufft
import quadrat.vesin

RANDOM = np.random.default_rng(1)
N = 12
POINTS, QUERIES = RANDOM.uniform(0, 4, (N, 3)), RANDOM.uniform(0, 4, (5, 3))
VALUES, TYPES, KEYS = RANDOM.normal(size=N), np.arange(N) % 2, np.arange(N) % 4
MESH, MODES = RANDOM.normal(size=(4, 4, 4)), RANDOM.normal(size=(4, 4, 4)) + 1j
BOX, CORNER, PERIODIC = np.array([4.0, 5.0, 6.0]), np.array([0.5, 0.0, -1.0]), np.array([True, True, False])
CHARGES = np.where(TYPES, 1.0, -1.0)
TABLE = np.array([[0.5, 1.1], [1.1, 0.8]])


def listed(**given):
    own = {name: given.pop(name) for name in ("cutoff", "skin", "half", "sorted", "outputs", "method", "threads", "index_dtype",
           "rule", "type_cutoffs", "autotune", "deterministic")}  # fmt: skip
    neighbors = quadrat.NeighborList(**own)
    neighbors.update(**given)
    return neighbors.arrays()


def cataloged(**given):
    found = quadrat.cluster_catalog(**given)
    return *(found.groups[name] for name in found.groups.dtype.names), found.rows


def cells(points, **given):
    return quadrat.CellList(**given).build(points).offsets


def spread(points, values, mesh_values, **given):
    plan = quadrat.SpreadPlan(**given).set_points(points)
    return plan.spread(values), plan.interpolate(mesh_values), plan.gradient(mesh_values)


def transformed(points, values, modes, **given):
    plan = quadrat.Nufft(**given).set_points(points)
    return plan.type1(values), plan.type2(modes)


def summed(accuracy, method, law, coulomb_constant, remove_net_force, deterministic, threads, **given):
    own = {"law": law, "coulomb_constant": coulomb_constant, "remove_net_force": remove_net_force, "threads": threads}
    return quadrat.Ewald(accuracy, method=method, deterministic=deterministic, **own).compute(**given)


EACH = {"box": BOX, "periodic": PERIODIC, "origin": CORNER}
DONE = {"method": "auto", "deterministic": "none", "threads": 1}
# fmt: off
CALLS = {
    "neighbor_list": (quadrat.neighbor_list, {
        "points": POINTS, "cutoff": 1.5, **EACH, "half": False, "sorted": True, "outputs": "ijSdDn", "queries": QUERIES,
        "systems": TYPES, "systems_of_queries": np.array([0, 1, 1, 0, 1]), **DONE, "index_dtype": "int64",
        "rule": "sum_of_radii", "radii": np.full(N, 0.6), "radii_of_queries": np.full(5, 0.7)}),
    "neighbor_list by types": (quadrat.neighbor_list, {
        "points": POINTS, "cutoff": 1.5, "box": np.diag(BOX), "sorted": True, "types": TYPES, "type_cutoffs": TABLE,
        "excluded": np.array([[0, 1], [2, 3]])}),
    "NeighborList": (listed, {
        "points": POINTS, "cutoff": 1.5, "skin": 0.1, **EACH, "half": True, "sorted": True, "outputs": "ijS", "autotune": False, **DONE,
        "index_dtype": "int32", "rule": "table_of_types", "type_cutoffs": TABLE, "types": TYPES,
        "excluded": np.array([[0, 1]])}),
    "knn": (quadrat.knn, {
        "points": POINTS, "k": 3, **EACH, "cutoff": 3.0, "queries": QUERIES, "include_self": False, "shifts": True,
        "threads": 1, "index_dtype": "int64"}),
    "clusters": (quadrat.clusters, {
        "points": POINTS, "cutoff": 1.0, "min_points": 2, **EACH, "members": True, "threads": 1, "index_dtype": "int64"}),
    "cluster_catalog": (cataloged, {
        "points": POINTS, "cutoff": 1.0, **EACH, "velocities": POINTS, "potentials": np.ones(N), "least_size": 1, "by_size": True,
        "min_points": 2, "threads": 1, "index_dtype": "int64"}),
    "power_spectrum": (quadrat.power_spectrum, {
        "points": POINTS, "box": BOX, "mesh": np.array([4, 4, 4]), "weights": np.ones(N), "others": POINTS, "other_weights": np.ones(N),
        "edges": np.array([0.1, 1.0, 2.0]), "multipoles": [0, 2], "line_of_sight": 1, "order": 3, "interlaced": True,
        "compensated": True, "subtract_shot_noise": False, "structure_factor": False, "origin": CORNER, **DONE}),
    "contacts": (quadrat.contacts, {
        "centers": POINTS, "radii": np.full(N, 0.6), "shapes": "sphere", "ids": np.arange(N), **EACH,
        "planes": np.array([[0.0, 0, 1, 0.3]]), **DONE, "sorted": True, "bin_size": 0.5, "index_dtype": "int64"}),
    "contacts of shapes": (quadrat.contacts, {
        "centers": POINTS, "shapes": np.arange(N) % 4, "sizes": np.full((N, 3), 0.5), "sorted": True,
        "orientations": np.tile([1.0, 0, 0, 0], (N, 1))}),
    "rdf": (quadrat.rdf, {
        "frames": POINTS, "cutoff": 1.5, "bins": 5, "types": TYPES, **EACH, "normalization": "N^2", "threads": 1}),
    "CellList": (cells, {
        "points": POINTS, "cells": np.array([3, 4, 5]), "box": BOX, "periodic": PERIODIC, "origin": CORNER,
        "accept_outside": True, "deterministic": "run_to_run", "threads": 1, "index_dtype": "int64"}),
    "CellList by cutoff": (cells, {"points": POINTS, "box": BOX, "cutoff": 1.0}),
    "SpreadPlan": (spread, {
        "points": POINTS, "values": VALUES, "mesh_values": MESH, "mesh": np.array([4, 4, 4]), "order": 4, **EACH, "clip": True,
        "accept_outside": True, "ends": "both", "uses": 1.0, "autotune": False, **DONE, "dtype": "float64"}),
    "spread": (quadrat.spread, {"points": POINTS, "values": VALUES, "box": BOX, "mesh": 4}),
    "interpolate": (quadrat.interpolate, {"points": POINTS, "mesh_values": MESH, "box": BOX}),
    "Nufft": (transformed, {
        "points": POINTS, "values": VALUES, "modes": MODES, "n_modes": np.array([4, 4, 4]), "tolerance": 1e-6, "real": False,
        "mode_order": "fft", "period": BOX, "oversampling": 2.0, **DONE, "dtype": "float64"}),
    "nufft1": (quadrat.nufft1, {"points": POINTS, "values": VALUES, "n_modes": (4, 4, 4), "tolerance": 1e-6, "sign": 1}),
    "nufft2": (quadrat.nufft2, {"points": POINTS, "modes": MODES, "tolerance": 1e-6, "sign": 1}),
    "nufft3": (quadrat.nufft3, {
        "points": POINTS, "values": VALUES, "targets": QUERIES, "tolerance": 1e-6, "sign": 1,
        "deterministic": "none", "threads": 1}),
    "Ewald": (summed, {
        "points": POINTS, "charges": CHARGES, "box": BOX, "periodic": PERIODIC, "systems": TYPES * 0, "scales": np.array([0.5]),
        "scaled_pairs": np.array([[0, 2]]), "forces": True, "potentials": True, "virial": True, "accuracy": 1e-3, **DONE,
        "law": "coulomb", "coulomb_constant": 1.0, "remove_net_force": False}),
    "reduce_by_key": (quadrat.reduce_by_key, {
        "keys": KEYS, "values": VALUES, "operation": "sum", "key_count": 4, "ignore_negative": True, **DONE,
        "compensated": False}),
    "count_keys": (quadrat.count_keys, {"keys": KEYS, "key_count": 4, "ignore_negative": False, "method": "auto",
        "threads": 1}),
    "choose": (quadrat.choose, {
        "task": "spread", "points": 1e6, "mesh": np.array([64, 64, 64]), "order": 6, "uses": 1.0, "key_count": 100,
        "dtype": "float32", "device": "cpu", "deterministic": "none", "threads": 1, "explain": False}),
}
# fmt: on
EVERY = [pytest.param(name, argument, id=f"{name}-{argument}") for name, (_, given) in CALLS.items() for argument in given]
ARRAYS = [one for one in EVERY if isinstance(CALLS[one.values[0]][1][one.values[1]], np.ndarray)]

ROW = np.arange(100_000) * 1.5 + 7
WRONG = {
    "floats": ROW,
    "integers": np.arange(100_000) + 7,
    "list": ROW.tolist(),
    "rows": ROW.reshape(-1, 4),
    "complex": ROW * 1j,
    "words": np.array(["word"] * 100_000),
    "list of words": ["word"] * 100_000,
    "text": "a line\n" * 1000,
    "objects": np.array([object()] * 1000),
    "axes": np.zeros((2,) * 6),
    "dictionary": dict.fromkeys(range(100_000)),
    "ragged": [[1.0] * 1000, [1.0]],
    "no number": object(),
    "iterator": (number for number in range(3)),
    "huge": 10**400,
}


def arrays_of(found):
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,)) if part is not None]


@pytest.mark.parametrize("name, argument", EVERY)
def test_a_wrong_value_is_one_short_line(name, argument):
    call, given = CALLS[name]
    for kind, value in WRONG.items():
        if (kind, argument) == ("integers", "keys") or (kind, argument, name) == ("floats", "values", "count_keys"):
            continue  # as many as there are
        with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
            call(**(given | {argument: value}))
            pytest.fail(f"{kind} were accepted")
        assert len(str(caught.value)) < 300 and "\n" not in str(caught.value), kind


@pytest.mark.parametrize("name, argument", EVERY)
def test_what_is_no_number_and_no_word_is_named(name, argument):
    call, given = CALLS[name]
    shown = {"frames": "points of frame 0"}.get(argument, argument)
    with pytest.raises((ValueError, TypeError), match=rf"^{shown}\b"):
        call(**(given | {argument: object()}))


class OfAnotherLibrary:
    """An array as NumPy can read it."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype)


def other_forms(array):
    """The same numbers."""
    frozen = array.copy()
    frozen.flags.writeable = False
    yield frozen
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis=0)[::2]
    yield array[::-1].copy()[::-1]
    yield array.astype(array.dtype.newbyteorder(">"))
    yield np.ndarray(array.shape, array.dtype, b"0" + array.tobytes(), 1)  # not aligned
    yield np.ma.masked_array(array)
    yield array.tolist()
    yield OfAnotherLibrary(array)


@pytest.mark.parametrize("name, argument", ARRAYS)
def test_other_forms_of_an_array_have_its_result(name, argument):
    call, given = CALLS[name]
    wanted = arrays_of(call(**given))
    for form in other_forms(given[argument]):
        for mine, other in zip(arrays_of(call(**(given | {argument: form}))), wanted, strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_allclose(mine, other, atol=1e-12) if mine.dtype.kind != "U" else None


@pytest.mark.parametrize("value", ["no", "", None, 2, [], np.ones(2, bool), object()], ids=repr)
def test_what_is_no_truth_value_is_refused(value):
    flags = [(name, flag) for name, (_, given) in CALLS.items() for flag in given if isinstance(given[flag], bool)]
    assert len(flags) > 12
    for name, flag in flags:
        call, given = CALLS[name]
        with pytest.raises(TypeError, match=f"^{flag} is .*; True or False is accepted"):
            call(**(given | {flag: value}))
        for one in (int(given[flag]), np.bool_(given[flag]), np.array(given[flag])):
            call(**(given | {flag: one}))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: quadrat.neighbor_list(POINTS, 1.0, box=BOX, periodic=[1, 2, 0]), ValueError, "periodic is 2 along axis 1; True"),
        (lambda: quadrat.CellList(BOX, 3, origin=[0, np.nan, 0]), ValueError, "origin is nan along axis 1; finite"),
        (lambda: quadrat.neighbor_list(POINTS, 1.0, types=TYPES, type_cutoffs=[1.0] * 4), ValueError, r"\(4,\); a square"),
        (lambda: quadrat.neighbor_list(POINTS, 1.0, systems=[2**40] * N), ValueError, "up to 1099511627776; 0 to 134217727"),
        (lambda: quadrat.count_keys([-0.5, 0.5], ignore_negative=True), TypeError, "keys have the type float64; integers"),
        (lambda: quadrat.rdf(POINTS, 1.0, types=[2**40] * N), ValueError, "types are up to 1099511627776; .* too many"),
        (lambda: quadrat.SpreadPlan(["4", "4"], 8), TypeError, "box cannot be read as an array of numbers: .*<U1"),
        (lambda: quadrat.Nufft(8, period="3"), TypeError, "period is '3'; a number"),
        (lambda: quadrat.spread(POINTS.astype(np.float16), VALUES, BOX, 8), TypeError, "points have the type float16"),
        (lambda: quadrat.neighbor_list(POINTS, 1.0, index_dtype="int16"), TypeError, "index_dtype is int16; int32 and int64"),
    ],
)
def test_what_was_taken_for_something_else_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_tensors_without_a_row_of_numbers_are_refused():
    torch = pytest.importorskip("torch")
    import quadrat.torch

    sparse, nested = torch.eye(N, 3).to_sparse(), torch.nested.nested_tensor([torch.ones(3), torch.ones(2)])
    for value in (sparse, sparse.to_sparse_csr(), nested):
        for argument in ("points", "box", "radii", "queries"):
            call, given = CALLS["neighbor_list"]
            with pytest.raises(TypeError, match=f"{argument} cannot be read: a sparse or nested tensor; dense"):
                call(**(given | {argument: value}))
        with pytest.raises(TypeError, match="points cannot be read: a sparse or nested tensor"):
            quadrat.torch.spread(value, torch.ones(N), [1.0, 1, 1], 4)
    half, whole = (quadrat.clusters(POINTS, 1.0, box=torch.tensor(BOX, dtype=kind)) for kind in (torch.bfloat16, torch.int64))
    assert np.array_equal(half, whole)


SCENE = pathlib.Path(__file__).parents[2] / "examples" / "dam_break_small.toml"
DROP_INS = {
    "ase": (quadrat.ase.neighbor_list, {
        "quantities": "ij", "a": ase.Atoms("H12", POINTS), "cutoff": 1.0, "self_interaction": False}),
    "vesin": (lambda **given: quadrat.vesin.NeighborList(**given).compute(POINTS, np.diag(BOX), True), {
        "cutoff": 1.0, "full_list": True, "sorted": True, "algorithm": "auto", "skin": 0.1, "n_threads": 1}),
    "vesin.compute": (lambda **given: quadrat.vesin.NeighborList(cutoff=1.0, full_list=True).compute(**given), {
        "points": POINTS, "box": np.diag(BOX), "periodic": PERIODIC, "quantities": "ijd"}),
    "finufft": (quadrat.finufft.nufft1d1, {
        "x": VALUES, "c": VALUES + 0j, "n_modes": 4, "eps": 1e-6, "isign": 1, "modeord": 0, "upsampfac": 2.0, "nthreads": 1}),
    "Simulation": (quadrat.Simulation, {
        "scene": SCENE, "steps": 1, "device": "cpu", "method": "auto", "precision": "float", "particles": 100, "threads": 1,
        "deterministic": "none", "autotune": False, "seed": 1, "frame_every": 1, "statistics_every": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", DROP_INS)
def test_wrong_values_of_other_calls_are_one_short_line(name):
    call, given = DROP_INS[name]
    call(**given)
    for argument in given.keys() - {"a", "scene"}:  # objects of their own
        for kind, value in WRONG.items():
            with pytest.raises((ValueError, TypeError, OverflowError, RuntimeError, OSError)) as caught:
                call(**(given | {argument: value}))
                pytest.fail(f"{kind} were accepted as {argument}")
            assert len(str(caught.value)) < 300 and "\n" not in str(caught.value), (argument, kind)


def test_a_number_is_no_scene():
    with open(SCENE, encoding="utf-8") as file:
        with pytest.raises(TypeError, match="int"):
            quadrat.Simulation(file.fileno())
        assert file.read(1)  # nothing has closed it
