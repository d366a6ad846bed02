# SPDX-License-Identifier: BSD-3-Clause
"""quadrat nufft: what it reads, what it writes, and what it says."""

import cmath
import itertools
import json
import math

import mesh_support
import support
from mesh_support import npy, read_npy


def centered(count):
    return [index - count // 2 for index in range(count)]


def fft_order(count):
    return [*range((count + 1) // 2), *range(-(count // 2), 0)]


def factor(k, x, sign):
    return cmath.exp(sign * 1j * sum(a * b for a, b in zip(k, x)))


class NufftTest(mesh_support.MeshTest):
    COMMAND = "nufft"

    def transform(self, *arguments):
        """Runs, and returns type, shape and numbers of the result."""
        self.quadrat("nufft", *arguments, "--device", "cpu", "--quiet", "-o", "result.npy")
        return read_npy(self.folder / "result.npy")

    def assert_within(self, found, expected, tolerance, terms):
        """No result is off by more than the tolerance times the sum of the moduli of the terms."""
        bound = tolerance * sum(map(abs, terms))
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertLessEqual(abs(a - b), bound)

    def draw_angles(self, count, dimension, descr="<f8"):
        return self.draw_points(count, [4 * math.pi] * dimension, descr, [-2 * math.pi] * dimension)

    def test_help_has_examples_and_definitions(self):
        text = self.quadrat("nufft", "--help").stdout
        for word in ["Examples:", "--modes", "--type", "--targets", "--sign", "exp(sign i k . x_j)", "from -K/2 on", "--real"]:
            self.assertIn(word, text)
        self.assertIn("nufft", self.quadrat("--help").stdout)

    def test_type_1_gives_the_sums_over_points(self):
        for extents, descr, tolerance, sign in [
            ([9], "<c16", 1e-9, 1),
            ([6, 5], "<f8", 1e-6, -1),
            ([4, 3, 6], "<c8", 1e-4, 1),
        ]:
            with self.subTest(extents):
                precision = "<f4" if descr == "<c8" else "<f8"
                points = self.draw_angles(20, len(extents), precision)
                values = self.draw_values(20, descr)
                self.put_points("points.npy", points, precision)
                self.put_array("values.npy", (20,), values, descr)
                modes = itertools.product(*map(centered, extents))
                expected = [sum(v * factor(k, x, sign) for v, x in zip(values, points)) for k in modes]
                options = [] if sign == 1 else ["--sign", sign]
                kind, shape, found = self.transform(
                    "points.npy", "values.npy", "--modes", ",".join(map(str, extents)), "--tolerance", tolerance, *options
                )
                self.assertEqual((kind, shape), ("<c8" if descr == "<c8" else "<c16", tuple(extents)))
                self.assert_within(found, expected, tolerance, values)

    def test_type_2_gives_the_sums_over_modes(self):
        points = self.draw_angles(15, 2)
        modes = self.draw_values(2 * 7 * 4, "<c16")
        self.put_points("points.npy", points)
        self.put_array("modes.npy", (2, 7, 4), modes, "<c16")
        for order, axis in [("centered", centered), ("fft", fft_order)]:
            kind, shape, found = self.transform("points.npy", "modes.npy", "--type", 2, "--order", order)
            self.assertEqual((kind, shape), ("<c16", (2, 15)))
            indices = list(itertools.product(axis(7), axis(4)))
            for vector in range(2):
                own = modes[28 * vector : 28 * (vector + 1)]
                expected = [sum(f * factor(k, x, -1) for f, k in zip(own, indices)) for x in points]
                self.assert_within(found[15 * vector : 15 * (vector + 1)], expected, 1e-6, own)

    def test_real_values_have_half_of_the_modes(self):
        points = self.draw_angles(12, 2)
        values = self.draw_values(12)
        self.put_points("points.npy", points)
        self.put_array("values.npy", (12,), values)
        kind, shape, found = self.transform("points.npy", "values.npy", "--modes", "3,6", "--real")
        self.assertEqual((kind, shape), ("<c16", (3, 4)))
        indices = list(itertools.product(centered(3), range(4)))
        expected = [sum(v * factor(k, x, 1) for v, x in zip(values, points)) for k in indices]
        self.assert_within(found, expected, 1e-6, values)
        self.put_array("modes.npy", (3, 4), found, "<c16")
        kind, shape, back = self.transform("points.npy", "modes.npy", "--type", 2, "--modes", "3,6", "--real")
        self.assertEqual((kind, shape), ("<f8", (12,)))
        times = [1 if k[1] in (0, 3) else 2 for k in indices]
        expected = [sum(t * (f * factor(k, x, -1)).real for t, f, k in zip(times, found, indices)) for x in points]
        self.assert_within(back, expected, 1e-6, [2 * f for f in found])

    def test_type_3_gives_the_sums_at_targets(self):
        for dimension, descr, vectors, sign in [(1, "<c16", 1, 1), (2, "<f8", 3, -1), (3, "<c8", 1, 1)]:
            with self.subTest(dimension):
                single = descr == "<c8"
                precision, tolerance = ("<f4", 1e-4) if single else ("<f8", 1e-8)
                points = self.draw_points(20, [5] * dimension, precision, [7] * dimension)
                targets = self.draw_points(9, [12] * dimension, precision, [-30] * dimension)
                values = self.draw_values(20 * vectors, descr)
                self.put_points("points.npy", points, precision)
                self.put_points("targets.npy", targets, precision)
                shape = (20,) if vectors == 1 else (vectors, 20)
                self.put_array("values.npy", shape, values, descr)
                options = [] if sign == 1 else ["--sign", sign]
                kind, shape, found = self.transform(
                    "points.npy", "values.npy", "--type", 3, "--targets", "targets.npy", "--tolerance", tolerance, *options
                )
                self.assertEqual(kind, "<c8" if single else "<c16")
                self.assertEqual(shape, (9,) if vectors == 1 else (vectors, 9))
                for vector in range(vectors):
                    own = values[20 * vector : 20 * (vector + 1)]
                    expected = [sum(v * factor(s, x, sign) for v, x in zip(own, points)) for s in targets]
                    self.assert_within(found[9 * vector : 9 * (vector + 1)], expected, tolerance, own)

    def test_type_3_without_points_or_targets(self):
        for count, wanted in [(0, 2), (3, 0)]:
            self.put_array("points.npy", (count, 2), self.draw_values(2 * count))
            self.put_array("targets.npy", (wanted, 2), self.draw_values(2 * wanted))
            self.put_array("values.npy", (count,), self.draw_values(count))
            _, shape, found = self.transform("points.npy", "values.npy", "--type", 3, "--targets", "targets.npy")
            self.assertEqual((shape, list(found)), ((wanted,), [0] * wanted))

    def test_libraries_of_fourier_transforms_agree(self):
        self.put_points("points.npy", self.draw_angles(50, 2))
        values = self.draw_values(50, "<c16")
        self.put_array("values.npy", (50,), values, "<c16")
        info = json.loads(self.quadrat("info", "--json").stdout)["spectral"]["fft"]
        found = {
            library["name"]: self.transform("points.npy", "values.npy", "--modes", "9,14", "--fft", library["name"])
            for library in info
            if library["cpu"]
        }
        for name, result in found.items():
            with self.subTest(name):
                self.assert_within(result[2], found["own"][2], 1e-14, values)

    def test_the_same_bits_in_every_run(self):
        self.put_points("points.npy", self.draw_angles(500, 3))
        self.put_array("values.npy", (500,), self.draw_values(500, "<c16"), "<c16")
        options = ["points.npy", "values.npy", "--modes", 10, "--deterministic"]
        first = self.transform(*options, "--threads", 1)
        for threads in [2, 3]:
            self.assertEqual(self.transform(*options, "--threads", threads), first)

    def test_what_is_printed(self):
        self.put_points("points.npy", self.draw_angles(5, 2))
        self.put_array("values.npy", (5,), self.draw_values(5))
        result = self.result("points.npy", "values.npy", "--modes", "8,12", "--tolerance", 1e-5, "-o", "modes.npy")
        nufft = result["nufft"]
        self.assertEqual((nufft["type"], nufft["sign"], nufft["modes"]), (1, 1, [8, 12]))
        self.assertLessEqual(nufft["error_bound"], 1e-5)
        self.assertGreaterEqual(nufft["mesh"][1], 12 * nufft["oversampling"])
        self.assertEqual((result["points"]["count"], result["output"]), (5, "modes.npy"))
        for name in ["set_points_seconds", "transform_seconds", "memory_bytes"]:
            self.assertGreater(result["performance"][name], 0)
        self.put_points("targets.npy", self.draw_angles(7, 2))
        options = ["points.npy", "values.npy", "--type", 3, "--targets", "targets.npy"]
        result = self.result(*options, "--tolerance", 1e-5)
        self.assertEqual((result["nufft"]["type"], result["nufft"]["sign"]), (3, 1))
        self.assertLessEqual(result["nufft"]["error_bound"], 1e-5)
        self.assertNotIn("modes", result["nufft"])
        self.assertEqual(result["targets"]["count"], 7)
        self.assertIn("5 points to 7 targets (type 3)", self.quadrat("nufft", *options, "--device", "cpu").stdout)
        text = self.quadrat("nufft", "points.npy", "values.npy", "--modes", 8, "--device", "cpu").stdout
        self.assertIn("5 points to 8 x 8 modes (type 1)", text)

    def test_refusals(self):
        self.put_points("points.npy", self.draw_angles(5, 2))
        self.put_array("values.npy", (5,), self.draw_values(5))
        self.put_array("complex.npy", (5,), self.draw_values(5, "<c16"), "<c16")
        self.put_array("modes.npy", (3, 4), self.draw_values(12, "<c16"), "<c16")
        files = ["points.npy", "values.npy"]
        for arguments, words in [
            (files, "--modes is missing"),
            ([*files, "--modes", "4,4,4"], "--modes: there are 3 numbers; points in 2 dimensions need 2"),
            ([*files, "--modes", "x"], 'is no number of modes'),
            ([*files, "--modes", 0], "0 modes along axis 0"),
            ([*files, "--modes", 4, "--tolerance", 1e-30], "cannot be reached in double precision"),
            ([*files, "--modes", 4, "--tolerance", "nan"], "tolerance is nan"),
            ([*files, "--modes", 4, "--type", 4], "--type"),
            ([*files, "--type", 3], "--targets is missing"),
            ([*files, "--modes", 4, "--targets", "points.npy"], "--targets is for type 3"),
            ([*files, "--type", 3, "--targets", "points.npy", "--modes", 4], "--modes is for types 1 and 2"),
            ([*files, "--type", 3, "--targets", "points.npy", "--order", "centered"], "--order is for types 1 and 2"),
            ([*files, "--type", 3, "--targets", "points.npy", "-o", "points.npy"], "points.npy is the file that is read"),
            ([*files, "--type", 3, "--targets", "points.npy", "--tolerance", 1e-30], "cannot be reached by type 3"),
            ([*files, "--modes", 4, "--method", "tile"], "tiles"),
            ([*files, "--modes", 4, "--fft", "ownn"], 'unknown FFT library "ownn"; valid, nearest first: own'),
            ([*files, "--modes", 4, "--fft", "cufft"], "the FFT library cufft does not run on the CPU"),
            (["points.npy", "complex.npy", "--modes", 4, "--real"], "--real: complex.npy holds complex values"),
            (["points.npy", "modes.npy", "--type", 2, "--real"], "--modes is missing"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))
        line = self.refusal("points.npy", "modes.npy", "--type", 2, "--modes", 4, code=1)
        self.assertIn("modes.npy: the modes have shape (3, 4); (4, 4) is that of --modes", line)
        three = ["points.npy", "values.npy", "--type", 3, "--targets"]
        self.put_points("line.npy", self.draw_angles(5, 1))
        self.assertIn("line.npy: targets in 1 dimensions", self.refusal(*three, "line.npy", code=1))
        (self.folder / "bad.csv").write_text("x,y\n1,2\n3,nan\n")
        self.assertIn("bad.csv:3: target 1 has the coordinate nan", self.refusal(*three, "bad.csv", code=1))
        self.put_points("far.npy", [[0.0, 1.0], [math.inf, 1.0], [0, 0], [0, 0], [0, 0]])
        self.assertIn("far.npy: point 1 ", self.refusal("far.npy", *three[1:], "points.npy", code=1))
        self.put_points("wide.npy", [[1e9, 0.0], [-1e9, 0.0], [0, 0], [0, 0], [0, 0]])
        self.assertIn("need a mesh of", self.refusal("wide.npy", *three[1:], "points.npy"))
        self.put_points("far.npy", [[0.0, 1.0], [math.inf, 1.0], [0, 0], [0, 0], [0, 0]])
        self.assertIn("point 1 ", self.refusal("far.npy", "values.npy", "--modes", 4, code=1))


if __name__ == "__main__":
    support.main()
