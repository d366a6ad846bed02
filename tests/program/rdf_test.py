# SPDX-License-Identifier: BSD-3-Clause
"""quadrat neighbors --rdf: radial distribution functions over the frames of a trajectory."""

import csv
import json
import math
import random

import support
from mesh_support import npy

HEAD = 'Lattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3'


class RdfTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(5)
        # Numbers whose differences and squares are exact, so that there is one answer.
        self.frames = [
            [(draw.choice("HO"), *(draw.randrange(256) / 64 for _ in range(3))) for _ in range(count)] for count in (40, 60)
        ]
        self.file = self.put("run.xyz", "\n".join(self.text_of(frame) for frame in self.frames))

    @staticmethod
    def text_of(frame):
        return "\n".join([str(len(frame)), HEAD, *(" ".join(map(str, atom)) for atom in frame), ""])

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def table(self, *arguments):
        """Runs and returns the columns of the table by name."""
        self.quadrat("neighbors", *arguments, "--rdf", "--device", "cpu", "--quiet", "-o", "rdf.csv")
        with open(self.folder / "rdf.csv") as file:
            rows = list(csv.DictReader(file))
        return {name: [float(row[name]) for row in rows] for name in rows[0]}

    def counted(self, a, b, bins, cutoff):
        """Pairs and normalization of two species ("": all), by comparing all pairs."""
        pairs, expected = [0] * bins, 0
        for frame in self.frames:
            first = [atom for atom in frame if a in ("", atom[0])]
            second = [atom for atom in frame if b in ("", atom[0])]
            expected += len(first) * len(second) / 64
            for p in first:
                for q in second:
                    apart = [min(abs(x - y), 4 - abs(x - y)) for x, y in zip(p[1:], q[1:])]
                    r = math.sqrt(sum(x * x for x in apart))
                    if p is not q and r < cutoff:
                        pairs[min(int(r * (bins / cutoff)), bins - 1)] += 1
        return pairs, expected

    def assert_column(self, columns, name, a, b, bins, cutoff):
        pairs, expected = self.counted(a, b, bins, cutoff)
        self.assertEqual(columns[f"pairs{name}"], pairs)
        for k, g in enumerate(columns[f"g{name}"]):
            shell = 4 / 3 * math.pi * (((k + 1) * cutoff / bins) ** 3 - (k * cutoff / bins) ** 3)
            self.assertAlmostEqual(g, pairs[k] / (expected * shell), places=9)

    def test_all_frames_are_counted(self):
        columns = self.table(self.file, "--cutoff", 1.5, "--bins", 6)
        self.assertEqual(columns["r"], [0.125, 0.375, 0.625, 0.875, 1.125, 1.375])
        self.assert_column(columns, "", "", "", 6, 1.5)

    def test_a_curve_for_each_pair_of_species(self):
        columns = self.table(self.file, "--cutoff", 1.5, "--bins", 12, "--types")
        self.assertEqual(len(columns), 7)
        for name in ("H-H", "H-O", "O-O"):
            self.assert_column(columns, " " + name, name[0], name[2], 12, 1.5)

    def test_json(self):
        done = self.quadrat("neighbors", self.file, "--cutoff", 1.5, "--rdf", "--types", "--json")
        result = json.loads(done.stdout)
        self.assertEqual(result["points"], {"file": str(self.file), "frames": 2, "count": 100})
        self.assertEqual(result["rdf"], {"cutoff": 1.5, "bins": 200, "species": ["H", "O"]})
        self.assertIsNone(result["output"])

    def test_text_for_people(self):
        text = self.quadrat("neighbors", self.file, "--cutoff", 1.5, "--rdf", "--types", "-o", "rdf.csv").stdout
        for words in ["g(r) of 100 points in 2 frames within 1.5", "species    H, O", "peak", "rdf.csv",
                      "python3 -m quadrat.plot rdf.csv -o rdf.png"]:
            self.assertIn(words, text)

    def test_one_frame_of_other_files(self):
        points = self.put("points.npy", npy([3, 2], [0.5, 0.5, 0.75, 0.5, 3.75, 0.5], "<f4"))
        columns = self.table(points, "--cutoff", 1, "--bins", 4, "--box", "4,4", "--periodic", "xy")
        self.assertEqual(columns["pairs"], [0, 2, 0, 2])
        self.assertAlmostEqual(columns["g"][1], 2 / (9 / 16 * math.pi * (0.25 - 0.0625)), places=6)

    def test_wrong_command_lines(self):
        plain = self.put("plain.csv", "x,y\n1,2\n")
        for arguments, words in [
            ([self.file, "--cutoff", 1, "--bins", 5], "--bins needs --rdf"),
            ([self.file, "--cutoff", 1, "--types"], "--types needs --rdf"),
            ([self.file, "--cutoff", 1, "--rdf", "--bins", 0], "--bins: 0 is not from 1 to"),
            ([self.file, "--cutoff", 0, "--rdf"], "--cutoff is 0"),
            ([self.file, "--cutoff", 1, "--rdf", "--half"], "--half is for pairs"),
            ([self.file, "--cutoff", 1, "--rdf", "--method", "strips"], "--method is for pairs"),
            ([self.file, "--cutoff", 1, "--rdf", "-o", "a.npy"], "a.npy ends otherwise"),
            ([plain, "--cutoff", 1, "--rdf", "--types"], "--types needs the species of an .xyz or .gsd file"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.fails("neighbors", *arguments, "--device", "cpu", code=2))

    def test_a_bad_atom_of_a_later_frame_is_named(self):
        text = self.file.read_text()
        later = self.put("later.xyz", text + "\n1\n" + HEAD + "\nH 1 nan 1\n")
        line = self.fails("neighbors", later, "--cutoff", 1, "--rdf", "--device", "cpu", "-o", "rdf.csv", code=1)
        self.assertIn("later.xyz:109: point 0 at (1, nan, 1)", line)
        self.assertFalse((self.folder / "rdf.csv").exists())
        wrong = self.put("wrong.xyz", text + "\n1\n" + HEAD + "\nH 1 two 1\n")
        line = self.fails("neighbors", wrong, "--cutoff", 1, "--rdf", "--device", "cpu", code=1)
        self.assertIn('wrong.xyz:109: column 3 (y) is "two"', line)


if __name__ == "__main__":
    support.main()
