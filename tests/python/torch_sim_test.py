# SPDX-License-Identifier: BSD-3-Clause
"""Lists of several systems with the call of torch-sim: the structures of its tests/test_neighbors.py, beside ASE and,
where it is there, beside its own lists."""

import ase
import ase.neighborlist
import numpy as np
import pytest
from ase.build import bulk, molecule

torch = pytest.importorskip("torch")
from quadrat.torch_sim import torchsim_nl  # noqa: E402

SYSTEMS = [
    bulk("Si", "diamond", a=6, cubic=True),
    bulk("Si", "diamond", a=6),
    bulk("Cu", "fcc", a=3.6),
    bulk("Si", "bct", a=6, c=3),
    bulk("Ti", "hcp", a=2.94, c=4.64, orthorhombic=False),
    bulk("Bi", "rhombohedral", a=6, alpha=20),
    bulk("Bi", "rhombohedral", a=6, alpha=10),
    bulk("SiCu", "rocksalt", a=6),
    bulk("SiFCu", "fluorite", a=6),
    *map(molecule, ("CH3CH2NH2", "H2O", "methylenecyclopropane", "OCHCHO", "C3H9C")),
]


def batch(systems, dtype=torch.float64):
    positions = torch.from_numpy(np.concatenate([one.positions for one in systems])).to(dtype)
    cell = torch.from_numpy(np.concatenate([one.cell.array for one in systems])).to(dtype)
    pbc = torch.from_numpy(np.stack([one.pbc for one in systems]))
    return positions, cell, pbc, torch.repeat_interleave(torch.tensor([len(one) for one in systems]))


def as_table(mapping, systems, shifts, positions, cell):
    moved = torch.einsum("jn,jnm->jm", shifts, cell.reshape(-1, 3, 3)[systems])
    distances = (positions[mapping[1]] + moved - positions[mapping[0]]).norm(dim=1)
    rows = np.column_stack([*mapping, systems, shifts, distances])
    return rows[np.lexsort(rows.T[5::-1])]


@pytest.mark.parametrize("cutoff", [1, 3, 5, 7])
@pytest.mark.parametrize("self_interaction", [True, False])
def test_distances_are_those_of_ase(cutoff, self_interaction):
    positions, cell, pbc, systems = batch(SYSTEMS)
    mapping, of, shifts = torchsim_nl(positions, cell, pbc, torch.tensor(cutoff), systems, self_interaction)
    wanted = [
        ase.neighborlist.neighbor_list("d", one, cutoff, self_interaction=self_interaction) for one in SYSTEMS
    ]
    assert shifts.dtype == positions.dtype and mapping.dtype == torch.int64 and (mapping[0].diff() >= 0).all()
    assert torch.equal(systems[mapping[1]], of)
    assert torch.bincount(of, minlength=len(SYSTEMS)).tolist() == [len(one) for one in wanted]
    found = as_table(mapping, of, shifts, positions, cell)
    np.testing.assert_allclose(np.sort(found[:, -1]), np.sort(np.concatenate(wanted)), atol=1e-12)


def test_systems_may_be_mixed_empty_and_periodic_along_some_axes():
    positions, cell, pbc, systems = batch(SYSTEMS[:3])
    pbc[1] = torch.tensor([True, False, True])
    order, empty = torch.randperm(len(positions), generator=torch.Generator().manual_seed(1)), torch.eye(3, dtype=cell.dtype)
    plain = torchsim_nl(positions, cell, pbc, 4.0, systems)
    numbers = torch.tensor([0, 2, 3])[systems]  # system 1 has no atoms
    cells = torch.stack([cell[:3], empty, cell[3:6], cell[6:]])
    sides = torch.stack([pbc[0], pbc[0], pbc[1], pbc[2]])
    mapping, of, shifts = torchsim_nl(positions[order], cells, sides, 4.0, numbers[order])
    found, wanted = as_table(order[mapping], of, shifts, positions, cells), as_table(*plain, positions, cell)
    wanted[:, 2] += wanted[:, 2] > 0
    assert len(wanted) > 50
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("pbc", [True, [True, True, False], torch.tensor([False, False, False])])
def test_one_pbc_serves_all_systems(pbc):
    positions, cell, _, systems = batch(SYSTEMS[:2], torch.float32)
    each = torch.as_tensor(pbc).expand(2, 3)
    for one, two in zip(torchsim_nl(positions, cell, pbc, 4.0, systems), torchsim_nl(positions, cell, each, 4.0, systems)):
        assert torch.equal(one, two)


def test_lists_are_those_of_torch_sim():
    theirs = pytest.importorskip("torch_sim.neighbors", exc_type=ImportError).torch_nl_n2
    positions, cell, pbc, systems = batch(SYSTEMS)
    given = {"positions": positions, "cell": cell, "pbc": pbc, "cutoff": 3.0, "system_idx": systems}
    wanted = as_table(*theirs(**given), positions, cell)
    np.testing.assert_allclose(as_table(*torchsim_nl(**given), positions, cell), wanted, atol=1e-9)


@pytest.mark.parametrize(
    "given, error, words",
    [
        ({"cell": torch.eye(3)[:2]}, ValueError, r"cell has the shape \(2, 3\)"),
        ({"pbc": [True, False]}, ValueError, r"pbc is \[True, False\]; .* 1 systems"),
        ({"cutoff": -1.0}, ValueError, "-1"),
        ({"cutoff": "3"}, TypeError, "cutoff is '3'"),
        ({"system_idx": torch.tensor([0, 5])}, ValueError, "system_idx has the system 5; 0 to 0"),
        ({"system_idx": torch.tensor([0, 2]), "cell": torch.ones(2, 1, 1) * torch.eye(3)}, ValueError, "2"),
        ({"self_interaction": "no"}, TypeError, "self_interaction is 'no'"),
    ],
)
def test_bad_arguments_are_named(given, error, words):
    plain = {"positions": torch.rand(2, 3), "cell": torch.eye(3), "pbc": True, "cutoff": 0.5, "system_idx": torch.zeros(2, dtype=int)}
    with pytest.raises(error, match=words):
        torchsim_nl(**(plain | given))
