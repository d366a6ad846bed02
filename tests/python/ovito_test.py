# SPDX-License-Identifier: BSD-3-Clause
"""Modifiers in OVITO's pipelines beside its own."""

import numpy as np
import pytest
import quadrat.ovito

ovito = pytest.importorskip("ovito")
ase = pytest.importorskip("ase")
from ovito.io.ase import ase_to_ovito  # noqa: E402
from ovito.modifiers import ClusterAnalysisModifier, CoordinationAnalysisModifier  # noqa: E402
from ovito.pipeline import Pipeline, StaticSource  # noqa: E402

POSITIONS = np.random.default_rng(1).uniform(0, 12, (200, 3))
CELL = [[12, 0, 0], [3, 11, 0], [1, 2, 10]]


def computed(modifier, pbc=True, cell=CELL):
    atoms = ase.Atoms("Si80O120", POSITIONS, cell=cell, pbc=pbc)
    pipeline = Pipeline(source=StaticSource(data=ase_to_ovito(atoms)))
    pipeline.modifiers.append(modifier)
    return pipeline.compute()


@pytest.mark.parametrize("pbc", [True, False, (True, False, True)])
def test_clusters_are_those_of_ovito(pbc):
    cell = CELL if pbc in (True, False) else np.diag([12, 11, 10])
    found, wanted = (computed(one, pbc, cell) for one in (quadrat.ovito.clusters(1.5), ClusterAnalysisModifier(cutoff=1.5)))
    ours, theirs = (np.array(one.particles["Cluster"]) for one in (found, wanted))
    pairs = set(zip(ours.tolist(), theirs.tolist()))
    assert 10 < found.attributes["quadrat.clusters"] == wanted.attributes["ClusterAnalysis.cluster_count"] == len(pairs)
    assert ours[0] == 1 and ours.min() == 1


def test_noise_is_no_cluster():
    found = computed(quadrat.ovito.clusters(1.0, min_points=4))
    assert (np.array(found.particles["Cluster"]) == 0).any()


@pytest.mark.parametrize("pbc", [True, False])
def test_coordination_is_that_of_ovito(pbc):
    found, wanted = (computed(one, pbc) for one in (quadrat.ovito.coordination(2.5), CoordinationAnalysisModifier(cutoff=2.5)))
    ours, theirs = (np.array(one.particles["Coordination"]) for one in (found, wanted))
    assert ours.max() > 5 and np.array_equal(ours, theirs)


def test_coordination_has_cutoffs_by_types():
    pairs = np.array(computed(quadrat.ovito.coordination({("Si", "O"): 2.5})).particles["Coordination"])
    atoms = ase.Atoms("Si80O120", POSITIONS, cell=CELL, pbc=True)
    types = {"types": atoms.get_chemical_symbols(), "type_cutoffs": {("Si", "O"): 2.5}}
    i = quadrat.neighbor_list(POSITIONS, 2.5, CELL, outputs="i", **types)
    assert pairs.tolist() == np.bincount(i, minlength=200).tolist() and pairs.any()
    radii = np.array(computed(quadrat.ovito.coordination({"Si": 1.25, "O": 1.25})).particles["Coordination"])
    assert np.array_equal(radii, computed(quadrat.ovito.coordination(2.5)).particles["Coordination"])


def test_cutoffs_that_cannot_be_meant_are_named():
    with pytest.raises(TypeError, match="cutoff is 'far'"):
        quadrat.ovito.clusters("far")
    with pytest.raises(ValueError, match="min_points is 0"):
        quadrat.ovito.clusters(1.0, min_points=0)
    with pytest.raises(ValueError, match="cutoff.*-1.0; numbers from 0"):
        quadrat.ovito.coordination({("Si", "O"): -1.0})
