# SPDX-License-Identifier: BSD-3-Clause
"""Cutoffs as chemists write them, and the calls of ASE and matscipy beside these packages."""

import ase
import ase.build
import ase.lattice.hexagonal as lattices
import ase.neighborlist
import numpy as np
import pytest
import quadrat
import quadrat.ase
import quadrat.matscipy

RANDOM = np.random.default_rng(4)
ATOMS = ase.Atoms("H20O30N10", positions=RANDOM.uniform(-2, 9, (60, 3)), cell=[7, 8, 9], pbc=(True, True, False))
PAIRS = {("H", "O"): 2.0, ("N", "N"): 3.0, ("O", "O"): 1.2}
RADII = {"H": 0.4, 8: 0.9}


def table(i, j, shifts, distances):
    rows = np.column_stack([i, j, shifts, distances])
    return rows[np.lexsort(rows.T[4::-1])]


def within(limits):
    """The pairs of a list with the largest cutoff that are nearer than the cutoff of both."""
    i, j, shifts, d = ase.neighborlist.neighbor_list("ijSd", ATOMS, 3.0)
    chosen = d < limits[i, j]
    return table(i[chosen], j[chosen], shifts[chosen], d[chosen])


def by_pair(cutoffs):
    symbols = np.array(ATOMS.get_chemical_symbols())
    limits = np.zeros((60, 60))
    for (a, b), cutoff in cutoffs.items():
        limits[np.ix_(symbols == a, symbols == b)] = limits[np.ix_(symbols == b, symbols == a)] = cutoff
    return limits


@pytest.mark.parametrize("call", ["ase", "matscipy", "functions"])
def test_radii_by_elements_add_up_and_leave_out_other_elements(call):
    if call == "functions":
        space = {"box": [7, 8, 9], "periodic": [True, True, False], "types": ATOMS.get_chemical_symbols()}
        found = quadrat.neighbor_list(ATOMS.positions, 1.8, type_cutoffs={"H": 0.4, "O": 0.9}, outputs="ijSd", **space)
    else:
        found = {"ase": quadrat.ase.neighbor_list, "matscipy": quadrat.matscipy.neighbour_list}[call]("ijSd", ATOMS, RADII)
    wanted = within(by_pair({("H", "H"): 0.8, ("O", "H"): 1.3, ("O", "O"): 1.8}))
    assert len(wanted) > 20
    np.testing.assert_allclose(table(*found), wanted, atol=1e-12)
    radii = np.array([{"H": 0.4, "O": 0.9, "N": 0.0}[symbol] for symbol in ATOMS.symbols])
    zero = quadrat.ase.neighbor_list("ijSd", ATOMS, {**RADII, "N": 0.0})  # not the same as no radius
    np.testing.assert_allclose(table(*zero), table(*ase.neighborlist.neighbor_list("ijSd", ATOMS, radii)), atol=1e-12)
    assert len(zero[0]) > len(found[0])


@pytest.mark.parametrize("outputs", ["list", "class"])
@pytest.mark.parametrize("names", [True, False])
def test_functions_take_dictionaries_by_names_and_by_numbers(outputs, names):
    number = {"H": 1, "N": 7, "O": 8}
    cutoffs = PAIRS if names else {(number[a], number[b]): cutoff for (a, b), cutoff in PAIRS.items()}
    types = ATOMS.get_chemical_symbols() if names else ATOMS.numbers
    space = {"box": [7, 8, 9], "periodic": [True, True, False], "types": types}
    if outputs == "list":
        found = quadrat.neighbor_list(ATOMS.positions, 3.0, type_cutoffs=cutoffs, outputs="ijSd", **space)
    else:
        found = quadrat.NeighborList(3.0, type_cutoffs=cutoffs, outputs="ijSd").build(ATOMS.positions, **space).arrays()
    wanted = within(by_pair(PAIRS))
    assert len(wanted) > 50
    np.testing.assert_allclose(table(*found), wanted, atol=1e-12)


def test_types_that_a_dictionary_lacks_have_no_neighbors():
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]
    for types, cutoffs in ((["A", "B", "C", "zz"], {("A", "B"): 1.5}), ([0, 1, 2, 900], {(0, 1): 1.5})):
        found = quadrat.neighbor_list(points, 2.0, types=types, type_cutoffs=cutoffs, outputs="ij")
        assert np.transpose(found).tolist() == [[0, 1], [1, 0]]
    assert len(quadrat.neighbor_list(points, 2.0, types=[3, 4, 5, 6], type_cutoffs={}, outputs="i")) == 0


def test_queries_have_types_by_name():
    points, cutoffs = [[0, 0, 0], [1, 0, 0.0]], {("A", "B"): 1.5, ("B", "B"): 0.3}
    given = {"types": ["A", "B"], "type_cutoffs": cutoffs, "outputs": "ij", "queries": [[0.5, 0, 0]], "types_of_queries": ["B"]}
    assert np.transpose(quadrat.neighbor_list(points, 2.0, **given)).tolist() == [[0, 0]]


def test_tensors_take_dictionaries():
    torch = pytest.importorskip("torch")
    import quadrat.torch

    points, numbers = torch.from_numpy(ATOMS.positions), torch.from_numpy(ATOMS.numbers)
    cutoffs = {(1, 8): 2.0, (7, 7): 3.0, (8, 8): 1.2}
    for call in (quadrat.neighbor_list, quadrat.torch.neighbor_list):
        space = {"box": [7.0, 8, 9], "periodic": [True, True, False], "types": numbers}
        i, j, shifts, d = call(points, 3.0, type_cutoffs=cutoffs, outputs="ijSd", **space)
        assert isinstance(i, torch.Tensor)
        np.testing.assert_allclose(table(i, j, shifts, d), within(by_pair(PAIRS)), atol=1e-12)
        space["types"] = ATOMS.get_chemical_symbols()
        named = call(points, 3.0, type_cutoffs=PAIRS, outputs="ijSd", **space)
        np.testing.assert_allclose(table(*named), within(by_pair(PAIRS)), atol=1e-12)


@pytest.mark.parametrize(
    "cutoff, error, words",
    [
        ({("H", "Xy"): 1.0}, ValueError, "cutoff has the element 'Xy'"),
        ({("H", "O", "N"): 1.0}, ValueError, r"cutoff has the key \('H', 'O', 'N'\)"),
        ({("H", "O"): -1.0}, ValueError, r"cutoff\[\('H', 'O'\)\] is -1.0; numbers from 0"),
        ({("H", "O"): "1"}, TypeError, r"cutoff\[\('H', 'O'\)\] is '1'"),
        ({"H": float("nan")}, ValueError, r"cutoff\['H'\] is nan"),
        ({"H": 1.0, ("H", "O"): 1.0}, ValueError, "cutoff has the key 'H'; pairs"),
        ({}, ValueError, "dictionary without entries"),
        ({("H", -1): 1.0}, ValueError, "type -1; names, or integers from 0 to 1023"),
    ],
)
def test_dictionaries_that_cannot_be_meant_are_refused(cutoff, error, words):
    with pytest.raises(error, match=words):
        quadrat.ase.neighbor_list("ij", ATOMS, cutoff)


def test_names_without_a_dictionary_of_names_are_refused():
    with pytest.raises(TypeError, match="types"):
        quadrat.neighbor_list(ATOMS.positions, 1.0, types=["A"] * 60, type_cutoffs={(0, 1): 1.0})
    with pytest.raises(TypeError, match="types are .*; names are accepted, as type_cutoffs has"):
        quadrat.neighbor_list(ATOMS.positions, 1.0, types=[1] * 60, type_cutoffs={("A", "B"): 1.0})


@pytest.mark.parametrize("pbc", [True, False, (True, False, True)])
@pytest.mark.parametrize("cutoff", [2.5, PAIRS, np.linspace(0.3, 1.5, 60)])
def test_lists_of_matscipy_are_the_same(pbc, cutoff):
    matscipy = pytest.importorskip("matscipy.neighbours")
    atoms = ATOMS.copy()
    atoms.cell[1, 0], atoms.pbc = 1.5, pbc
    theirs, ours = (call("ijSdD", atoms, cutoff) for call in (matscipy.neighbour_list, quadrat.matscipy.neighbour_list))
    np.testing.assert_allclose(table(*ours[:4]), table(*theirs[:4]), atol=1e-12)
    i, j, shifts, _, vectors = ours
    np.testing.assert_allclose(vectors, atoms.positions[j] - atoms.positions[i] + shifts @ atoms.cell, atol=1e-12)
    given = {"positions": atoms.positions, "cell": atoms.cell, "pbc": atoms.pbc, "numbers": atoms.numbers}
    again = quadrat.matscipy.neighbour_list("ijSdD", cutoff=cutoff, **given)
    assert all(np.array_equal(one, two) for one, two in zip(ours, again))


def test_cells_of_matscipy_by_count():
    """After the data of matscipy's tests/test_neighbours.py."""
    count = quadrat.matscipy.neighbour_list
    atom = ase.Atoms("C", positions=[[0.5, 0.5, 0.5]], cell=[1, 1, 1], pbc=True)
    assert (len(count("i", atom, 1.1)), len(count("i", atom, 1.5))) == (6, 18)
    for pbc, pairs in ((False, 0), ([True, False, False], 2), ([True, False, True], 4)):
        atom.pbc = pbc
        assert len(count("i", atom, 1.1)) == pairs
    acid = ase.build.molecule("HCOOH")
    for cutoff, counts in [
        (1.85, [2, 3, 1, 1, 1]), ({(1, 6): 1.2}, [0, 1, 0, 0, 1]), ({(6, 8): 1.4}, [1, 2, 1]),
        ({("H", "C"): 1.2, (6, 8): 1.4}, [1, 3, 1, 0, 1]),
    ]:  # fmt: skip
        assert np.bincount(count("i", acid, cutoff)).tolist() == counts
    aluminum = ase.build.bulk("Al", cubic=False)
    np.testing.assert_allclose(count("d", aluminum, 3.1), [2.86378246] * 12)
    positions = np.array([[0.0, 0, 0], [1.1, 1.2, 1.3]])
    for cell in (None, np.eye(3), np.diag([1.1, 1.2, 1.3])):
        assert not count("S", cutoff=5.0, positions=positions, cell=cell, pbc=[False] * 3).any()


def test_lists_of_matscipy_s_structures_are_whole():
    """After the data of matscipy's tests/test_neighbours.py: layers, skewed cells, their repetitions, atoms outside."""
    for size in (1, 2, 3):
        layers = lattices.Graphite("C", latticeconstant=(2.5, 10.0), size=[size, size, 1])
        assert np.bincount(quadrat.matscipy.neighbour_list("i", layers, 1.85)).tolist() == [3] * len(layers)
    skewed = ase.Atoms(numbers=range(10), cell=[(0.2, 1.2, 1.4), (1.4, 0.1, 1.6), (1.3, 2.0, -0.1)])
    skewed.set_scaled_positions(3 * RANDOM.random((10, 3)) - 1)
    for pbc in np.ndindex(2, 2, 2):
        skewed.pbc = pbc
        more = skewed.repeat(np.add(pbc, 1))
        (i, d), (i_of_more, d_of_more) = (
            quadrat.matscipy.neighbour_list("id", one, one.numbers * 0.2 + 0.5) for one in (skewed, more)
        )
        assert np.tile(np.bincount(i, minlength=10), len(more) // 10).tolist() == np.bincount(i_of_more, minlength=len(more)).tolist()
        assert d.sum() * (len(more) // 10) == pytest.approx(d_of_more.sum())
    diamond = ase.build.bulk("C", "diamond", a=3.57, cubic=True) * 3
    diamond.rattle(0.05, seed=1)
    moved = diamond.copy()
    moved.positions[[10, 20, 30]] += diamond.cell.array
    found, wanted = (quadrat.matscipy.neighbour_list("ijD", one, 1.85) for one in (moved, diamond))
    assert np.array_equal(found[0], wanted[0]) and np.array_equal(found[1], wanted[1])
    np.testing.assert_allclose(found[2], wanted[2], atol=1e-12)
    for side in ([0.5, 1.1], [9.5, 10.1]):
        pair = ase.Atoms("CC", [[x, 0.5, 0.5] for x in side], cell=[np.rint(side[0] + 0.1), 1, 1])
        one = quadrat.matscipy.neighbour_list("ijd", pair, 1.1)
        pair.cell[0, 0] *= 2
        assert all(np.array_equal(a, b) for a, b in zip(one, quadrat.matscipy.neighbour_list("ijd", pair, 1.1)))


@pytest.mark.parametrize(
    "given, words",
    [
        ({"atoms": ATOMS}, "cutoff is None"),
        ({"cutoff": 1.0, "positions": np.ma.masked_less(np.ones((2, 3)), 2)}, "positions: masked elements"),
        ({"cutoff": 1.0}, "neither atoms nor positions"),
        ({"cutoff": 1.0, "atoms": ATOMS, "pbc": True}, "pbc is given beside atoms"),
        ({"cutoff": np.ones(59), "atoms": ATOMS}, r"\(59,\).*60 atoms"),
    ],
)
def test_calls_of_matscipy_that_cannot_be_meant_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        quadrat.matscipy.neighbour_list("ij", **given)
