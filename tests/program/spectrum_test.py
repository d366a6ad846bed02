# SPDX-License-Identifier: BSD-3-Clause
"""quadrat spectrum: what it reads, what it writes, and what it says."""

import cmath
import itertools
import json
import math

import mesh_support
import support
from mesh_support import npy


class SpectrumTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        # A point on each mesh point of a coarser lattice, in the unit box, and one more.
        self.numbers = [(x / 4, y / 4, z / 4) for x, y, z in itertools.product(range(4), repeat=3)] + [(0.5, 0.625, 0.25)]
        self.points = self.put("points.npy", npy([65, 3], [x for point in self.numbers for x in point]))
        self.weights = self.put("weights.npy", npy([65], [1 + i % 3 for i in range(65)]))

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def spectrum(self, *arguments):
        """Runs with --json and returns the document."""
        done = self.quadrat("spectrum", self.points, "--device", "cpu", "--json", *arguments)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def refusal(self, *arguments, code=2):
        return self.fails("spectrum", self.points, "--device", "cpu", *arguments, code=code)

    def direct(self, weights, low, high):
        """The mean power of the modes in a bin by sums over the points, and their number."""
        powers = []
        for n in itertools.product(range(-3, 4), repeat=3):
            if low <= 2 * math.pi * math.hypot(*n) < high:
                terms = (w * cmath.exp(-2j * math.pi * math.fsum(a * b for a, b in zip(n, x))) for w, x in zip(weights, self.numbers))
                powers.append(abs(sum(terms)) ** 2 / sum(weights) ** 2)
        return math.fsum(powers) / len(powers), len(powers)

    def test_help_has_examples(self):
        text = self.quadrat("spectrum", "--help").stdout
        for word in ["Examples:", "--mesh", "--multipoles", "--structure-factor", "docs/guides/spectra.md"]:
            self.assertIn(word, text)
        self.assertIn("spectrum", self.quadrat("--help").stdout)

    def test_power_is_that_of_sums_over_the_points(self):
        # By nearest grid points: all points are on mesh points, so that nothing is smoothed.
        how = ["--mesh", 8, "--order", 1, "--single-mesh", "--k", "6,19", "--bins", 2]
        for weights, more in ([1] * 65, []), ([1 + i % 3 for i in range(65)], ["--weights", self.weights]):
            result = self.spectrum(*how, *more)
            for bin, (low, high) in enumerate([(6, 12.5), (12.5, 19)]):
                power, modes = self.direct(weights, low, high)
                self.assertEqual(result["modes"][bin], modes)
                self.assertAlmostEqual(result["power"][0][bin], power, places=12)
        self.assertEqual(result["edges"], [6, 12.5, 19])
        self.assertEqual(result["spectrum"]["mesh"], [8, 8, 8])
        self.assertEqual((result["spectrum"]["interlaced"], result["spectrum"]["precision"]), (False, "double"))
        same = self.spectrum(*how, "--weights", self.weights, "--others", self.points, "--other-weights", self.weights)
        self.assertEqual((same["power"], same["shot_noise"]), (result["power"], 0))

    def test_logarithmic_bins_and_multipoles_as_csv(self):
        self.quadrat("spectrum", self.points, "--mesh", 8, "--k", "5,20", "--bins", 2, "--log", "--multipoles", "0,2,4",
                     "--line-of-sight", "z", "--device", "cpu", "--quiet", "-o", "spectrum.csv")
        names, *rows = (line.split(",") for line in (self.folder / "spectrum.csv").read_text().split())
        self.assertEqual(names, ["k_low", "k_high", "k", "modes", "power_0", "power_2", "power_4"])
        self.assertEqual(len(rows), 2)
        self.assertAlmostEqual(float(rows[0][1]), 10, places=12)

    def test_structure_factors_take_charges(self):
        charges = self.put("charges.npy", npy([65], [1, -1] * 32 + [0]))
        result = self.spectrum("--mesh", 8, "--weights", charges, "--structure-factor")
        self.assertAlmostEqual(result["shot_noise"], 64 / 65)
        self.assertIn("add up to 0", self.refusal("--mesh", 8, "--weights", charges, code=1))

    def test_text_for_people(self):
        text = self.quadrat("spectrum", self.points, "--mesh", 8, "--device", "cpu", "-o", "spectrum.csv").stdout
        for words in ["power spectrum of 65 points on 8 x 8 x 8", "3 from 6.283 to 25.13", "shot noise", "spectrum.csv"]:
            self.assertIn(words, text)

    def test_what_is_refused(self):
        for words, *arguments in [
            ("--mesh", []),
            ("9", ["--mesh", 9]),
            ("--k LOW,HIGH", ["--mesh", 8, "--bins", 3]),
            ("--bins N", ["--mesh", 8, "--k", "1,2"]),
            ("increasing", ["--mesh", 8, "--k", "2,1", "--bins", 3]),
            ("begins at 0", ["--mesh", 8, "--k", "0,1", "--bins", 3, "--log"]),
            ("0, 2 and 4", ["--mesh", 8, "--multipoles", "1"]),
            ("--others", ["--mesh", 8, "--other-weights", self.weights]),
            ("open", ["--mesh", 8, "--periodic", "xy"]),
            (".csv", ["--mesh", 8, "-o", "spectrum.npy"]),
        ]:
            with self.subTest(words):
                self.assertIn(words, self.refusal(*arguments[0]))
        few = self.put("few.npy", npy([2], [1, 2]))
        self.assertIn("few.npy", self.refusal("--mesh", 8, "--weights", few, code=1))
        broken = self.put("broken.csv", "x,y,z\n0,0,0\nnan,0,0\n")
        self.assertIn("broken.csv", self.fails("spectrum", broken, "--mesh", 8, "--device", "cpu", code=1))


if __name__ == "__main__":
    support.main()
