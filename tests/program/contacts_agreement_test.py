# SPDX-License-Identifier: BSD-3-Clause
"""quadrat contacts as numpy reads it: the same in .npy and .csv, and for spheres the same as from all pairs.

Needs numpy (script/python-packages installs it in build/python); skips itself without it."""

import os
import sys

import support

PACKAGES = os.environ.get("QUADRAT_PYTHON_PACKAGES", str(support.SOURCE / "build" / "python"))
sys.path.insert(0, PACKAGES)
try:
    import numpy as np
except ImportError as problem:
    print(f"skipped: {problem}; script/python-packages installs what is missing")
    sys.exit(77)

VECTORS = {"point_a": "a", "point_b": "b", "normal": "n", "tangent_1": "t1", "tangent_2": "t2"}


class ContactsAgreementTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(4)

    def contacts(self, *arguments):
        """The records of the .npy file; those of the .csv file must be the same."""
        common = ["contacts", *arguments, "--device", "cpu", "--quiet"]
        self.quadrat(*common, "-o", "contacts.npy")
        self.quadrat(*common, "-o", "contacts.csv")
        records = np.load(self.folder / "contacts.npy")
        table = np.genfromtxt(self.folder / "contacts.csv", delimiter=",", names=True, ndmin=1)
        self.assertEqual(len(table), len(records))
        for name in ("a", "b", "feature", "depth"):
            np.testing.assert_array_equal(table[name].astype(records[name].dtype), records[name])
        for field, name in VECTORS.items():
            columns = np.column_stack([table[name + axis] for axis in "xyz"])
            np.testing.assert_array_equal(columns.astype(records[field].dtype), records[field])
        np.testing.assert_array_equal(np.column_stack([table["s" + axis] for axis in "xyz"]), records["shift"])
        return records

    def save(self, **columns):
        file = self.folder / "bodies.csv"
        rows = np.column_stack(list(columns.values()))
        np.savetxt(file, rows, fmt="%.17g", delimiter=",", header=",".join(columns), comments="")
        return file

    def spheres(self, count, radii):
        centers = self.random.random((count, 3))
        return centers, radii, self.save(x=centers[:, 0], y=centers[:, 1], z=centers[:, 2], radius=radii)

    def assert_contacts_of_spheres(self, records, centers, radii, lengths=None):
        offsets = centers[None, :, :] - centers[:, None, :]
        shifts = np.zeros(offsets.shape)
        if lengths is not None:
            shifts = -np.round(offsets / lengths)
            offsets += lengths * shifts
        distances = np.linalg.norm(offsets, axis=2)
        depths = radii[:, None] + radii[None, :] - distances
        a, b = np.nonzero(np.triu(depths > 0, 1))
        np.testing.assert_array_equal(np.column_stack([records["a"], records["b"]]), np.column_stack([a, b]))
        np.testing.assert_allclose(records["depth"], depths[a, b], rtol=1e-9, atol=1e-14)
        normals = offsets[a, b] / distances[a, b, None]
        np.testing.assert_allclose(records["normal"], normals, atol=1e-9)
        np.testing.assert_allclose(records["point_a"], centers[a] + radii[a, None] * normals, atol=1e-9)
        np.testing.assert_allclose(
            records["point_b"], centers[a] + offsets[a, b] - radii[b, None] * normals, atol=1e-9
        )
        np.testing.assert_array_equal(records["shift"], shifts[a, b])
        image = centers[b] + records["shift"] * (0 if lengths is None else lengths)
        np.testing.assert_allclose(records["point_b"] - image, -radii[b, None] * normals, atol=1e-9)

    def test_records_are_those_of_the_library(self):
        _, _, file = self.spheres(50, np.full(50, 0.2))
        for precision, bytes_a_number in (("float", 4), ("double", 8)):
            records = self.contacts(file, "--precision", precision)
            self.assertEqual(records.dtype.itemsize, 16 * bytes_a_number + 24)
            self.assertEqual(list(records.dtype.names), [*VECTORS, "depth", "a", "b", "shift", "feature"])
            self.assertEqual(records["normal"].shape, (len(records), 3))

    def test_spheres(self):
        for radii in (
            np.full(1000, 0.06),
            np.exp(self.random.uniform(np.log(0.002), np.log(0.2), 1000)),
            np.concatenate([np.full(999, 0.01), [0.8]]),
        ):
            centers, radii, file = self.spheres(1000, radii)
            records = self.contacts(file)
            self.assertGreater(len(records), 100)
            self.assert_contacts_of_spheres(records, centers, radii)

    def test_spheres_in_a_periodic_box(self):
        centers, radii, file = self.spheres(600, self.random.uniform(0.01, 0.1, 600))
        records = self.contacts(file, "--box", "1,1,1", "--periodic", "xyz")
        self.assert_contacts_of_spheres(records, centers, radii, np.array([1.0, 1.0, 1.0]))

    def test_spheres_that_lie_boxes_away_from_a_periodic_box(self):
        lengths = np.array([1.0, 1.25, 0.75])
        for axes, count in (("xyz", 400), ("xz", 300), ("y", 300)):
            away = self.random.integers(-5, 6, (count, 3)) * [axis in axes for axis in "xyz"]
            centers = lengths * (self.random.random((count, 3)) + away)
            radii = self.random.uniform(0.01, 0.1, count)
            file = self.save(x=centers[:, 0], y=centers[:, 1], z=centers[:, 2], radius=radii)
            records = self.contacts(file, "--box", "1,1.25,0.75", "--periodic", axes)
            self.assertGreater(np.count_nonzero(records["shift"]), 100)
            # Open axes are longer than any distance between two spheres.
            spans = np.where([axis in axes for axis in "xyz"], lengths, 1e9)
            self.assert_contacts_of_spheres(records, centers, radii, spans)

    def test_round_ellipsoids_and_capsules_are_spheres(self):
        centers, radii, file = self.spheres(300, self.random.uniform(0.05, 0.1, 300))
        expected = self.contacts(file)
        x, y, z = centers.T
        q = dict(zip(("qw", "qx", "qy", "qz"), self.random.normal(size=(4, 300))))
        for others in (dict(a=radii, b=radii, c=radii, **q), dict(radius=radii, half_length=0 * radii, **q)):
            records = self.contacts(self.save(x=x, y=y, z=z, **others))
            np.testing.assert_array_equal(records[["a", "b"]], expected[["a", "b"]])
            np.testing.assert_allclose(records["depth"], expected["depth"], atol=1e-6)
            np.testing.assert_allclose(records["normal"], expected["normal"], atol=1e-4)

    def test_turned_boxes_lie_on_a_floor(self):
        half = self.random.uniform(0.5, 1, (100, 3))
        angle = self.random.uniform(0, np.pi, 100)
        place = 10.0 * np.arange(100)
        file = self.save(
            x=place, y=0 * place, z=half[:, 2] - 0.125, a=half[:, 0], b=half[:, 1], c=half[:, 2],
            qw=np.cos(angle / 2), qx=0 * angle, qy=0 * angle, qz=np.sin(angle / 2),
        )  # fmt: skip
        text = file.read_text().splitlines()
        shapes = ["shape," + text[0], *("box," + line for line in text[1:])]
        file.write_text("\n".join(shapes) + "\n")
        records = self.contacts(file, "--plane", "0,0,1,0")
        self.assertEqual(len(records), 400, "four corners each")
        np.testing.assert_array_equal(records["b"], 2**31, "the first plane")
        np.testing.assert_allclose(records["depth"], 0.125, atol=1e-9)
        corners = np.linalg.norm(records["point_a"][:, :2] - np.column_stack([place, 0 * place])[records["a"]], axis=1)
        np.testing.assert_allclose(corners, np.linalg.norm(half[records["a"], :2], axis=1), atol=1e-9)


if __name__ == "__main__":
    support.main()
