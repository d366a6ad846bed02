# SPDX-License-Identifier: BSD-3-Clause
"""quadrat neighbors gives the pairs and shifts that ASE and matscipy give.

Needs numpy, ase, matscipy, scipy and vesin (script/python-packages installs them in build/python); skips itself without them."""

import json
import os
import subprocess
import sys

import support

PACKAGES = os.environ.get("QUADRAT_PYTHON_PACKAGES", str(support.SOURCE / "build" / "python"))
sys.path.insert(0, PACKAGES)
try:
    import ase.io
    import ase.neighborlist
    import matscipy.neighbours
    import numpy as np
    import scipy.spatial  # noqa: F401
    import vesin  # noqa: F401
except ImportError as problem:
    print(f"skipped: {problem}; script/python-packages installs what is missing")
    sys.exit(77)


def in_order(i, j, shifts, distances):
    """Rows (i, j, S) and distances by increasing (i, j, S)."""
    rows = np.column_stack([i, j, shifts]).astype(np.int64)
    order = np.lexsort(rows.T[::-1])
    return rows[order], np.asarray(distances, dtype=float)[order]


class AgreementTest(support.ProgramTest):
    def ours(self, *arguments):
        self.quadrat("neighbors", *arguments, "--device", "cpu", "--quiet", "-o", "pairs.csv")
        lines = (self.folder / "pairs.csv").read_text().splitlines()
        columns = lines[0].count(",") + 1
        table = np.array([line.split(",") for line in lines[1:]], dtype=float).reshape(-1, columns)
        if columns == 7:  # two dimensions
            table = np.insert(table, 4, 0, axis=1)
        return table[:, :5].astype(np.int64), table[:, -1]

    def assert_agreement(self, atoms, cutoff, *arguments):
        """The program's output must already be in order; each of the others has its own form of the same atoms."""
        rows, distances = self.ours(*arguments, "--cutoff", repr(float(cutoff)))
        others = {
            "ase": ase.neighborlist.neighbor_list("ijSd", atoms, cutoff),
            "matscipy": matscipy.neighbours.neighbour_list(
                "ijSd", positions=atoms.positions, cell=np.array(atoms.cell), pbc=atoms.pbc, cutoff=cutoff
            ),
        }
        for name, lists in others.items():
            expected_rows, expected_distances = in_order(*lists)
            if len(expected_distances) and np.min(np.abs(expected_distances - cutoff)) < 1e-9 * cutoff:
                continue  # rounding decides
            np.testing.assert_array_equal(rows, expected_rows, err_msg=f"{name}, {atoms}, cutoff {cutoff}")
            np.testing.assert_allclose(distances, expected_distances, rtol=1e-10, atol=1e-12)
            self.compared += 1

    def setUp(self):
        super().setUp()
        self.compared = 0
        self.random = np.random.default_rng(3)

    def random_atoms(self, pbc, edge, triclinic, outside=0):
        """Up to 60 atoms in a cell whose edges are about `edge`."""
        cell = np.diag(self.random.uniform(0.7, 1.3, 3) * edge)
        if triclinic:
            cell += self.random.uniform(-0.4, 0.4, (3, 3)) * edge * (1 - np.eye(3))
            if self.random.random() < 0.5:
                cell = cell[[1, 0, 2]]
        fractions = self.random.random((self.random.integers(2, 60), 3))
        fractions += self.random.integers(-outside, outside + 1, fractions.shape) * np.asarray(pbc)
        return ase.Atoms(numbers=np.ones(len(fractions)), positions=fractions @ cell, cell=cell, pbc=pbc)

    def arguments_of(self, atoms):
        """The same atoms as an array and options."""
        np.save(self.folder / "points.npy", atoms.positions)
        axes = "".join(axis for axis, periodic in zip("xyz", atoms.pbc) if periodic) or "none"
        components = ",".join(repr(float(component)) for component in np.array(atoms.cell).ravel())
        return [self.folder / "points.npy", "--box", components, "--periodic", axes]

    def test_random_systems(self):
        for pbc in np.ndindex(2, 2, 2):
            for triclinic in (False, True):
                for edge in (0.6, 1.5, 5.0):  # of the cutoff: from several images of one atom to many cells
                    atoms = self.random_atoms([bool(axis) for axis in pbc], edge, triclinic)
                    with self.subTest(pbc=pbc, triclinic=triclinic, edge=edge):
                        self.assert_agreement(atoms, 1.0, *self.arguments_of(atoms))
        self.assertGreater(self.compared, 90)

    def test_shifts_are_relative_to_the_positions_as_given(self):
        for triclinic in (False, True):
            for pbc in [(True, True, True), (True, False, True), (False, False, True)]:
                atoms = self.random_atoms(pbc, 1.7, triclinic, outside=3)
                self.assert_agreement(atoms, 1.0, *self.arguments_of(atoms))
        self.assertGreater(self.compared, 9)

    def test_files_that_ase_has_written(self):
        for pbc in [(True, True, True), (False, True, False), (False, False, False)]:
            for triclinic in (False, True):
                file = self.folder / "atoms.xyz"
                ase.io.write(file, self.random_atoms(pbc, 2.2, triclinic, outside=1), format="extxyz")
                self.assert_agreement(ase.io.read(file), 1.0, file)
        slab = self.random_atoms((True, True, False), 2.2, True)
        slab.cell[2] = 0
        ase.io.write(file, slab, format="extxyz")
        self.assert_agreement_with_ase(ase.io.read(file), file)

    def assert_agreement_with_ase(self, atoms, file):
        """With a zero cell vector, which matscipy refuses."""
        rows, _ = self.ours(file, "--cutoff", 1.0)
        expected, _ = in_order(*ase.neighborlist.neighbor_list("ijSd", atoms, 1.0))
        np.testing.assert_array_equal(rows, expected)

    def test_two_dimensions(self):
        for pbc in [(True, True, False), (True, False, False), (False, False, False)]:
            atoms = self.random_atoms(pbc, 2.0, False)
            atoms.positions[:, 2] = 0
            np.save(self.folder / "plane.npy", atoms.positions[:, :2])
            axes = "".join(axis for axis, periodic in zip("xy", pbc) if periodic) or "none"
            box = ",".join(repr(float(length)) for length in atoms.cell.lengths()[:2])
            self.assert_agreement(atoms, 1.0, self.folder / "plane.npy", "--box", box, "--periodic", axes)

    def test_a_crystal(self):
        from ase.build import bulk

        atoms = bulk("Cu", "fcc", a=3.6)  # one atom in a cell much smaller than the cutoff
        self.assert_agreement(atoms, 6.1, *self.arguments_of(atoms))
        atoms = bulk("NaCl", "rocksalt", a=5.64) * (3, 3, 3)
        self.assert_agreement(atoms, 6.1, *self.arguments_of(atoms))

    def test_arrays_for_numpy(self):
        atoms = self.random_atoms((True, True, True), 3.0, True)
        arguments = self.arguments_of(atoms)
        for positions in (np.asfortranarray(atoms.positions), atoms.positions.astype(">f8")):
            np.save(arguments[0], positions)
            self.quadrat("neighbors", *arguments, "--cutoff", 1, "--device", "cpu", "-o", "pairs.npy")
            pairs = np.load(self.folder / "pairs.npy")
            i, j = ase.neighborlist.neighbor_list("ij", atoms, 1.0)
            self.assertEqual(pairs.dtype, np.int64)
            np.testing.assert_array_equal(pairs, sorted(zip(i, j)))

    def test_the_comparison_of_speeds(self):
        """It stops when anyone finds another number of pairs."""
        script = support.SOURCE / "benchmarks" / "compare_cpu.py"
        done = subprocess.run(
            [sys.executable, script, "--quick", "--program", support.PROGRAM, "--json", self.folder / "speeds.json"],
            env={**os.environ, "QUADRAT_PYTHON_PACKAGES": PACKAGES}, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.folder / "speeds.json").read_text())["rows"]
        for operation, count in {"csr": 4, "separations": 2}.items():
            ours = [row for row in rows if row["op"] == operation]
            self.assertEqual(len({row["pairs"] for row in ours}), 1)
            self.assertEqual(len(ours), count)

    def test_the_searches_are_compared_with_what_is_installed(self):
        script = support.SOURCE / "benchmarks" / "compare_searches.py"
        done = subprocess.run(
            [sys.executable, script, "--quick", "--program", support.PROGRAM, "--json", self.folder / "speeds.json"],
            env={**os.environ, "QUADRAT_PYTHON_PACKAGES": PACKAGES}, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.folder / "speeds.json").read_text())["rows"]
        self.assertEqual(len([row for row in rows if row["method"] == "quadrat"]), 6)
        self.assertEqual(len([row for row in rows if row["method"] == "cKDTree"]), 4)


if __name__ == "__main__":
    support.main()
