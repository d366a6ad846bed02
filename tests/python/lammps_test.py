# SPDX-License-Identifier: BSD-3-Clause
"""kspace_style quadrat beside LAMMPS' own styles, in an instance of LAMMPS that has loaded the plugin."""

import functools
import os
import pathlib
import re
import sys

import numpy as np
import pytest

if "QUADRAT_LAMMPS_PLUGIN" not in os.environ:
    pytest.skip("the plugin for LAMMPS is not built", allow_module_level=True)
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks"))
import lammps_accuracy as host  # noqa: E402

SYSTEMS = host.systems()
# Numbers of `run`: the energy of the kspace style, that of all, pressures of the kspace style, the sum by atom.
ELONG, ENERGY, PRESSURES, BY_ATOM = 0, 1, slice(2, 8), 8


@functools.cache
def exact(name):
    return host.reference(SYSTEMS[name])


@functools.cache
def with_the_same_splitting(name):
    return host.run(SYSTEMS[name], "ewald 1e-8", modify="gewald 0.32")


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-5])
def test_the_error_is_at_most_what_was_asked_for(name, accuracy):
    forces, numbers, _ = host.run(SYSTEMS[name], f"quadrat {accuracy}")
    assert host.error_of(forces, exact(name)[0]) < accuracy
    assert abs(numbers[ENERGY] - exact(name)[1][ENERGY]) < accuracy * host.UNIT_FORCE * len(forces)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("ranks", [1, 2])
def test_energies_forces_and_virials_are_those_of_ewald_with_the_same_splitting(name, ranks):
    forces, numbers, _ = host.run(SYSTEMS[name], "quadrat 1e-8", ranks, modify="gewald 0.32")
    there, expected, _ = with_the_same_splitting(name)
    assert np.abs(forces - there).max() < 2e-5
    assert numbers[ELONG] == pytest.approx(expected[ELONG], rel=1e-7)
    assert numbers[BY_ATOM] == pytest.approx(numbers[ELONG], rel=1e-10)
    pressures, wanted = numbers[PRESSURES], expected[PRESSURES].copy()
    if name == "slab of water":  # LAMMPS leaves the dipole's energy 2 pi k Mz^2 / V out of its virial
        term = pressures[0] - wanted[0]
        assert term > 0
        wanted += term * np.array([1, 1, -1, 0, 0, 0])
    assert np.abs(pressures - wanted).max() < 1e-6 * np.abs(expected[PRESSURES]).max() + 0.01


@pytest.mark.parametrize("name", ["water", "water, skewed", "slab of water"])
def test_steps_follow_those_of_ewald_over_ranks(name):
    more = "velocity all create 300 1 dist gaussian\nfix move all nve\ntimestep 0.5\nthermo 20"
    if name != "slab of water":  # the box changes in each step
        more = more.replace("nve", "npt temp 300 300 100 iso 1 1 500")
    wanted = host.run(SYSTEMS[name], "ewald 1e-7", more=more, steps=20)
    for ranks in (1, 2):
        forces, numbers, _ = host.run(SYSTEMS[name], "quadrat 1e-7", ranks, more=more, steps=20)
        assert numbers[ENERGY] == pytest.approx(wanted[1][ENERGY], rel=1e-4)
        assert host.error_of(forces, wanted[0]) < 1e-4


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_skewed_slab_is_half_of_a_right_angled_one(ranks):
    slab = (host.water(8, (0.5, 0, 0), room=8), 9.0, "slab 3.0", "p p f\nbox tilt large")
    twice = "replicate 1 2 1\nchange_box all xy final 0.0\nkspace_modify slab 3.0"
    forces, numbers, _ = host.run(slab, "quadrat 1e-7", ranks)
    doubled, sums, _ = host.run(slab, "quadrat 1e-7", ranks, more=twice)
    assert host.error_of(doubled[: len(forces)], forces) < 1e-7
    assert sums[ENERGY] == pytest.approx(2 * numbers[ENERGY], rel=1e-5)


def test_parameters_of_kspace_modify_are_used():
    _, _, output = host.run(SYSTEMS["water"], "quadrat 1e-4", modify="gewald 0.3 mesh 36 40 48 order 5")
    assert "G vector (1/distance) = 0.3\n" in output
    assert "grid = 36 40 48\n" in output and "order = 5\n" in output


def test_an_error_above_the_one_asked_for_is_said_once():
    forces, _, output = host.run(SYSTEMS["water"], "quadrat 1e-5", 2, modify="gewald 0.2")
    found = re.findall("WARNING: kspace_style quadrat: with .* the relative error of forces is (.*); asked for is 1e-05", output)
    assert len(found) == 1
    measured = host.error_of(forces, exact("water")[0])
    assert measured < float(found[0]) < 3 * measured


@pytest.mark.parametrize("style, modify, more, words", [
    ("quadrat", "", "", "takes one number, the relative accuracy of forces; 0 were given"),
    ("quadrat 2", "", "", "has the accuracy 2; it must be above 0 and below 1"),
    ("quadrat 1e-17", "", "", "has the accuracy 1e-17; of these charges the least is"),
    ("quadrat 1e-4", "slab nozforce", "", "has no slab correction without forces"),
    ("quadrat 1e-4", "mesh 7 7 7", "", "products of 2, 3 and 5"),
    ("quadrat 1e-4", "", "compute s all stress/atom NULL\ncompute r all reduce sum c_s[1]\nthermo_style custom c_r",
     "gives no virial of single atoms"),
    ("quadrat 1e-4", "", "change_box all boundary p p f", "needs kspace_modify slab for a box that is not periodic along z"),
    ("quadrat 1e-4", "", "set group all charge 0", "needs kspace_modify gewald where all charges are 0"),
    ("quadrat 1e-4", "", "pair_style lj/cut 5\npair_coeff * * 1 1", "KSpace style is incompatible with Pair style"),
])
@pytest.mark.parametrize("ranks", [1, 2])
def test_what_is_not_possible_is_one_clear_error(style, modify, more, words, ranks):
    with pytest.raises(RuntimeError) as problem:
        host.run(SYSTEMS["water"], style, ranks, modify, more)
    errors = [line for line in str(problem.value).splitlines() if line.startswith("ERROR")]
    assert len(errors) == 1 and words in errors[0]


def test_an_atom_far_outside_a_slab_is_an_error_with_its_id():
    with pytest.raises(RuntimeError, match="atom 5 with the charge 0.4238 is at .*, 200; in a slab it must be"):
        host.run(SYSTEMS["slab of water"], "quadrat 1e-4", more="set atom 5 z 200")
