# SPDX-License-Identifier: BSD-3-Clause
"""Lists that models of metatomic ask for: the structures of its neighbor checks, beside ASE. Where metatomic is not
installed, which takes an older PyTorch, classes with its interface stand in."""

import importlib
import sys
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")
neighborlist = pytest.importorskip("ase.neighborlist")
import ase  # noqa: E402
from quadrat.metatomic import compute_requested_neighbors  # noqa: E402

DOUBLE = torch.float64


class _Labels:
    def __init__(self, names, values):
        assert values.dtype == torch.int32 and values.shape[1] == len(names)
        self.names, self.values = list(names), values


class _Block:
    def __init__(self, values, samples, components, properties):
        assert values.shape == (len(samples.values), *(len(one.values) for one in components), len(properties.values))
        self.values, self.samples, self.components, self.properties = values, samples, components, properties


class _System:
    def __init__(self, types, positions, cell, pbc):
        self.types, self.positions, self.cell, self.pbc = types, positions, cell, pbc
        self._lists = {}

    def add_neighbor_list(self, options, block):
        self._lists[options] = block

    def get_neighbor_list(self, options):
        return self._lists[options]


class _Options:
    """Of a model in nanometers, if the unit is not that of the systems."""

    def __init__(self, cutoff, full_list, strict, requestor=""):
        self.cutoff, self.full_list, self.strict, self.length_unit = cutoff, full_list, strict, ""

    def engine_cutoff(self, unit):
        return self.cutoff * (10 if self.length_unit == "nm" and unit == "Angstrom" else 1)


def _register(system, block, check_consistency=False):
    i, j = block.samples.values[:, 0], block.samples.values[:, 1]
    vectors = system.positions[j] - system.positions[i] + block.samples.values[:, 2:].to(system.cell.dtype) @ system.cell
    torch.testing.assert_close(block.values[:, :, 0], vectors)
    block.values = vectors[:, :, None]


@pytest.fixture
def metatomic(monkeypatch):
    """The package, or what stands in for it."""
    try:
        return importlib.import_module("metatomic.torch")
    except ImportError:
        package = types.SimpleNamespace(System=_System, NeighborListOptions=_Options, register_autograd_neighbors=_register)
        monkeypatch.setitem(sys.modules, "metatomic.torch", package)
        monkeypatch.setitem(sys.modules, "metatensor.torch", types.SimpleNamespace(Labels=_Labels, TensorBlock=_Block))
        return package


class Model:
    def __init__(self, *options):
        self.options = options

    def requested_neighbor_lists(self):
        return self.options


FCC, GRAPHENE = [[0.0, 2, 2], [2.0, 0, 2], [2.0, 2, 0]], [[4.26, -2.45951215, 0], [2.13, 1.22975607, 0], [0, 0, 50.0]]
CASES = {  # positions, cell, periodic, cutoff, pairs of a full list
    "fcc": ([[0.0, 0, 0]], FCC, (True, True, True), 4.0, 12),
    "slanted": ([[1.42, 0, 0], [2.84, 0, 0], [3.55, -1.22975607, 0], [4.97, -1.22975607, 0]], GRAPHENE, (True, True, True), 6.4, 180),
    "slanted slab": ([[1.42, 0, 0], [2.84, 0, 0], [3.55, -1.22975607, 0]], [*GRAPHENE[:2], [0, 0, 0]], (True, True, False), 6.4, None),
    "outside": ([[0.0, 0, 0], [0, 2, 0], [0, 0, 2], [-6, 0, 0], [-6, -2, 0], [-6, 0, -2]], (42 * np.eye(3)).tolist(), (True, True, True), 2.1, 8),
    "open": ([[0.0, 0, 0], [0, 0, 1.5], [0, 0, 9]], np.zeros((3, 3)).tolist(), (False, False, False), 3.4, 2),
    "empty": ([], np.zeros((3, 3)).tolist(), (False, False, False), 3.4, 0),
}


def system_of(metatomic, name, grad=False, dtype=DOUBLE):
    positions, cell, periodic = CASES[name][:3]
    places = torch.tensor(positions, dtype=dtype).reshape(-1, 3).requires_grad_(grad)
    kinds = torch.ones(len(positions), dtype=torch.int32)
    return metatomic.System(kinds, places, torch.tensor(cell, dtype=dtype).requires_grad_(grad), torch.tensor(periodic))


def rows(samples, vectors, full):
    """Pairs in one order; those of half lists in one direction."""
    turned = [(-1 if not full and tuple(row) > (row[1], row[0], *-row[2:]) else 1) for row in samples]
    found = [np.r_[row if way > 0 else np.r_[row[1], row[0], -row[2:]], way * v] for row, way, v in zip(samples, turned, vectors)]
    return np.array(sorted(map(tuple, found))).reshape(-1, 8)


def compare(system, block, name, cutoff, full):
    positions, cell, periodic = CASES[name][:3]
    atoms = ase.Atoms(positions=np.reshape(positions, (-1, 3)), cell=cell, pbc=periodic)
    i, j, shifts, vectors = neighborlist.neighbor_list("ijSD", atoms, cutoff) if len(atoms) else (np.zeros((0,)),) * 2 + (np.zeros((0, 3)),) * 2
    wanted = rows(np.column_stack([i, j, shifts]).astype(int), vectors, full)
    if not full:
        wanted = np.array(sorted({tuple(np.round(row, 9)) for row in wanted})).reshape(-1, 8)
    found = rows(block.samples.values.numpy().astype(int), block.values.detach().numpy()[:, :, 0], full)
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_pairs_are_those_of_ase(metatomic, name, full):
    cutoff, count = CASES[name][3:]
    options = metatomic.NeighborListOptions(cutoff, full, True)
    system = system_of(metatomic, name)
    compute_requested_neighbors(system, "Angstrom", Model(options), check_consistency=True)
    block = system.get_neighbor_list(options)
    assert block.samples.names == ["first_atom", "second_atom", "cell_shift_a", "cell_shift_b", "cell_shift_c"]
    assert count is None or len(block.values) == (count if full else count // 2)
    compare(system, block, name, cutoff, full)


def test_lists_of_several_systems_are_those_of_each(metatomic):
    short, long = (metatomic.NeighborListOptions(cutoff, full, True) for cutoff, full in ((2.1, True), (4.0, False)))
    systems = [system_of(metatomic, name) for name in CASES]
    compute_requested_neighbors(systems, "Angstrom", Model(short, long))
    for name, system in zip(CASES, systems):
        compare(system, system.get_neighbor_list(short), name, 2.1, True)
        compare(system, system.get_neighbor_list(long), name, 4.0, False)
    compute_requested_neighbors([], "Angstrom", Model(short))


def test_vectors_have_derivatives_by_positions_and_cells(metatomic):
    options = metatomic.NeighborListOptions(6.4, True, True)
    systems = [system_of(metatomic, name, grad=True) for name in ("slanted", "fcc")]
    compute_requested_neighbors(systems, "Angstrom", Model(options))
    for system in systems:
        block = system.get_neighbor_list(options)
        given = system.positions, system.cell
        found = torch.autograd.grad(block.values.square().sum(), given)
        i, j, shifts = (block.samples.values[:, k].long() for k in (0, 1, slice(2, 5)))
        vectors = given[0][j] - given[0][i] + shifts.to(DOUBLE) @ given[1]
        for a, b in zip(found, torch.autograd.grad(vectors.square().sum(), given)):
            torch.testing.assert_close(a, b)


def test_cutoffs_are_those_of_the_units_of_the_systems(metatomic):
    options = metatomic.NeighborListOptions(0.4, True, True)
    options.length_unit = "nm"
    system = system_of(metatomic, "fcc", dtype=torch.float32)
    compute_requested_neighbors([system], "Angstrom", Model(options))
    assert system.get_neighbor_list(options).values.shape == (12, 3, 1)
    assert system.get_neighbor_list(options).values.dtype == torch.float32
