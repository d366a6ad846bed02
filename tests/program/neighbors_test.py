# SPDX-License-Identifier: BSD-3-Clause
"""quadrat neighbors: what it reads, what it writes, and what it says."""

import csv
import json
import random
import resource
import signal
import struct
import subprocess

import support

# Three points in a row, and one near the first across the faces of the unit box.
ROW = "x,y,z\n0.125,0.5,0.5\n0.25,0.5,0.5\n0.5,0.5,0.5\n0.9375,0.5,0.5\n"


def npy(rows, kind="d"):
    """A file of points as NumPy would write it."""
    header = "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }" % (
        struct.calcsize(kind), len(rows), len(rows[0]),
    )  # fmt: skip
    header = header.ljust(128 - 11) + "\n"
    data = b"".join(struct.pack(f"<{len(row)}{kind}", *row) for row in rows)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_pairs_npy(file):
    data = file.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    header, payload = data[10 : 10 + length].decode(), data[10 + length :]
    numbers = struct.unpack(f"<{len(payload) // 8}q", payload)
    return header, list(zip(numbers[0::2], numbers[1::2]))


class NeighborsTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.row = self.put("row.csv", ROW)

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def neighbors(self, *arguments):
        """Runs with --json and returns the document."""
        done = self.quadrat("neighbors", *arguments, "--device", "cpu", "--json")
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def pairs(self, *arguments):
        """Runs and returns the rows of the .csv file, every number as float."""
        self.quadrat("neighbors", *arguments, "--device", "cpu", "--quiet", "-o", "pairs.csv")
        with open(self.folder / "pairs.csv") as file:
            return [tuple(map(float, row.values())) for row in csv.DictReader(file)]

    def refusal(self, *arguments, code=2):
        return self.fails("neighbors", *arguments, "--device", "cpu", code=code)

    def methods(self):
        text = self.quadrat("neighbors", "--help").stdout
        lines = text[text.index("Methods") : text.index("Pairs (i, j, S)")].splitlines()[1:]
        return [line.split()[0] for line in lines if " cpu" in line]

    def random_points(self, count, edge=1.0):
        draw = random.Random(count)
        return self.put("random.npy", npy([[edge * draw.random() for _ in range(3)] for _ in range(count)]))

    def test_help_has_examples_and_methods(self):
        text = self.quadrat("neighbors", "--help").stdout
        for word in ["Examples:", "--periodic", "--half", "--box", "--order", *self.methods()]:
            self.assertIn(word, text)
        self.assertIn("strips", self.methods())
        self.assertIn("neighbors", self.quadrat("--help").stdout)

    def test_pairs_as_csv(self):
        self.pairs(self.row, "--cutoff", 0.25, "--box", "1,1,1", "--periodic", "xyz")
        self.assertEqual(
            (self.folder / "pairs.csv").read_text(),
            "i,j,sx,sy,sz,dx,dy,dz,d\n"
            "0,1,0,0,0,0.125,0,0,0.125\n"
            "0,3,-1,0,0,-0.1875,0,0,0.1875\n"
            "1,0,0,0,0,-0.125,0,0,0.125\n"
            "3,0,1,0,0,0.1875,0,0,0.1875\n",
        )

    def test_pairs_as_npy(self):
        self.neighbors(self.row, "--cutoff", 0.26, "--output", "pairs.npy")
        header, pairs = read_pairs_npy(self.folder / "pairs.npy")
        self.assertIn("'descr': '<i8', 'fortran_order': False, 'shape': (4, 2)", header)
        self.assertEqual(pairs, [(0, 1), (1, 0), (1, 2), (2, 1)])

    def test_nearest_neighbors_as_csv(self):
        self.neighbors(self.row, "--knn", 2, "--box", "1,1,1", "--periodic", "xyz", "-o", "nearest.csv")
        self.assertEqual(
            (self.folder / "nearest.csv").read_text(),
            "i,j,sx,sy,sz,d\n"
            "0,1,0,0,0,0.125\n"
            "0,3,-1,0,0,0.1875\n"
            "1,0,0,0,0,0.125\n"
            "1,2,0,0,0,0.25\n"
            "2,1,0,0,0,0.25\n"
            "2,0,0,0,0,0.375\n"
            "3,0,1,0,0,0.1875\n"
            "3,1,1,0,0,0.3125\n",
        )

    def test_nearest_neighbors_as_npy_and_json(self):
        result = self.neighbors(self.row, "--knn", 3, "--cutoff", 0.3, "-o", "nearest.npy")
        header, values = read_pairs_npy(self.folder / "nearest.npy")
        self.assertIn("'descr': '<i8', 'fortran_order': False, 'shape': (4, 3)", header)
        flat = [value for pair in values for value in pair]
        self.assertEqual(flat, [1, -1, -1, 0, 2, -1, 1, -1, -1, -1, -1, -1])
        self.assertEqual((result["search"]["knn"], result["search"]["cutoff"]), (3, 0.3))
        self.assertEqual((result["pairs"], result["farthest"]), (4, 0.25))
        self.assertEqual((result["neighbors"]["min"], result["neighbors"]["max"]), (0, 2))
        self.assertIsNone(self.neighbors(self.row, "--knn", 1)["search"]["cutoff"])

    def test_nearest_neighbors_of_one_place_or_of_nothing(self):
        same = self.put("same.npy", npy([[0.5, 0.5]] * 5))
        self.neighbors(same, "--knn", 2, "-o", "nearest.npy")
        values = read_pairs_npy(self.folder / "nearest.npy")[1]
        self.assertEqual(values, [(1, 2), (0, 2), (0, 1), (0, 1), (0, 1)])
        self.assertEqual(self.neighbors(self.put("one.csv", "x,y\n1,2\n"), "--knn", 64)["pairs"], 0)

    def test_nearest_neighbors_refuse_what_they_cannot_do(self):
        for arguments, words, code in [
            (["--knn", 65], "1 to 64", 2),
            (["--knn", 0], "1 to 64", 2),
            (["--knn", 2, "--half"], "--half lists pairs", 2),
            (["--knn", 2, "--method", "strips"], "--knn has one method", 2),
            (["--knn", 2, "--cutoff", 0], "--cutoff is 0; it must be positive", 2),
            ([], "--cutoff is missing", 2),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.fails("neighbors", self.row, *arguments, code=code))

    def test_radii(self):
        # Distances: 0-1 0.125, 1-2 0.25, 2-3 0.4375, and 0-3 0.1875 through the faces.
        table = self.put("radii.csv", "x,y,z,h\n0.125,0.5,0.5,0.1\n0.25,0.5,0.5,0.05\n0.5,0.5,0.5,0.3\n0.9375,0.5,0.5,0.1\n")
        box = ["--box", "1,1,1", "--periodic", "xyz"]
        for rule, pairs in [
            ("sum", {(0, 1), (0, 2), (0, 3), (1, 2)}),
            ("larger", {(1, 2)}),
        ]:
            both = pairs | {(j, i) for i, j in pairs}
            found = self.pairs(table, "--radii", "h", "--rule", rule, *box)
            self.assertEqual({(row[0], row[1]) for row in found}, both, rule)
            half = self.pairs(table, "--radii", "h", "--rule", rule, "--half", *box)
            self.assertEqual({(row[0], row[1]) for row in half}, pairs, rule)
        found = self.pairs(table, "--radii", "h", "--rule", "own", *box)
        self.assertEqual({(row[0], row[1]) for row in found}, {(2, 1)})
        file = self.put("h.npy", npy([[0.1], [0.05], [0.3], [0.1]]).replace(b"(4, 1)", b"(4,)  "))
        result = self.neighbors(table, "--radii", file, *box)
        self.assertEqual(result["pairs"], 8)
        self.assertEqual([result["search"]["rule"], result["search"]["cutoff"]], ["sum", 0.6])
        self.assertIn("by radii (sum)", self.quadrat("neighbors", table, "--radii", "h", "--device", "cpu").stdout)
        empty = self.put("empty_radii.csv", "x,y,z,h\n")
        self.assertEqual(self.neighbors(empty, "--radii", "h")["pairs"], 0)

    def test_radii_that_are_wrong(self):
        for name, contents, words in [
            ("nan.csv", "x,y,h\n0,0,1\n\n1,0,nan\n", "nan.csv:4: point 1 has radius nan; it must be finite"),
            ("negative.csv", "x,y,h\n0,0,-1\n", "negative.csv:2: point 0 has radius -1"),
            ("infinite.csv", "x,y,h\n0,0,inf\n", "infinite.csv:2: point 0 has radius inf"),
            ("none.csv", "x,y\n0,0\n", 'there is no column "h"'),
            ("word.csv", "x,y,h\n0,0,wide\n", 'word.csv:2: column 3 (h) is "wide"'),
        ]:
            with self.subTest(name):
                self.assertIn(words, self.refusal(self.put(name, contents), "--radii", "h", code=1))
        three = self.put("three.npy", npy([[1.0]] * 3).replace(b"(3, 1)", b"(3,)  "))
        self.assertIn("the radii of 4 points are an array of 4 numbers",
                      self.refusal(self.row, "--radii", three, code=1))  # fmt: skip
        zeros = self.put("zeros.csv", "x,y,h\n0,0,0\n1,1,0\n")
        for arguments, words in [
            ([self.row, "--radii", "h", "--cutoff", 1], "give one of them"),
            ([self.row, "--radii", "h", "--knn", 3], "--knn has one for all points"),
            ([self.row, "--cutoff", 1, "--rule", "sum"], "--rule sum needs --radii"),
            ([self.row, "--radii", "h", "--rule", "smaller"], "--rule"),
            ([self.row, "--radii", "h", "--rule", "own", "--half"], "--half has no meaning"),
            ([self.row, "--radii", ""], "--radii"),
            ([self.put("points.npy", npy([[0.0, 0.0]])), "--radii", "h"], "has no columns with names"),
            ([zeros, "--radii", "h"], "all radii are 0"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_two_dimensions(self):
        points = self.put("plane.csv", "y,x\n0.5,0.125\n0.5,0.875\n")
        self.pairs(points, "--cutoff", 0.5, "--box", "1,1", "--periodic", "x")
        self.assertEqual(
            (self.folder / "pairs.csv").read_text(),
            "i,j,sx,sy,dx,dy,d\n0,1,-1,0,-0.25,0,0.25\n1,0,1,0,0.25,0,0.25\n",
        )
        self.assertEqual(self.neighbors(self.put("plane.npy", npy([[0, 0], [0, 1]])), "--cutoff", 2)["pairs"], 2)

    def test_a_triclinic_box_is_shown_by_its_vectors(self):
        flat = self.put("flat.csv", "x,y\n0.5,0.5\n1.5,0.5\n")
        for box, periodic, words in [
            ("2,0,0.5,3", "xy", "box        vectors (2, 0), (0.5, 3) (--box), periodic along xy"),
            ("2,0,0,3", "x", "box        2 x 3 (--box), periodic along x"),
            ("-2,0,0,3", "xy", "box        vectors (-2, 0), (0, 3) (--box), periodic along xy"),
        ]:
            done = self.quadrat("neighbors", flat, "--cutoff", 0.5, "--box=" + box, "--periodic", periodic)
            self.assertIn(words, done.stdout)

    def test_reads_what_savetxt_writes(self):
        expected = self.neighbors(self.row, "--cutoff", 0.26)["pairs"]
        text = "# x y z\n" + "".join(" ".join(row.split(",")) + "\n" for row in ROW.splitlines()[1:])
        self.assertEqual(self.neighbors(self.put("saved.csv", text), "--cutoff", 0.26)["pairs"], expected)

    def test_text_for_people(self):
        text = self.quadrat("neighbors", self.row, "--cutoff", 0.26, "-o", "pairs.csv").stdout
        for words in ["4 points, 4 pairs within 0.26", "1 a point, from 0 to 2", "bounding box", "open", "pairs.csv"]:
            self.assertIn(words, text)

    def test_counts_and_statistics_as_json(self):
        result = self.neighbors(self.row, "--cutoff", 0.26, "-o", "pairs.npy")
        self.assertEqual(result["points"], {"file": str(self.row), "count": 4, "dimensions": 3})
        self.assertEqual(result["pairs"], 4)
        self.assertEqual(result["neighbors"], {"mean": 1.0, "min": 0, "max": 2, "std": 0.5**0.5})
        self.assertEqual(result["box"]["source"], "bounding box")
        self.assertEqual(result["box"]["periodic"], [False] * 3)
        self.assertEqual(result["search"]["precision"], "double")
        self.assertIn(result["search"]["method"], self.methods())
        self.assertTrue(result["search"]["reason"])
        self.assertEqual(result["device"]["backend"], "cpu")
        self.assertGreater(result["performance"]["search_seconds"], 0)
        self.assertEqual(result["output"], "pairs.npy")

    def test_half_lists_each_pair_once(self):
        points = self.random_points(200)
        arguments = [points, "--cutoff", 0.6, "--box", "1,1,1", "--periodic", "xyz"]
        full = self.neighbors(*arguments)
        half = self.neighbors(*arguments, "--half")
        self.assertEqual(full["pairs"], 2 * half["pairs"])
        self.assertEqual(full["neighbors"], half["neighbors"], "statistics are those of the full list")
        both = set()
        for i, j, sx, sy, sz, *_ in self.pairs(*arguments, "--half"):
            self.assertLessEqual(i, j)
            both |= {(i, j, sx, sy, sz), (j, i, -sx, -sy, -sz)}
        self.assertEqual(sorted(both), [row[:5] for row in self.pairs(*arguments)])

    def test_every_method_and_number_of_threads_gives_the_same_file(self):
        points = self.random_points(500)
        files = set()
        for method in self.methods():
            for threads in (1, 2):
                self.pairs(points, "--cutoff", 0.2, "--box", "1,1,1", "--order", method, "--threads", threads)
                files.add((self.folder / "pairs.csv").read_bytes())
        self.assertEqual(len(files), 1)

    def test_precision(self):
        rows = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
        single, double = self.put("single.npy", npy(rows, "f")), self.put("double.npy", npy(rows, "d"))
        self.assertEqual(self.neighbors(single, "--cutoff", 1)["search"]["precision"], "float")
        self.assertEqual(self.neighbors(double, "--cutoff", 1)["search"]["precision"], "double")
        huge = self.neighbors(double, "--cutoff", 1.5e19, "--precision", "float")
        self.assertEqual(huge["pairs"], 2, "squares of such lengths are just numbers, those of their inverses are none")
        result = self.neighbors(double, "--cutoff", 1, "--precision", "float")
        self.assertEqual(result["search"]["precision"], "float")

    def test_boxes(self):
        arguments = [self.row, "--cutoff", 0.25, "--box"]
        self.assertEqual(len(self.pairs(*arguments, "1,1,1")), 2)
        self.assertEqual(len(self.pairs(*arguments, "1,1,1", "--periodic", "none")), 2)
        self.assertEqual(len(self.pairs(*arguments, "1,1,1", "--periodic", "yz")), 2)
        self.assertEqual(len(self.pairs(*arguments, "1,1,1", "--periodic", "zx")), 4)
        self.assertEqual(len(self.pairs(*arguments, "1,1,1", "--origin", "-0.05,0,0", "--periodic", "x")), 4)
        self.assertEqual(len(self.pairs(*arguments, "1,0,0,0.25,1,0,0,0,1", "--periodic", "xyz")), 4)
        # A box smaller than the cutoff: the images of the point itself, and two of each other point.
        pairs = self.pairs(self.put("two.csv", "x,y,z\n0,0,0\n0.25,0,0\n"), "--cutoff", 0.6, "--box", "0.5,9,9",
                           "--periodic", "x")  # fmt: skip
        self.assertEqual([(i, j, s) for i, j, s, *_ in pairs], [
            (0, 0, -1), (0, 0, 1), (0, 1, -1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, -1), (1, 1, 1),
        ])  # fmt: skip

    def test_flat_long_and_thin_boxes_in_single_precision(self):
        draw = random.Random(2)
        for extent, cutoff, periodic, options in (
            ((1, 1, 0), 0.1, "", []),
            ((300, 300, 0), 15, "", []),
            ((1, 1, 0), 0.1, "xyz", ["--box", "1,1,1", "--periodic", "xyz"]),
            ((128, 1, 1), 1.5, "", ["--box", "128,1,1"]),
            ((128, 1, 1), 1.5, "x", ["--box", "128,1,1", "--periodic", "x"]),
            ((1, 1, 0.0145), 0.06, "xy", ["--box", "1,1,0.0145", "--periodic", "xy"]),
        ):
            # Numbers whose differences and squares are exact, so that there is one answer.
            points = [[draw.randrange(256) / 256 * length for length in extent] for _ in range(300)]
            if extent[2] == 0.0145:
                points = [[x, y, 0.0078125] for x, y, _ in points]
            file = self.put("flat.npy", npy(points, "f"))

            def apart(a, b):
                lengths = [abs(x - y) for x, y in zip(a, b)]
                return [min(d, e - d) if c in periodic else d for c, d, e in zip("xyz", lengths, [*extent[:2], 1])]

            pairs = sum(sum(d * d for d in apart(a, b)) < cutoff**2 for a in points for b in points) - len(points)
            for chosen in ([], ["--method", "strips"], ["--method", "brute_force"]):
                with self.subTest(extent=extent, options=options, method=chosen):
                    found = self.neighbors(file, "--cutoff", cutoff, *options, *chosen)
                    self.assertEqual(found["pairs"], pairs)

    def test_no_points_and_one_point(self):
        for text, points in [("x,y,z\n", 0), ("x,y,z\n1,2,3\n", 1)]:
            result = self.neighbors(self.put("few.csv", text), "--cutoff", 1, "-o", "pairs.npy")
            self.assertEqual((result["points"]["count"], result["pairs"]), (points, 0))
            self.assertIn("(0, 2)", read_pairs_npy(self.folder / "pairs.npy")[0])
            self.assertEqual(self.pairs(self.put("few.csv", text), "--cutoff", 1), [])

    XYZ = '2\nLattice="1 0 0 0 1 0 0 0 {c}" {pbc} Properties=species:S:1:pos:R:3\nH 0.125 0.5 0.5\nH 0.875 0.5 0.5\n'

    def atoms(self, c="1", pbc='pbc="T F F"'):
        return self.put("atoms.xyz", self.XYZ.format(c=c, pbc=pbc))

    def test_xyz_files_bring_their_box(self):
        result = self.neighbors(self.atoms(), "--cutoff", 0.3)
        self.assertEqual(result["pairs"], 2)
        self.assertEqual(result["box"]["source"], "Lattice")
        self.assertEqual(result["box"]["periodic"], [True, False, False])
        self.assertEqual(self.neighbors(self.atoms(), "--cutoff", 0.3, "--periodic", "none")["pairs"], 0)
        self.assertEqual(self.neighbors(self.atoms(pbc='pbc="F F F"'), "--cutoff", 0.3)["pairs"], 0)
        self.assertEqual(self.neighbors(self.atoms(pbc=""), "--cutoff", 0.3)["box"]["periodic"], [True] * 3)
        result = self.neighbors(self.atoms(), "--cutoff", 0.3, "--box", "2,1,1")
        self.assertEqual((result["pairs"], result["box"]["source"]), (0, "--box"))
        self.assertEqual(result["box"]["periodic"], [True, False, False])

    def test_open_axes_of_xyz_files_may_have_no_vector_and_points_outside(self):
        self.assertEqual(self.neighbors(self.atoms(c="0"), "--cutoff", 0.3)["pairs"], 2)
        self.assertIn("vector 3 of the Lattice is zero", self.refusal(self.atoms(c="0", pbc=""), "--cutoff", 0.3))
        outside = self.XYZ.format(c="1", pbc='pbc="T F F"').replace("0.5 0.5\n", "0.5 7.5\n")
        self.assertEqual(self.neighbors(self.put("outside.xyz", outside), "--cutoff", 0.3)["pairs"], 2)
        plain = self.put("plain.xyz", "2\n\nH 0 0 0\nH 0 0 1\n")
        self.assertEqual(self.neighbors(plain, "--cutoff", 1.5)["pairs"], 2)
        self.assertIn("no Lattice", self.refusal(self.put("half.xyz", '0\npbc="T T T"\n'), "--cutoff", 1))

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([], "--help"),
            ([self.row], "--cutoff is missing: "),
            (["nowhere.csv", "--cutoff", 1], "does not exist"),
            ([self.row, "--cutoff", "wide"], "--cutoff"),
            ([self.row, "--cutoff", 0], "--cutoff is 0"),
            ([self.row, "--cutoff", -1], "--cutoff is -1"),
            ([self.row, "--cutoff", "nan"], "--cutoff is nan"),
            ([self.row, "--cutoff", "inf"], "--cutoff is inf"),
            ([self.row, "--cutoff", 1, "--box", "1,1"], "--box: there are 2 numbers"),
            ([self.row, "--cutoff", 1, "--box", "1,1,a"], '--box: "a" is no number'),
            ([self.row, "--cutoff", 1, "--box", "1,1,inf"], '--box: "inf" is no number'),
            ([self.row, "--cutoff", 1, "--box", "1,1,0"], "the length along z is 0"),
            ([self.row, "--cutoff", 600, "--box", "1,1,1", "--periodic", "x"], "the cutoff 600 spans 600 images"),
            ([self.row, "--cutoff", 1, "--box", "1,0,0,1,0,0,0,0,1"], "independent"),
            ([self.row, "--cutoff", 1, "--box", "1,1,1", "--origin", "1"], "--origin: there is 1 number; points in 3 dimensions need 3"),
            ([self.row, "--cutoff", 1, "--origin", "1,1,1"], "--origin needs --box"),
            ([self.row, "--cutoff", 1, "--periodic", "xyz"], "--periodic xyz needs --box"),
            ([self.row, "--cutoff", 1, "--box", "1,1,1", "--periodic", "xw"], "--periodic"),
            ([self.row, "--cutoff", 1, "--box", "1,1,1", "--periodic", "xx"], "--periodic"),
            ([self.row, "--cutoff", 1, "--box", "1,1,1", "--periodic", ""], "--periodic"),
            ([self.row, "--cutoff", 1, "--order", "strip"], "strips"),
            ([self.row, "--cutoff", 1, "-o", "pairs.txt"], "pairs.txt ends in neither"),
            ([self.row, "--cutoff", 1, "-o", self.row], "is the file that is read"),
            ([self.row, "--cutoff", 1, "--threads", -1], "--threads"),
            ([self.row, "--cutoff", 1, "--precision", "half"], "--precision"),
            ([self.put("points.txt", "1 2 3"), "--cutoff", 1], "points.txt ends in none of these"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))
        self.assertIn("--device", self.fails("neighbors", self.row, "--cutoff", 1, "--device", "tpu", code=2))
        self.assertEqual(ROW, self.row.read_text())

    def test_files_that_are_wrong(self):
        whole = npy([[0.0, 0.0, 0.0]])
        for name, contents, words in [
            ("empty.npy", b"", "empty.npy: the file is empty"),
            ("text.npy", b"x,y,z\n1,2,3\n", "this is not an .npy file"),
            ("cut.npy", whole[:-1], "cut short"),
            ("long.npy", whole + b"1", "takes 24 bytes, but the file has 25"),
            ("four.npy", npy([[0.0] * 4]), "has shape (1, 4); points are N, N x 1, N x 2 or N x 3"),
            ("int.npy", whole.replace(b"<f8", b"<i8"), "holds int64"),
            ("empty.csv", b"", "no line with the names"),
            ("noheader.csv", b"1,2,3\n", "noheader.csv:1: the first line must name the columns"),
            ("nox.csv", b"y,z\n1,2\n", 'there is no column "x"'),
            ("word.csv", b"x,y\n1,2\n3,four\n", 'word.csv:3: column 2 (y) is "four"'),
            ("short.csv", b"x,y\n1\n", "short.csv:2: there is 1 field for 2 columns"),
            ("empty.xyz", b"", "empty.xyz: the file is empty"),
            ("cut.xyz", b"2\n\nH 1 2 3\n", "cut.xyz:3: the file ends after 1 of 2 atoms"),
            ("huge.xyz", b"9999999999\n\nH 1 2 3\n", "too short for 9999999999 atoms"),
            ("nan.csv", b"x,y,z\n0,0,0\n0,nan,0\n", "point 1 at"),
            ("inf.npy", npy([[0.0, 0.0], [0.0, float("inf")]]), "point 1 at"),
        ]:
            with self.subTest(name):
                self.assertIn(words, self.refusal(self.put(name, contents), "--cutoff", 1, code=1))

    def test_points_on_a_line(self):
        line = self.put("line.csv", "x\n0.125\n0.25\n0.5\n0.9375\n")
        found = self.neighbors(line, "--cutoff", 0.2, "--box", 1, "--periodic", "x")
        self.assertEqual(found["points"]["dimensions"], 1)
        self.assertEqual(found["box"]["vectors"], [[1]])
        self.assertEqual(found["box"]["periodic"], [True])
        self.assertEqual(found["pairs"], 4)
        with open(self.folder / "line.npy", "wb") as file:
            file.write(npy([[0.125], [0.25], [0.5], [0.9375]]))
        for points in (line, "line.npy"):
            self.assertEqual(
                self.pairs(points, "--cutoff", 0.2, "--box", 1, "--periodic", "x", "--half"),
                [(0, 1, 0, 0.125, 0.125), (0, 3, -1, -0.1875, 0.1875)],
            )
            self.assertEqual(self.neighbors(points, "--cutoff", 0.2)["pairs"], 2)
            self.assertEqual(self.neighbors(points, "--cutoff", 0.4, "--method", "strips")["pairs"], 6)
            self.assertEqual(
                self.pairs(points, "--knn", 1, "--box", 1, "--periodic", "x"),
                [(0, 1, 0, 0.125), (1, 0, 0, 0.125), (2, 1, 0, 0.25), (3, 0, 1, 0.1875)],
            )
        self.assertIn("points in 1 dimension need 1 length", self.refusal(line, "--cutoff", 1, "--box", "1,1"))
        self.assertIn("is neither none nor a choice of x", self.refusal(line, "--cutoff", 1, "--periodic", "y"))
        self.assertIn("points are N x 2 or N x 3", self.refusal("line.npy", "--cutoff", 1, "--rdf", code=1))

    def test_a_point_outside_of_an_open_box_is_named(self):
        message = self.refusal(self.row, "--cutoff", 0.1, "--box", "0.5,1,1", "-o", "pairs.npy", code=1)
        self.assertIn("point 3 at (0.9375, 0.5, 0.5) lies outside", message)
        self.assertFalse((self.folder / "pairs.npy").exists())

    def test_output_that_cannot_be_written_leaves_the_older_file(self):
        points = self.random_points(1000)
        for name in ("pairs.npy", "pairs.csv"):
            (self.folder / name).write_text("older")

            def at_most_64_kilobytes():
                resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing then fails with EFBIG

            command = self.command("neighbors", points, "--cutoff", 0.5, "--device", "cpu", "-o", name)
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, preexec_fn=at_most_64_kilobytes,
                restore_signals=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, "")
            self.assertEqual(done.stderr, f"quadrat: cannot write {name}: File too large\n")
            self.assertEqual((self.folder / name).read_text(), "older")
            self.assertEqual([file.name for file in self.folder.glob(".*")], [])
        (self.folder / "file").write_text("no folder")
        self.assertIn("cannot create the folder", self.refusal(self.row, "--cutoff", 1, "-o", "file/a.npy", code=1))


if __name__ == "__main__":
    support.main()
