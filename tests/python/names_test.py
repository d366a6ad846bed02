# SPDX-License-Identifier: BSD-3-Clause
"""What C++ has that works on a context, Python has too, or it says here why not."""

import functools
import pathlib
import sys

import quadrat

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "docs/_site"))
import calls_reference  # noqa: E402

# Classes, and functions that are given a context, and what does their work in Python.
BOUND = {
    "broad_phase": "contacts",
    "cluster_finder": "clusters",
    "contact_detector": "contacts",
    "electrostatics": "Ewald",
    "grid_cells": "CellList",
    "key_reducer": "reduce_by_key",
    "mobility": "Mobility",
    "nearest_neighbors": "knn",
    "neighbor_list": "NeighborList",
    "density_weights": "Nufft.density_weights",
    "normal_operator": "NormalOperator",
    "nufft_plan": "Nufft",
    "nufft_target_plan": "nufft3",
    "pair_counts": "pair_counts",
    "pair_histogram": "rdf",
    "power_spectrum": "power_spectrum",
    "reduce_by_key": "reduce_by_key",
    "spread_plan": "SpreadPlan",
    **dict.fromkeys(["brownian", "circles", "electrolyte", "granular", "granular_friction", "srd"], "Simulation"),
}
LEFT_OUT = {
    "they call a functor of C++ for each pair, element or key; lists and NumPy's functions serve in Python": (
        "accumulate_neighbors accumulate_neighbors_async accumulate_pairs accumulate_pairs_async for_each "
        "for_each_candidate_pair for_each_candidate_pair_async for_each_pair for_each_pair_async functor_reducer "
        "brownian_bond_force brownian_force brownian_pair_force"
    ),
    "they are layouts of cells for kernels; CellList has the cells": (
        "counting_buckets fixed_buckets hash_table hashed_cells keyed_buckets lattice_cells linked_buckets "
        "linked_packed_cells linked_tight_cells sorted_buckets cluster_pair_list line_points"
    ),
    "NumPy, PyTorch, CuPy and JAX have them": (
        "exclusive_scan exclusive_scan_with_total fft real_fft reduce reduce_into reduce_maximum reduce_minimum "
        "reduce_sum scan_scratch_bytes sort_pairs sort_scratch_bytes"
    ),
    "they are of use to kernels of C++ only": "fault_state workspace granular_default_method",
    "the package has no ranks; the program has": (
        "balanced_decomposition distributed_circles distributed_cluster_finder distributed_contacts "
        "distributed_electrostatics distributed_fft distributed_granular distributed_key_reducer "
        "distributed_mobility distributed_nearest_neighbors distributed_nufft_plan distributed_pair_counts "
        "distributed_power_spectrum "
        "distributed_real_fft distributed_spread_plan find_owners for_each_own_pair for_each_own_pair_async halo mesh_halo "
        "migration sparse_migration"
    ),
    "scenes have walls of triangles; contacts with a mesh alone are for programs in C++": "mesh_contact_detector",
    "a simulation keeps its own contacts; matching those of two calls is a join by their ids": "contact_matcher",
    "they are what the program prints": "measure_viscosity",
}


def public_names():
    scopes = calls_reference.read(SOURCE / "include/quadrat")
    of_headers = (call.name for scope in scopes if scope.name.endswith(".hpp") for call in scope.calls)
    return {scope.name for scope in scopes if not scope.name.endswith(".hpp")}.union(of_headers)


def left_out():
    return [name for names in LEFT_OUT.values() for name in names.split()]


def test_every_public_name_of_cpp_is_bound_or_left_out_with_a_reason():
    listed = [*BOUND, *left_out()]
    assert len(set(listed)) == len(listed)
    names = public_names()
    assert len(names) > 70
    assert sorted(names - set(listed)) == [], "bind it in Python, or say in LEFT_OUT why not"
    assert sorted(set(listed) - names) == [], "C++ has no such name"


def test_what_is_bound_is_there():
    for name in sorted(set(BOUND.values())):
        assert callable(functools.reduce(getattr, name.split("."), quadrat)), name
