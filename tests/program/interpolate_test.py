# SPDX-License-Identifier: BSD-3-Clause
"""quadrat interpolate: what it reads, what it writes, and what it says."""

import math

import mesh_support
import support
from mesh_support import TOLERANCE, Mesh, npy, read_npy


class InterpolateTest(mesh_support.MeshTest):
    COMMAND = "interpolate"

    def setUp(self):
        super().setUp()
        self.line = self.put("line.csv", "x\n0.125\n0.5\n0.9375\n")
        self.mesh = self.put_array("line_mesh.npy", (8,), self.draw_values(8))

    def interpolate(self, *arguments):
        """Runs, and returns type, shape and numbers of the result."""
        self.quadrat("interpolate", *arguments, "--device", "cpu", "--quiet", "-o", "out.npy")
        return read_npy(self.folder / "out.npy")

    def test_help_has_examples_methods_and_the_order_of_arrays(self):
        text = self.quadrat("interpolate", "--help").stdout
        for word in ["Examples:", "--mesh-values", "--gradient", "--box", "C-ordered [x][y][z]", "particle", "adjoint"]:
            self.assertIn(word, text)
        self.assertIn("interpolate", self.quadrat("--help").stdout)

    CASES = [
        ([16], [2.0], "<f4", "<f4", [True]),
        ([9], [1.5], "<f8", "<c16", [False]),
        ([8, 5], [1.0, 0.75], "<f4", "<c8", [True, False]),
        ([3, 12], [2.0, 1.0], "<f8", "<f8", [True, True]),
        ([6, 7, 8], [1.0, 2.0, 0.5], "<f8", "<c16", [False, True, True]),
        ([8, 5, 6], [1.5, 1.0, 3.0], "<f4", "<f4", [True, True, True]),
    ]

    def arguments_of(self, extents, lengths, order, periodic):
        axes = "".join(letter for letter, yes in zip("xyz", periodic) if yes) or "none"
        box = ",".join(map(str, lengths))
        return ["--box", box, "--order", order, "--periodic", axes, "--clip"]

    def test_every_method_gives_the_values_and_gradients_of_the_reference(self):
        methods = ["auto", *(method["name"] for method in self.methods())]
        for extents, lengths, stored, descr, periodic in self.CASES:
            for order in (1, 4, 7) if len(extents) < 3 else (2, 6):
                points = self.draw_points(25, lengths, stored)
                numbers = self.draw_values(math.prod(extents), descr)
                mesh = Mesh(extents, lengths, order, periodic=periodic)
                arguments = [
                    self.put_points("points.npy", points, stored), "--mesh-values",
                    self.put_array("mesh.npy", extents, numbers, descr),
                    *self.arguments_of(extents, lengths, order, periodic),
                ]  # fmt: skip
                values, gradients = mesh.interpolate(points, numbers), mesh.gradient(points, numbers)
                for method in methods:
                    with self.subTest(extents=extents, order=order, type=descr, method=method):
                        found = self.interpolate(*arguments, "--method", method)
                        self.assertEqual(found[:2], (descr, (25,)))
                        self.assert_near(found[2], values, TOLERANCE[descr])
                        found = self.interpolate(*arguments, "--method", method, "--gradient")
                        self.assertEqual(found[:2], (descr, (25, len(extents))))
                        if order > 1:
                            self.assert_near(found[2], gradients, 4 * TOLERANCE[descr])
                        else:
                            self.assertEqual(set(found[2]), {0.0})

    def test_interpolation_is_the_adjoint_of_spreading(self):
        """For all v and m: the sum over mesh points of spread(v) m equals the sum over points of v interpolate(m)."""
        for extents, lengths, stored, descr, periodic in self.CASES:
            points = self.put_points("points.npy", self.draw_points(30, lengths, stored), stored)
            v, m = self.draw_values(30, descr), self.draw_values(math.prod(extents), descr)
            same = [points, *self.arguments_of(extents, lengths, 5, periodic), "--device", "cpu", "--quiet"]
            self.quadrat("spread", *same, "--values", self.put_array("v.npy", (30,), v, descr), "--mesh",
                         ",".join(map(str, extents)), "-o", "spread.npy")  # fmt: skip
            self.quadrat("interpolate", *same, "--mesh-values", self.put_array("m.npy", extents, m, descr),
                         "-o", "interpolated.npy")  # fmt: skip
            on_mesh = sum(a * b for a, b in zip(read_npy(self.folder / "spread.npy")[2], m))
            at_points = sum(a * b for a, b in zip(read_npy(self.folder / "interpolated.npy")[2], v))
            self.assertLess(abs(on_mesh - at_points), 30 * TOLERANCE[descr])

    def test_reads_what_spread_wrote(self):
        points = self.put_points("points.npy", self.draw_points(20, [1, 1, 1]))
        values = self.put_array("values.npy", (2, 20), self.draw_values(40, "<c16"), "<c16")
        self.quadrat("spread", points, "--values", values, "--mesh", "4,5,6", "--device", "cpu", "-o", "mesh.npy")
        result = self.result(points, "--mesh-values", "mesh.npy")
        self.assertEqual((result["mesh"]["extents"], result["values"]["vectors"]), ([4, 5, 6], 2))
        self.assertEqual(self.interpolate(points, "--mesh-values", "mesh.npy")[1], (2, 20))

    def test_reads_the_meshes_of_paraview_that_spread_wrote(self):
        box = ["--box", "2,3,1", "--origin", "-1,0,5"]
        for vectors, descr in ((None, "<f8"), (1, "<f4"), (3, "<c16")):
            points = self.put_points("points.npy", self.draw_points(20, [2, 3, 1], descr.replace("c16", "f8")))
            count = vectors or 1
            shape = (20,) if vectors is None else (vectors, 20)
            values = self.put_array("values.npy", shape, self.draw_values(20 * count, descr), descr)
            for name in ("mesh.npy", "mesh.vti"):
                self.quadrat("spread", points, "--values", values, "--mesh", "4,5,6", *box, "--device", "cpu", "-o", name)
            found = [self.interpolate(points, "--mesh-values", name, *box) for name in ("mesh.npy", "mesh.vti")]
            self.assertEqual(found[0], found[1])
        line = ["interpolate", points, "--mesh-values", "mesh.vti", "--device", "cpu"]
        self.assertIn("along x the mesh begins at -1 and is 2 long", self.fails(*line, code=2))
        self.assertIn("5 points along y, but the points are in 1 dimension", self.fails(
            "interpolate", self.line, "--mesh-values", "mesh.vti", "--device", "cpu", code=1))  # fmt: skip

    def test_several_vectors_at_once(self):
        points = self.draw_points(11, [1, 1])
        file = self.put_points("points.npy", points)
        mesh = Mesh([4, 6], [1, 1], 3)
        for descr in ("<f8", "<c16"):
            numbers = self.draw_values(72, descr)
            array = self.put_array("mesh.npy", (3, 4, 6), numbers, descr)
            values = self.interpolate(file, "--mesh-values", array, "--order", 3)
            gradients = self.interpolate(file, "--mesh-values", array, "--order", 3, "--gradient")
            self.assertEqual((values[1], gradients[1]), ((3, 11), (3, 11, 2)))
            for v in range(3):
                one = numbers[24 * v : 24 * v + 24]
                self.assert_near(values[2][11 * v : 11 * v + 11], mesh.interpolate(points, one), 1e-13)
                self.assert_near(gradients[2][22 * v : 22 * v + 22], mesh.gradient(points, one), 1e-12)

    def test_a_constant_is_read_back_and_has_no_gradient(self):
        mesh = self.put_array("mesh.npy", (5, 7), [2.5] * 35)
        points = self.put_points("points.npy", self.draw_points(9, [1, 1]))
        for number in self.interpolate(points, "--mesh-values", mesh)[2]:
            self.assertAlmostEqual(number, 2.5, 13)
        for number in self.interpolate(points, "--mesh-values", mesh, "--gradient")[2]:
            self.assertAlmostEqual(number, 0, 12)

    def test_precision_is_single_where_all_that_is_read_is(self):
        for stored, descr, precision, expected in [
            ("<f4", "<f4", None, "<f4"), ("<f4", "<c16", None, "<c16"), ("<f8", "<f4", None, "<f8"),
            ("<f8", "<c16", "float", "<c8"), ("<f4", "<f4", "double", "<f8"),
        ]:  # fmt: skip
            points = self.put_points("points.npy", [[0.25], [0.5]], stored)
            mesh = self.put_array("mesh.npy", (4,), [1, 2, 3, 4], descr)
            more = ["--precision", precision] if precision else []
            self.assertEqual(self.interpolate(points, "--mesh-values", mesh, *more)[0], expected)

    def test_counts_sums_and_times_as_json(self):
        mesh = self.put_array("mesh.npy", (2, 4), [1, 1, 1, 1, 2, 2, 2, 2], "<f4")
        result = self.result(self.line, "--mesh-values", mesh, "-o", "out.npy")
        self.assertEqual(result["points"], {"file": str(self.line), "count": 3, "dimensions": 1})
        self.assertEqual(result["mesh"], {"file": str(mesh), "extents": [4], "points": 4, "sums": [4, 8]})
        self.assertEqual((result["values"]["type"], result["values"]["vectors"]), ("float64", 2))
        for found, expected in zip(result["values"]["sums"], [3, 6]):
            self.assertAlmostEqual(found, expected, 12)
        self.assertEqual((result["interpolate"]["order"], result["interpolate"]["precision"]), (4, "double"))
        for name in ("reading", "set_points", "interpolate", "writing", "total"):
            self.assertGreater(result["performance"][f"{name}_seconds"], 0)
        self.assertEqual(result["output"], "out.npy")
        values = self.result(self.line, "--mesh-values", mesh, "--gradient")["values"]
        self.assertEqual(values, {"file": None, "type": "float64", "vectors": 2, "gradient": True})

    def test_text_for_people(self):
        text = self.quadrat("interpolate", self.line, "--mesh-values", self.mesh, "-o", "out.npy").stdout
        for words in ["3 points, read from the mesh of 8 in", "real; sum", "unit box", "order 4, double", "out.npy"]:
            self.assertIn(words, text)
        self.assertEqual(self.quadrat("interpolate", self.line, "--mesh-values", self.mesh, "--quiet").stdout, "")

    def test_no_points(self):
        none = self.put("none.csv", "x\n")
        self.assertEqual(self.interpolate(none, "--mesh-values", self.mesh)[1:], ((0,), []))
        self.assertEqual(self.interpolate(none, "--mesh-values", self.mesh, "--gradient")[1:], ((0, 1), []))

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([], "--help"),
            ([self.line], "--mesh-values is missing: "),
            (["nowhere.npy", "--mesh-values", self.mesh], "does not exist"),
            ([self.line, "--mesh-values", "nowhere.npy"], "does not exist"),
            ([self.line, "--mesh-values", self.line], "mesh values are read from .npy and .vti files; "),
            ([self.line, "--mesh-values", self.mesh, "--order", 9], "the order is 9"),
            ([self.line, "--mesh-values", self.mesh, "--method", "partikle"], "nearest first: particle"),
            ([self.line, "--mesh-values", self.mesh, "--box", "1,1"], "--box: there are 2 numbers"),
            ([self.line, "--mesh-values", self.mesh, "--uses", -1], "the number of uses is -1"),
            ([self.line, "--mesh-values", self.mesh, "-o", "out.vti"], "are written to .npy files; out.vti ends"),
            ([self.line, "--mesh-values", self.mesh, "-o", self.mesh], "is the file that is read"),
            ([self.line, "--mesh-values", self.mesh, "--deterministic"], "--deterministic"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_files_that_are_wrong(self):
        whole = npy((4,), [1.0, 2.0, 3.0, 4.0])
        for name, contents, words in [
            ("empty.npy", b"", "empty.npy: the file is empty"),
            ("cut.npy", whole[:-3], "it is cut short"),
            ("cube.npy", npy((2, 2, 2), [1] * 8), "has shape (2, 2, 2); with points in 1 dimensions, mesh values have"),
            ("zero.npy", npy((2, 0), []), "which is not a mesh"),
            ("none.npy", npy((0, 2), []), "which is 0 vectors"),
            ("int.npy", whole.replace(b"<f8", b"<i8"), "holds int64; mesh values are float32"),
            ("nan.npy", npy((2, 2), [0, 0, 0, float("nan")]), "nan.npy: element [1, 1] is nan"),
        ]:
            with self.subTest(name):
                arguments = [self.line, "--mesh-values", self.put(name, contents), "-o", "out.npy"]
                self.assertIn(words, self.refusal(*arguments, code=1))
                self.assertFalse((self.folder / "out.npy").exists())
        outside = self.put("outside.csv", "x\n0.5\n1.5\n")
        message = self.refusal(outside, "--mesh-values", self.mesh, code=1)
        self.assertIn("point 1 is at 1.5 along axis 0, outside the unit box", message)
        message = self.refusal(self.line, "--mesh-values", self.mesh, "--periodic", "none", code=1)
        self.assertIn("point 2 at (0.9375) has a footprint that leaves the mesh", message)

    def test_output_that_cannot_be_written_leaves_the_older_file(self):
        points = self.put_array("points.npy", (20000,), [k / 20000 for k in range(20000)])
        self.assert_full_disk_is_reported("out.npy", points, "--mesh-values", self.mesh)

    def test_ctrl_c_leaves_whole_files(self):
        count = 1_100_000
        points = self.put_array("points.npy", (count,), [k / count for k in range(count)])
        self.assert_interrupted("out.npy", points, "--mesh-values", self.mesh, "--order", 1)


if __name__ == "__main__":
    support.main()
