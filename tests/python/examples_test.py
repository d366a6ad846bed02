# SPDX-License-Identifier: BSD-3-Clause
"""The examples in Python find what their pages say, in small sizes."""

import importlib.util
import pathlib

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / name / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_picture(file):
    return file.read_bytes().startswith(b"\x89PNG") and file.stat().st_size > 10_000


# Two streams


@pytest.fixture(scope="module")
def streams():
    return example("two_stream")


@pytest.fixture(scope="module")
def stream_run(streams):
    return streams.simulate(electrons=4_000, shown=(26, 29, 45))


def test_the_wave_grows_as_theory_says(streams, stream_run):
    assert streams.theory(streams.WAVENUMBER) == pytest.approx(0.5)
    assert streams.growth_rate(stream_run) == pytest.approx(0.5, rel=0.02)


def test_a_shorter_wave_does_not_grow(streams, monkeypatch):
    assert streams.theory(1.5) == 0 and streams.theory(1.4) > 0
    monkeypatch.setattr(streams, "WAVENUMBER", 1.5)
    monkeypatch.setattr(streams, "LENGTH", 2 * np.pi / 1.5)
    run = streams.simulate(electrons=4_000, end=20)
    assert run.amplitude.max() < 10 * run.amplitude[0]


def test_the_energy_of_streams_is_kept(stream_run):
    assert np.ptp(stream_run.energy) < 0.01 * stream_run.energy[0]
    assert stream_run.amplitude.max() > 0.5  # the wave has taken part of it meanwhile


def test_the_streams_are_drawn(streams, stream_run, tmp_path):
    pytest.importorskip("matplotlib")
    streams.draw(stream_run, tmp_path / "a.png")
    assert is_picture(tmp_path / "a.png")


# Halos


@pytest.fixture(scope="module")
def universe():
    return example("halos")


@pytest.fixture(scope="module")
def position(universe):
    return universe.simulate(32)


def test_halos_are_those_of_a_tree(universe, position):
    pytest.importorskip("scipy")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    i, j = cKDTree(position, boxsize=1).query_pairs(universe.LINK / 32, output_type="ndarray").T
    links = coo_array((np.ones(len(i)), (i, j)), shape=(len(position),) * 2)
    sizes = np.bincount(connected_components(links, directed=False)[1])
    found = universe.find_halos(position)
    assert len(found.sizes) > 20 and found.sizes[0] > 100
    assert found.sizes.tolist() == sorted(sizes[sizes >= 20], reverse=True)


def test_centers_are_where_many_particles_are(universe, position):
    found = universe.find_halos(position)
    for size, center in zip(found.sizes[:5], found.centers):
        away = np.linalg.norm((position - center + 0.5) % 1 - 0.5, axis=1)
        assert np.count_nonzero(away < 0.05) > size / 2


def test_halos_are_as_many_as_press_and_schechter_expect(universe, position):
    found = universe.find_halos(position)
    mass = np.geomspace(30 / len(position), 1, 2000)
    assert 0.4 < np.count_nonzero(found.sizes >= 30) / universe.press_schechter(mass)[0] < 2.5


def test_a_long_wave_grows_with_the_scale_factor(universe, monkeypatch):
    lattice = universe.lattice(32)
    psi = 1e-3 * np.sin(2 * np.pi * lattice)
    monkeypatch.setattr(universe, "displacements", lambda across, seed: psi)
    moved = (universe.simulate(32) - lattice + 0.5) % 1 - 0.5
    assert np.abs(moved - psi).max() < 0.01 * np.abs(psi).max()


def test_the_halos_are_drawn(universe, position, tmp_path):
    pytest.importorskip("matplotlib")
    universe.draw(position, universe.find_halos(position), tmp_path / "a.png")
    assert is_picture(tmp_path / "a.png")


# MACE's calculator


def test_energies_and_forces_of_mace_are_the_same_with_this_list():
    pytest.importorskip("mace")
    torch, build = (pytest.importorskip(name) for name in ("torch", "ase.build"))
    mace, precision = example("mace_calculator"), torch.get_default_dtype()
    atoms = build.bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat((2, 2, 1))
    atoms.rattle(0.1, seed=1)
    try:
        theirs, ours = mace.compare(atoms, mace.small_model(), 4.0).values()
    finally:
        torch.set_default_dtype(precision)  # MACE changes it
    assert ours.energy == pytest.approx(theirs.energy, rel=1e-12) and abs(ours.forces).max() > 1e-5
    np.testing.assert_allclose(ours.forces, theirs.forces, atol=1e-12)


def test_energies_and_forces_of_nequip_are_the_same_with_this_list():
    pytest.importorskip("nequip")
    torch, build = (pytest.importorskip(name) for name in ("torch", "ase.build"))
    precision = torch.get_default_dtype()
    atoms = build.bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat((2, 2, 1))
    atoms.rattle(0.1, seed=1)
    try:
        theirs, ours = example("nequip_calculator").compare(atoms, 4.0).values()
    finally:
        torch.set_default_dtype(precision)  # NequIP changes it
    assert ours.energy == pytest.approx(theirs.energy, rel=1e-12) and abs(ours.forces).max() > 1e-5
    np.testing.assert_allclose(ours.forces, theirs.forces, atol=1e-12)
