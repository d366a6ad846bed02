# SPDX-License-Identifier: BSD-3-Clause
"""quadrat pairs: what it reads, what it writes, and what it says."""

import itertools
import json
import math
import random

import support
from mesh_support import npy


class PairsTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        numbers = random.Random(3)
        self.sets = {}
        for name, count in [("data", 60), ("others", 40), ("randoms", 80)]:
            # Multiples of 1/64, so that squares of distances are exact.
            points = [tuple(numbers.randrange(64) / 64 for _ in range(3)) for _ in range(count)]
            weights = [numbers.randrange(1, 9) / 8 for _ in range(count)]
            self.sets[name] = list(zip(points, weights))
            self.put(name + ".npy", npy([count, 3], [x for point in points for x in point]))
            self.put(name + "_weights.npy", npy([count], weights))

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def pairs(self, *arguments):
        """Runs with --json and returns the document."""
        done = self.quadrat("pairs", "data.npy", "--device", "cpu", "--json", *arguments)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def refusal(self, *arguments, code=2):
        return self.fails("pairs", "data.npy", "--device", "cpu", *arguments, code=code)

    def plain(self, first, second, bin_of, bins, periodic=False):
        """Counts and sums of products of weights of all ordered pairs."""
        counts, sums = [0] * bins, [0.0] * bins
        for (a, v), (b, w) in itertools.product(self.sets[first], self.sets[second]):
            r = [y - x for x, y in zip(a, b)]
            if periodic:
                r = [x - round(x) for x in r]
            k = bin_of(r)
            if k is not None:
                counts[k] += 1
                sums[k] += v * w
        return counts, sums

    @staticmethod
    def finder(edges):
        def bin_of(x):
            return next((k for k in range(len(edges) - 1) if edges[k] <= x < edges[k + 1]), None)

        return bin_of

    def by_distance(self, edges):
        squares = self.finder([edge * edge for edge in edges])
        return lambda r: squares(sum(x * x for x in r))

    def test_help_has_examples(self):
        text = self.quadrat("pairs", "--help").stdout
        for word in ["Examples:", "--randoms", "--coordinates", "landy-szalay", "docs/guides/pair-counts.md"]:
            self.assertIn(word, text)
        self.assertIn("pair counts", self.quadrat("--help").stdout)

    def test_counts_and_weights_are_those_of_all_pairs(self):
        edges = [0, 0.125, 0.25, 0.4375]
        for space, periodic in ([], False), (["--box", "1,1,1", "--periodic", "xyz"], True):
            for second, more in ("data", []), ("others", ["--others", "others.npy", "--other-weights", "others_weights.npy"]):
                found = self.pairs("--edges", "0,0.125,0.25,0.4375", "--weights", "data_weights.npy", *space, *more)
                counts, sums = self.plain("data", second, self.by_distance(edges), 3, periodic)
                self.assertEqual((found["edges"], found["pairs"]["counts"]), (edges, counts))
                for value, expected in zip(found["pairs"]["weights"], sums):
                    self.assertAlmostEqual(value, expected, places=8)
                self.assertEqual((found["correlation"], found["pairs"]["mean_separations"]), (None, None))

    def test_two_axes_make_rows_of_bins(self):
        across, along = self.finder([0.0625**2, 0.25**2]), self.finder([0, 0.125, 0.25])

        def bin_of(r):
            depth = along(abs(r[2]))
            return None if across(r[0] ** 2 + r[1] ** 2) is None else depth

        counts, _ = self.plain("data", "data", bin_of, 2)
        found = self.pairs("--coordinates", "rp_pi", "--range", "0.0625,0.25", "--bins", 1, "--second-range", "0,0.25",
                           "--second-bins", 2)
        self.assertEqual(found["pairs"]["counts"], [counts])
        self.assertEqual(found["second_edges"], [0, 0.125, 0.25])
        found = self.pairs("--coordinates", "s_mu", "--edges", "0.1,0.3", "--second-edges", "0,0.5,1")
        self.assertLessEqual(sum(found["pairs"]["counts"][0]), sum(self.pairs("--edges", "0.1,0.3")["pairs"]["counts"]))

    def test_estimators_compare_with_randoms(self):
        edges = [0.125, 0.25, 0.5]
        bins = self.by_distance(edges)
        dd, dr, rr = (self.plain(a, b, bins, 2)[0] for a, b in [("data", "data"), ("data", "randoms"), ("randoms", "randoms")])
        ratio = 80 / 60
        how = ["--edges", "0.125,0.25,0.5", "--randoms", "randoms.npy"]
        found = self.pairs(*how)
        self.assertEqual((found["estimator"], found["random_pairs"]["counts"], found["data_randoms"]["counts"]),
                         ("landy-szalay", rr, dr))
        for k, value in enumerate(found["correlation"]):
            self.assertAlmostEqual(value, (ratio**2 * dd[k] - 2 * ratio * dr[k] + rr[k]) / rr[k], places=12)
        natural = self.pairs(*how, "--estimator", "natural")
        for k, value in enumerate(natural["correlation"]):
            self.assertAlmostEqual(value, ratio**2 * dd[k] / rr[k] - 1, places=12)
        self.assertIsNone(natural["data_randoms"])

    def test_estimators_of_two_weighted_sets(self):
        edges = [0.125, 0.5]
        names = [("data", "others"), ("data", "randoms"), ("others", "randoms"), ("randoms", "randoms")]
        ratios = [sum(w for _, w in self.sets["randoms"]) / sum(w for _, w in self.sets[name]) for name in ("data", "others")]
        dd, dr, rd, rr = (self.plain(a, b, self.by_distance(edges), 1)[1][0] for a, b in names)
        found = self.pairs("--edges", "0.125,0.5", "--weights", "data_weights.npy", "--others", "others.npy", "--other-weights",
                           "others_weights.npy", "--randoms", "randoms.npy", "--random-weights", "randoms_weights.npy")
        expected = (ratios[0] * ratios[1] * dd - ratios[0] * dr - ratios[1] * rd + rr) / rr
        self.assertAlmostEqual(found["correlation"][0], expected, places=9)

    def put_regions(self):
        regions = {}
        for name in self.sets:
            regions[name] = [int(3 * point[0]) for point, _ in self.sets[name]]
            self.put(name + "_regions.npy", npy([len(regions[name])], regions[name], "<i8"))
        return regions

    def test_jackknife_errors_are_those_of_counts_without_each_region(self):
        regions = self.put_regions()
        how = ["--device", "cpu", "--json", "--edges", "0.125,0.25,0.5"]
        more = ["--regions", "data_regions.npy", "--random-regions", "randoms_regions.npy"]
        for k in range(3):
            for name in "data", "randoms":
                left = [one for one, region in zip(self.sets[name], regions[name]) if region != k]
                self.put(f"{name}{k}.npy", npy([len(left), 3], [x for point, _ in left for x in point]))
                self.put(f"{name}{k}_weights.npy", npy([len(left)], [weight for _, weight in left]))

        def counted(k, *arguments):
            done = self.quadrat("pairs", f"data{k}.npy", "--weights", f"data{k}_weights.npy", "--randoms", f"randoms{k}.npy",
                                *how, *arguments)
            return json.loads(done.stdout)

        for estimator in "natural", "landy-szalay":
            found = counted("", "--estimator", estimator, *more)
            without = [counted(k, "--estimator", estimator) for k in range(3)]
            for k, left in enumerate(without):
                rest = [a - b for a, b in zip(found["pairs"]["counts"], found["pairs"]["region_counts"][k])]
                self.assertEqual(rest, left["pairs"]["counts"])
            estimates = [left["correlation"] for left in without]
            means = [sum(column) / 3 for column in zip(*estimates)]
            for a, b in itertools.product(range(2), repeat=2):
                expected = 2 / 3 * sum((one[a] - means[a]) * (one[b] - means[b]) for one in estimates)
                self.assertAlmostEqual(found["covariance"][a][b], expected, places=9)
            for k, error in enumerate(found["errors"]):
                self.assertAlmostEqual(error, math.sqrt(found["covariance"][k][k]), places=12)
            self.assertEqual(found["regions"], 3)

    def test_errors_are_a_column_and_those_of_projections_a_matrix(self):
        self.put_regions()
        how = ["--randoms", "randoms.npy", "--regions", "data_regions.npy", "--random-regions", "randoms_regions.npy"]
        self.quadrat("pairs", "data.npy", "--edges", "0.1,0.4", *how, "--device", "cpu", "--quiet", "-o", "pairs.csv")
        self.assertEqual((self.folder / "pairs.csv").read_text().split()[0], "r_low,r_high,pairs,correlation,error")
        found = self.pairs("--coordinates", "rp_pi", "--edges", "0.1,0.3,0.5", "--second-edges", "0,0.2,0.4,0.6", *how)
        self.assertEqual([len(found["errors"]), len(found["errors"][0])], [2, 3])
        self.assertEqual([len(found["covariance"]), len(found["covariance"][0])], [2, 2])
        self.assertEqual(len(found["random_pairs"]["region_counts"][0]), 2)

    def test_ranks_count_what_one_rank_counts(self):
        self.put_regions()
        sets = ["--others", "others.npy", "--other-weights", "others_weights.npy", "--randoms", "randoms.npy", "--regions",
                "data_regions.npy", "--other-regions", "others_regions.npy", "--random-regions", "randoms_regions.npy"]
        spaces = ["--box", "1,1,1", "--periodic", "xyz"], ["--box", "1,0,0,0.5,1,0,0,0,1", "--periodic", "xyz"], []
        for (more, axes), box in itertools.product([(sets, []), ([], ["--coordinates", "s_mu", "--second-edges", "0,0.5,1"])],
                                                   spaces):
            one = self.pairs("--edges", "0,0.1,0.3", "--mean-separation", *more, *axes, *box)
            for ranks in 2, 3, 5:
                found = self.pairs("--edges", "0,0.1,0.3", "--mean-separation", *more, *axes, *box, "--devices", ranks)
                self.assertEqual((found["ranks"], one["ranks"]), (ranks, 1))
                for name in "pairs", "data_randoms", "other_randoms", "random_pairs", "correlation", "covariance", "errors":
                    self.assertEqual(found[name], one[name], name)
        sky = [x for i in range(8) for x in (math.sin(i), math.cos(i), 0)]
        self.put("data.npy", npy([8, 3], sky))
        how = ["--coordinates", "theta", "--edges", "0,60,150"]
        self.assertEqual(self.pairs(*how, "--devices", 3)["pairs"], self.pairs(*how)["pairs"])

    def test_what_ranks_refuse(self):
        one = ["--edges", "0.1,0.2", "--devices", 2]
        self.assertIn("--devices is 0", self.refusal("--edges", "0.1,0.2", "--devices", 0))
        self.put("broken.csv", "x,y,z\n0,0,0\nnan,0,0\n")
        self.assertIn("broken.csv:3: point 1", self.fails("pairs", "broken.csv", *one, "--device", "cpu", code=1))

    def test_uniform_points_and_projections(self):
        how = ["--estimator", "uniform", "--box", "1,1,1", "--periodic", "xyz"]
        found = self.pairs("--edges", "0.1,0.2", *how)
        expected = 60 * 59 * 4 / 3 * math.pi * (0.2**3 - 0.1**3)
        self.assertAlmostEqual(found["correlation"][0], found["pairs"]["counts"][0] / expected - 1, places=12)
        found = self.pairs("--coordinates", "rp_pi", "--edges", "0.1,0.2", "--second-edges", "0,0.1,0.4", *how)
        first, second = found["correlation"][0]
        self.assertAlmostEqual(found["projected"][0], 2 * (0.1 * first + 0.3 * second), places=12)

    def test_angles_between_unit_vectors(self):
        self.put("data.npy", npy([3, 3], [0, 0, 1, 0, 1, 0, 0, 0, -1]))
        found = self.pairs("--coordinates", "theta", "--edges", "0,45,135", "--mean-separation")
        self.assertEqual((found["pairs"]["counts"], found["box"]), ([3, 4], None))
        self.assertAlmostEqual(found["pairs"]["mean_separations"][1], 90, places=9)

    def test_tables_and_logarithmic_bins(self):
        self.quadrat("pairs", "data.npy", "--range", "0.1,0.4", "--bins", 2, "--log", "--mean-separation", "--randoms",
                     "randoms.npy", "--device", "cpu", "--quiet", "-o", "pairs.csv")
        names, *rows = (line.split(",") for line in (self.folder / "pairs.csv").read_text().split())
        self.assertEqual(names, ["r_low", "r_high", "pairs", "mean_r", "correlation"])
        self.assertEqual((len(rows), float(rows[1][1])), (2, 0.4))
        self.assertAlmostEqual(float(rows[0][1]), 0.2, places=12)
        done = self.quadrat("pairs", "data.npy", "--coordinates", "s_mu", "--edges", "0.1,0.2", "--second-edges", "0,0.5,1",
                            "--device", "cpu", "-o", "-")
        self.assertEqual(done.stdout.split()[0], "s_low,s_high,mu_low,mu_high,pairs")
        self.assertIn("pairs of 60 points", done.stderr)

    def test_text_for_people(self):
        text = self.quadrat("pairs", "data.npy", "--edges", "0.1,0.2", "--randoms", "randoms.npy", "--device", "cpu").stdout
        for words in ["pairs of 60 points", "1 of r from 0.1 to 0.2", "80 points", "landy-szalay", "open"]:
            self.assertIn(words, text)

    def test_what_is_refused(self):
        one = ["--edges", "0.1,0.2"]
        for words, arguments in [
            ("--range LOW,HIGH", []),
            ("--bins N", ["--range", "0.1,0.2"]),
            ("--range LOW,HIGH", ["--bins", 2]),
            ("begins at 0", ["--range", "0,1", "--bins", 2, "--log"]),
            ("excludes", [*one, "--bins", 2]),
            ("must increase", ["--edges", "0.2,0.1"]),
            ("--second-range", [*one, "--coordinates", "rp_pi"]),
            ("one axis", [*one, "--second-edges", "0,1"]),
            ("of mu is 2", [*one, "--coordinates", "s_mu", "--second-edges", "0,2"]),
            ("without --box", [*one, "--coordinates", "theta", "--box", "1,1,1"]),
            ("--others", [*one, "--other-weights", "data_weights.npy"]),
            ("--randoms", [*one, "--random-weights", "data_weights.npy"]),
            ("--randoms FILE", [*one, "--estimator", "natural"]),
            ("without --randoms", [*one, "--estimator", "uniform", "--randoms", "randoms.npy"]),
            ("periodic along all", [*one, "--estimator", "uniform"]),
            (".csv", [*one, "-o", "pairs.npy"]),
        ]:
            with self.subTest(words):
                self.assertIn(words, self.refusal(*arguments))
        self.put_regions()
        regions = ["--regions", "data_regions.npy"]
        for words, arguments in [
            ("--regions needs --random-regions", [*regions, "--randoms", "randoms.npy"]),
            ("--regions needs --other-regions", [*regions, "--others", "others.npy"]),
            ("--other-regions needs --others", [*regions, "--other-regions", "others_regions.npy"]),
            ("--random-regions needs --regions", ["--randoms", "randoms.npy", "--random-regions", "randoms_regions.npy"]),
            ("--estimator uniform", [*regions, "--estimator", "uniform", "--box", "1,1,1", "--periodic", "xyz"]),
        ]:
            with self.subTest(words):
                self.assertIn(words, self.refusal(*one, *arguments))
        self.assertIn("40 regions", self.refusal(*one, "--regions", "others_regions.npy", code=1))
        for numbers, words in ([0] * 59 + [-1], "element [59] is -1"), ([0] * 59 + [2], "region 1 of 3 has no points"):
            self.put("data_regions.npy", npy([60], numbers, "<i8"))
            self.assertIn(words, self.refusal(*one, *regions, code=1))
        self.assertIn("others_weights.npy", self.refusal(*one, "--weights", "others_weights.npy", code=1))
        self.put("plane.csv", "x,y\n0,0\n")
        self.assertIn("plane.csv", self.refusal(*one, "--others", "plane.csv", code=1))
        self.put("broken.csv", "x,y,z\n0,0,0\nnan,0,0\n")
        self.assertIn("broken.csv:3", self.fails("pairs", "broken.csv", *one, "--device", "cpu", code=1))
        self.assertIn("broken.csv: other point 1", self.refusal(*one, "--others", "broken.csv", code=1))


if __name__ == "__main__":
    support.main()
