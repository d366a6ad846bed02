# SPDX-License-Identifier: BSD-3-Clause
"""quadrat spread: what it reads, what it writes, and what it says."""

import json
import re
import struct
from fractions import Fraction

import mesh_support
import support
from mesh_support import TOLERANCE, Mesh, npy, read_npy, rounded

LINE = "x\n0.125\n0.5\n0.9375\n"


class SpreadTest(mesh_support.MeshTest):
    COMMAND = "spread"

    def setUp(self):
        super().setUp()
        self.line = self.put("line.csv", LINE)

    def spread(self, *arguments):
        """Runs, and returns type, shape and numbers of the mesh."""
        self.quadrat("spread", *arguments, "--device", "cpu", "--quiet", "-o", "mesh.npy")
        return read_npy(self.folder / "mesh.npy")

    def test_help_has_examples_methods_and_the_order_of_arrays(self):
        text = self.quadrat("spread", "--help").stdout
        names = [method["name"] for method in self.methods()]
        self.assertIn("particle", names)
        for word in ["Examples:", "--mesh", "--values", "--box", "--order", "--uses", "C-ordered [x][y][z]", "auto"]:
            self.assertIn(word, text)
        for name in names:
            self.assertRegex(text, rf"\n  {name} +cpu")
        self.assertIn("spread", self.quadrat("--help").stdout)

    def test_methods_of_wrong_results_are_refused(self):
        info = json.loads(self.quadrat("info", "--json").stdout)
        text = self.quadrat("spread", "--help").stdout
        for method in info["mesh"]["methods"]:
            if method["wrong_results"]:
                self.assertNotRegex(text, rf"\n  {method['name']} ")
                message = self.refusal(self.line, "--mesh", 4, "--method", method["name"])
                self.assertIn(f"--method: {method['name']} gives wrong results", message)

    def test_methods_of_gpus_are_refused_on_the_cpu(self):
        for method in json.loads(self.quadrat("info", "--json").stdout)["mesh"]["methods"]:
            if not method["cpu"] and not method["wrong_results"]:
                message = self.refusal(self.line, "--mesh", 4, "--method", method["name"])
                self.assertIn(f"the method of spreading {method['name']} does not run on the CPU", message)

    def test_every_method_gives_the_mesh_of_the_reference(self):
        methods = ["auto", *(method["name"] for method in self.methods())]
        cases = [
            ([16], [2.0], "<f4", "<f4"),
            ([9], [1.5], "<f8", "<c16"),
            ([8, 5], [1.0, 0.75], "<f4", "<c8"),
            ([3, 12], [2.0, 1.0], "<f8", "<f8"),
            ([6, 7, 8], [1.0, 2.0, 0.5], "<f8", "<c16"),
            ([8, 5, 6], [1.5, 1.0, 3.0], "<f4", "<f4"),
        ]
        for case, (extents, lengths, stored, descr) in enumerate(cases):
            for order in (1, 4, 6, 8) if len(extents) < 3 else (1 + case, 7):
                points = self.draw_points(40, lengths, stored)
                values = self.draw_values(40, descr)
                expected = Mesh(extents, lengths, order).spread(points, values)
                arguments = [
                    self.put_points("points.npy", points, stored), "--values",
                    self.put_array("values.npy", (40,), values, descr), "--mesh", ",".join(map(str, extents)),
                    "--box", ",".join(map(str, lengths)), "--order", order,
                ]  # fmt: skip
                for method in methods:
                    with self.subTest(extents=extents, order=order, type=descr, method=method):
                        found = self.spread(*arguments, "--method", method)
                        self.assertEqual(found[:2], (descr, tuple(extents)))
                        self.assert_near(found[2], expected, TOLERANCE[descr])

    def test_several_vectors_at_once(self):
        points = self.draw_points(30, [1, 1])
        file = self.put_points("points.npy", points)
        for descr in ("<f8", "<c16"):
            values = self.draw_values(90, descr)
            array = self.put_array("values.npy", (3, 30), values, descr)
            _, shape, numbers = self.spread(file, "--values", array, "--mesh", "5,6", "--order", 3)
            self.assertEqual(shape, (3, 5, 6))
            for v in range(3):
                expected = Mesh([5, 6], [1, 1], 3).spread(points, values[30 * v : 30 * v + 30])
                self.assert_near(numbers[30 * v : 30 * v + 30], expected, 1e-13)
            alone = self.put_array("values.npy", (1, 30), values[:30], descr)
            self.assertEqual(self.spread(file, "--values", alone, "--mesh", "5,6", "--order", 3)[1], (1, 5, 6))

    def test_values_are_ones_unless_given(self):
        _, shape, numbers = self.spread(self.line, "--mesh", 8, "--order", 1)
        self.assertEqual((shape, numbers), ((8,), [1, 1, 0, 0, 1, 0, 0, 0]))  # 7.5 mesh units are nearest to 8, which is 0

    def test_one_number_is_the_mesh_of_all_axes(self):
        points = self.put_points("points.npy", self.draw_points(5, [1, 1, 1]))
        self.assertEqual(self.spread(points, "--mesh", 4)[1], (4, 4, 4))

    def test_points_on_a_line_as_n_and_as_n_x_1(self):
        meshes = [
            self.spread(self.put_array("points.npy", shape, [0.125, 0.5, 0.9375]), "--mesh", 8)
            for shape in ((3,), (3, 1))
        ]
        self.assertEqual(meshes[0], meshes[1])
        self.assertEqual(meshes[0], self.spread(self.line, "--mesh", 8))

    def test_boxes(self):
        points = self.draw_points(20, [2.0, 0.5], origin=[-1.0, 3.0])
        file = self.put_points("points.npy", points)
        box = ["--mesh", "6,9", "--box", "2,0.5", "--origin", "-1,3", "--order", 5]
        mesh = Mesh([6, 9], [2.0, 0.5], 5, origin=[-1.0, 3.0])
        self.assert_near(self.spread(file, *box)[2], mesh.spread(points, [1] * 20), 1e-13)
        for axes in ("x", "y", "none"):
            mesh.periodic = [axes == "x", axes == "y"]
            numbers = self.spread(file, *box, "--periodic", axes, "--clip")[2]
            self.assert_near(numbers, mesh.spread(points, [1] * 20), 1e-13)
            self.assertIn("leaves the mesh along the open axis",
                          self.refusal(file, *box, "--periodic", axes, code=1))  # fmt: skip

    def test_a_small_box_far_from_the_origin_loses_none_of_its_length(self):
        """Positions and lengths of the reference are rounded to the type: the entire difference is the program's. Points
        are few, so that sums round less than a wrong length shifts the points."""
        methods = ["auto", *(method["name"] for method in self.methods())]
        for origin, length in ((-27.25, 0.6), (1000.0, 1.1)):
            for descr in ("<f4", "<f8"):
                points = self.draw_points(100, [length], descr, origin=[origin])
                (held,) = rounded([length], descr)
                mesh = Mesh([100], [Fraction(held)], 4, origin=[Fraction(origin)])
                expected = mesh.spread([[Fraction(x)] for (x,) in points], [1] * len(points))
                file = self.put_points("far.npy", points, descr)
                box = ["--mesh", 100, f"--box={length}", f"--origin={origin}", "--order", 4]
                for method in methods:
                    with self.subTest(origin=origin, type=descr, method=method):
                        numbers = self.spread(file, *box, "--method", method)[2]
                        self.assert_near(numbers, expected, TOLERANCE[descr] / 10)

    def test_points_outside_are_wrapped_unless_nobody_gave_the_box(self):
        points = self.put("points.csv", "x,y\n0.5,0.5\n-0.25,3.75\n")
        inside = self.put("inside.csv", "x,y\n0.5,0.5\n0.75,0.75\n")
        expected = self.spread(inside, "--mesh", 5)
        self.assertEqual(self.spread(points, "--mesh", 5, "--box", "1,1"), expected)
        words = "points.csv:3: point 1 is at -0.25 along axis 0, outside the unit box"
        self.assertIn(words, self.refusal(points, "--mesh", 5, code=1))

    def test_what_is_left_out_is_refused_or_counted(self):
        points = self.put("points.csv", "x\n0.5\n0.0625\n1.0625\n7\n")
        open_box = ["--mesh", 8, "--order", 2, "--box", 1, "--periodic", "none"]
        cut = self.put("cut.csv", "x\n0.5\n0.9375\n")
        self.assertIn("cut.csv:3: point 1 at (0.9375) has a footprint", self.refusal(cut, *open_box, code=1))
        self.assertIn("point 2 at (1.0625) is outside the box along the open axis 0, where 0 to 1 is accepted",
                      self.refusal(points, *open_box, "--clip", code=1))  # fmt: skip
        accept = [*open_box, "--clip", "--accept-outside"]
        result = self.result(points, *accept)
        self.assertEqual(result["spread"]["left_out"], {"clipped": 2, "missed": 2, "outside": 2})
        self.assertEqual([result["spread"][name] for name in ("clip", "accept_outside")], [True, True])
        self.assertEqual(result["mesh"]["sums"], [2])
        words = "left out   2 footprints clipped at open edges, 2 of them entirely outside the mesh; 2 points outside"
        self.assertIn(words, self.quadrat("spread", points, *accept, "--device", "cpu").stdout)
        inside = self.put("inside.csv", "x\n0.5\n")
        self.assertNotIn("left out", self.quadrat("spread", inside, *accept, "--device", "cpu").stdout)

    def test_open_axes_may_have_mesh_points_on_both_faces(self):
        points = self.put("points.csv", "x\n0\n0.9375\n1\n")
        open_box = ["--mesh", 9, "--order", 2, "--box", 1, "--periodic", "none"]
        self.assertIn("point 1 at (0.9375) has a footprint", self.refusal(points, *open_box, code=1))
        result = self.result(points, *open_box, "--ends", "both")
        self.assertAlmostEqual(result["mesh"]["sums"][0], 3, places=12)
        self.assertEqual(result["spread"]["ends"], "both")
        self.assertIn("at least 2", self.refusal(points, "--mesh", 1, *open_box[2:], "--ends", "both"))

    XYZ = '2\nLattice="2 0 0 0 1 0 0 {b} 4" {pbc} Properties=species:S:1:pos:R:3\nH 0.5 0.5 0.5\nH 1.5 0.25 3\n'

    def test_xyz_files_bring_their_box(self):
        atoms = self.put("atoms.xyz", self.XYZ.format(b=0, pbc='pbc="T T F"'))
        result = self.result(atoms, "--mesh", "4,4,8", "--order", 2)
        self.assertEqual(result["box"], {
            "source": "Lattice", "origin": [0, 0, 0], "lengths": [2, 1, 4], "periodic": [True, True, False],
        })  # fmt: skip
        self.assertEqual(self.result(atoms, "--mesh", 4, "--periodic", "none", "--clip")["box"]["periodic"],
                         [False] * 3)  # fmt: skip
        self.assertEqual(self.result(atoms, "--mesh", 4, "--box", "9,9,9", "--clip")["box"]["source"], "--box")
        tilted = self.put("tilted.xyz", self.XYZ.format(b=0.5, pbc=""))
        self.assertIn("vector 3 of the Lattice has the component 0.5 along y", self.refusal(tilted, "--mesh", 4))
        plain = self.put("plain.xyz", "1\n\nH 0.5 0.5 0.5\n")
        self.assertEqual(self.result(plain, "--mesh", 4)["box"]["source"], "unit box")

    def test_precision_is_single_where_all_that_is_read_is(self):
        points = [[0.25], [0.5]]
        for stored, descr, precision, expected in [
            ("<f4", "<f4", None, "<f4"),
            ("<f4", "<f8", None, "<f8"),
            ("<f8", "<c8", None, "<c16"),
            ("<f4", "<c8", None, "<c8"),
            ("<f8", "<c16", "float", "<c8"),
            ("<f4", "<f4", "double", "<f8"),
            ("<f4", None, None, "<f4"),
            ("<f8", None, None, "<f8"),
        ]:
            with self.subTest(points=stored, values=descr, precision=precision):
                arguments = [self.put_points("points.npy", points, stored), "--mesh", 4]
                if descr:
                    arguments += ["--values", self.put_array("values.npy", (2,), [1.0, 2.0], descr)]
                if precision:
                    arguments += ["--precision", precision]
                self.assertEqual(self.spread(*arguments)[0], expected)

    def test_image_files_for_paraview(self):
        points = self.put_points("points.npy", self.draw_points(50, [1, 2, 4]))
        arguments = [points, "--mesh", "3,4,37", "--box", "1,2,4", "--origin", "-1,0,0.5"]
        for descr, components, kind in [("<f8", 1, "Float64"), ("<c16", 2, "Float64"), ("<f4", 1, "Float32")]:
            values = self.put_array("values.npy", (2, 50), self.draw_values(100, descr), descr)
            all_of = [*arguments, "--values", values, "--precision", "float" if descr == "<f4" else "double"]
            numbers = self.spread(*all_of)[2]
            self.quadrat("spread", *all_of, "--device", "cpu", "-o", "mesh.vti")
            head = (self.folder / "mesh.vti").read_bytes().split(b"\n_", 1)[0].decode()
            for words in ['WholeExtent="0 2 0 3 0 36"', 'Origin="-1 0 0.5"', 'Piece Extent="0 2 0 3 0 36"',
                          f'type="{kind}" Name="values_1" NumberOfComponents="{components}"']:  # fmt: skip
                self.assertIn(words, head)
            spacing = re.search('Spacing="(.*?)"', head)[1].split()
            self.assertEqual(list(map(float, spacing)), [1 / 3, 0.5, 4 / 37])
            arrays = support.read_vtp(self.folder / "mesh.vti")  # raises if it is not complete
            self.assertEqual(sorted(arrays), ["values_0", "values_1"])
            for v in range(2):
                number = "f" if kind == "Float32" else "d"
                found = struct.unpack(f"<{3 * 4 * 37 * components}{number}", arrays[f"values_{v}"])
                if components == 2:
                    found = [complex(*pair) for pair in zip(found[0::2], found[1::2])]
                turned = [numbers[((v * 3 + x) * 4 + y) * 37 + z] for z in range(37) for y in range(4) for x in range(3)]
                self.assertEqual(list(found), turned)
        self.quadrat("spread", self.line, "--mesh", 8, "--device", "cpu", "-o", "line.vti")
        head = (self.folder / "line.vti").read_bytes().split(b"\n_", 1)[0].decode()
        self.assertIn('WholeExtent="0 7 0 0 0 0" Origin="0 0 0" Spacing="0.125 1 1"', head)
        self.assertEqual(list(support.read_vtp(self.folder / "line.vti")), ["values"])

    def test_counts_sums_and_times_as_json(self):
        values = self.put_array("values.npy", (2, 3), [1, 2, 3j, 0, 0, 1 + 1j], "<c16")
        result = self.result(self.line, "--values", values, "--mesh", 16, "--order", 4, "-o", "mesh.npy")
        self.assertEqual(result["points"], {"file": str(self.line), "count": 3, "dimensions": 1})
        self.assertEqual(result["values"], {
            "file": str(values), "type": "complex128", "vectors": 2, "sums": [[3, 3], [1, 1]],
        })  # fmt: skip
        self.assertEqual(result["mesh"]["extents"], [16])
        self.assertEqual((result["mesh"]["points"], result["mesh"]["file"]), (16, None))
        for found, expected in zip(sum(result["mesh"]["sums"], []), [3, 3, 1, 1]):
            self.assertAlmostEqual(found, expected, 12)
        self.assertEqual(result["box"]["source"], "unit box")
        self.assertEqual(result["box"]["periodic"], [True])
        spread = result["spread"]
        self.assertEqual((spread["order"], spread["precision"], spread["deterministic"]), (4, "double", "none"))
        self.assertEqual((spread["clip"], spread["accept_outside"]), (False, False))
        self.assertIn(spread["method"], [method["name"] for method in self.methods()])
        self.assertTrue(spread["reason"])
        self.assertEqual(result["device"]["backend"], "cpu")
        for name in ("reading", "set_points", "spread", "writing", "total"):
            self.assertGreater(result["performance"][f"{name}_seconds"], 0)
        self.assertEqual(result["output"], "mesh.npy")
        self.assertEqual(self.result(self.line, "--mesh", 4)["values"],
                         {"file": None, "type": "float64", "vectors": 1, "sums": [3]})  # fmt: skip

    def test_text_for_people(self):
        text = self.quadrat("spread", self.line, "--mesh", 8, "-o", "mesh.npy", "--method", "particle").stdout
        for words in ["3 points, spread onto a mesh of 8", "real, all 1; sum 3, on the mesh 3", "unit box",
                      "periodic along x", "particle, order 4, double (asked for)", "mesh.npy"]:  # fmt: skip
            self.assertIn(words, text)
        self.assertEqual(self.quadrat("spread", self.line, "--mesh", 8, "--quiet").stdout, "")

    def test_deterministic_results_are_the_same_with_any_number_of_threads(self):
        points = self.put_points("points.npy", self.draw_points(3000, [1, 1, 1], "<f4"), "<f4")
        values = self.put_array("values.npy", (3000,), self.draw_values(3000, "<f4"), "<f4")
        arguments = [points, "--values", values, "--mesh", "8,9,10"]
        for level in ("run_to_run", "canonical"):
            files = set()
            for method in self.methods():
                if method["deterministic"] not in (level, "canonical"):
                    message = self.refusal(*arguments, "--method", method["name"], f"--deterministic={level}")
                    self.assertIn(f"not reproducible at the level {level}", message)
                    continue
                for threads in (1, 2, 3):
                    self.spread(*arguments, "--method", method["name"], f"--deterministic={level}",
                                "--threads", threads)  # fmt: skip
                    files.add(((level == "canonical") or method["name"], (self.folder / "mesh.npy").read_bytes()))
            self.assertEqual(len(files), len({name for name, _ in files}), "the same file in every run")

    def test_no_points(self):
        for text, mesh in [("x\n", "4"), ("x,y,z\n", "2,3,4")]:
            _, _, numbers = self.spread(self.put("none.csv", text), "--mesh", mesh)
            self.assertEqual(set(numbers), {0.0})
        values = self.put_array("values.npy", (2, 0), [])
        self.assertEqual(self.spread(self.put("none.csv", "x\n"), "--values", values, "--mesh", 4)[1], (2, 4))

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([], "--help"),
            ([self.line], "--mesh is missing: "),
            (["nowhere.npy", "--mesh", 4], "does not exist"),
            ([self.line, "--mesh", 4, "--values", "nowhere.npy"], "does not exist"),
            ([self.line, "--mesh", "wide"], '--mesh: "wide" is no number of mesh points'),
            ([self.line, "--mesh", "4,"], '--mesh: "" is no number of mesh points'),
            ([self.line, "--mesh", "4.5"], '--mesh: "4.5" is no number of mesh points'),
            ([self.line, "--mesh", "99999999999"], '--mesh: "99999999999" is no number of mesh points'),
            ([self.line, "--mesh", "4,4"], "--mesh: there are 2 numbers"),
            ([self.line, "--mesh", 0], "the mesh has 0 points along axis 0"),
            ([self.line, "--mesh", -3], "the mesh has -3 points along axis 0"),
            ([self.line, "--mesh", 4194305], "the mesh has 4194305 points along axis 0"),
            ([self.put("box.csv", "x,y,z\n0,0,0\n"), "--mesh", 2000], "at most 2147483647 are possible"),
            ([self.line, "--mesh", 4, "--order", 0], "the order is 0"),
            ([self.line, "--mesh", 4, "--order", 9], "the order is 9"),
            ([self.line, "--mesh", 4, "--order", "six"], "--order"),
            ([self.line, "--mesh", 4, "--method", "partikle"], "nearest first: particle"),
            ([self.line, "--mesh", 4, "--uses", 0], "the number of uses is 0"),
            ([self.line, "--mesh", 4, "--deterministic=always"], "--deterministic"),
            ([self.line, "--mesh", 4, "--box", "1,1"], "--box: there are 2 numbers; points in 1 dimension need the 1 length"),
            ([self.line, "--mesh", 4, "--box", "a"], '--box: "a" is no number'),
            ([self.line, "--mesh", 4, "--box", "0"], "the length along x is 0"),
            ([self.put("plane.csv", "x,y\n0,0\n"), "--mesh", 4, "--box", "1,0,0,1"], "--box: there are 4 numbers"),
            ([self.line, "--mesh", 4, "--origin", "1"], "--origin needs --box"),
            ([self.line, "--mesh", 4, "--periodic", "y"], "--periodic"),
            ([self.line, "--mesh", 4, "-o", "mesh.csv"], "meshes are written to .npy and .vti files; mesh.csv ends in"),
            ([self.line, "--mesh", 4, "--threads", -1], "--threads"),
            ([self.line, "--mesh", 4, "--precision", "half"], "--precision"),
            ([self.line, "--mesh", 4, "--values", self.line], "values are read from .npy files; "),
            ([self.put("points.txt", "1 2 3"), "--mesh", 4], "points.txt ends in none of these"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))
        points = self.put_array("points.npy", (1,), [0.5])
        self.assertIn("is the file that is read", self.refusal(points, "--mesh", 4, "-o", points))
        values = self.put_array("values.npy", (3,), [1, 2, 3])
        message = self.refusal(self.line, "--values", values, "--mesh", 4, "-o", values)
        self.assertIn("values.npy is the file that is read", message)
        self.assertEqual(read_npy(values)[2], [1, 2, 3])
        self.assertIn("--device", self.fails("spread", self.line, "--mesh", 4, "--device", "tpu", code=2))

    def test_files_of_points_that_are_wrong(self):
        whole = npy((1, 3), [0.0, 0.0, 0.0])
        for name, contents, words in [
            ("empty.npy", b"", "empty.npy: the file is empty"),
            ("cut.npy", whole[:-1], "cut short"),
            ("four.npy", npy((1, 4), [0.0] * 4), "has shape (1, 4); points are N, N x 1, N x 2 or N x 3"),
            ("zero.npy", npy((1, 0), []), "has shape (1, 0)"),
            ("cube.npy", npy((1, 1, 3), [0.0] * 3), "has shape (1, 1, 3)"),
            ("complex.npy", npy((1, 1), [1j], "<c16"), "holds complex128; points are float32 or float64"),
            ("noy.csv", b"x,z\n1,2\n", 'there is no column "y"'),
            ("nox.csv", b"r\n1\n", 'there is no column "x"'),
            ("nan.csv", b"x,y,z\n0,0,0\n0,nan,0\n", "point 1 at (0, nan, 0) is not finite"),
            ("inf.npy", npy((2,), [0.0, float("inf")]), "point 1 at (inf) is not finite"),
        ]:
            with self.subTest(name):
                self.assertIn(words, self.refusal(self.put(name, contents), "--mesh", 4, "-o", "mesh.npy", code=1))
                self.assertFalse((self.folder / "mesh.npy").exists())

    def test_files_of_values_that_are_wrong(self):
        whole = npy((3,), [1.0, 2.0, 3.0])
        for name, contents, words in [
            ("empty.npy", b"", "empty.npy: the file is empty"),
            ("cut.npy", whole[:-1], "takes 24 bytes, but the file has 23 (it is cut short)"),
            ("few.npy", npy((2,), [1, 2]), "has shape (2,); values of 3 points have shape (3,) or (vectors, 3)"),
            ("turned.npy", npy((3, 2), [1] * 6), "has shape (3, 2); values of 3 points"),
            ("cube.npy", npy((1, 1, 3), [1] * 3), "has shape (1, 1, 3)"),
            ("none.npy", npy((0, 3), []), "which is 0 vectors"),
            ("int.npy", whole.replace(b"<f8", b"<i8"), "holds int64; values are float32, float64, complex64 or"),
            ("nan.npy", npy((3,), [0, float("nan"), 0]), "nan.npy: element [1] is nan; all must be finite"),
            ("inf.npy", npy((2, 3), [0, 0, 0, 0, 0, complex(0, float("inf"))], "<c16"), "element [1, 2] is inf"),
        ]:
            with self.subTest(name):
                arguments = [self.line, "--values", self.put(name, contents), "--mesh", 4, "-o", "mesh.npy"]
                self.assertIn(words, self.refusal(*arguments, code=1))
                self.assertFalse((self.folder / "mesh.npy").exists())
        huge = self.put_array("huge.npy", (3,), [0, 1e300, 0])
        message = self.refusal(self.line, "--values", huge, "--mesh", 4, "--precision", "float", code=1)
        self.assertIn("element [1] is 1e+300, which float cannot hold", message)

    def test_output_that_cannot_be_written_leaves_the_older_file(self):
        points = self.put_points("points.npy", self.draw_points(10, [1, 1, 1]))
        for name in ("mesh.npy", "mesh.vti"):
            self.assert_full_disk_is_reported(name, points, "--mesh", 32)
        (self.folder / "file").write_text("no folder")
        self.assertIn("cannot create the folder", self.refusal(self.line, "--mesh", 4, "-o", "file/a.npy", code=1))

    def test_ctrl_c_leaves_whole_files(self):
        points = self.put_points("points.npy", self.draw_points(10, [1, 1, 1]))
        for name in ("mesh.npy", "mesh.vti"):
            self.assert_interrupted(name, points, "--mesh", 128)


if __name__ == "__main__":
    support.main()
