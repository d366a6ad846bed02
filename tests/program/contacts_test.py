# SPDX-License-Identifier: BSD-3-Clause
"""quadrat contacts: what it reads, what it writes, and what it says."""

import csv
import json
import random
import resource
import signal
import subprocess

import support

NAMES = "a,b,feature,depth,ax,ay,az,bx,by,bz,nx,ny,nz,t1x,t1y,t1z,t2x,t2y,t2z,sx,sy,sz"

# The number of the first plane.
PLANE = 2**31

# Three spheres in a row; the third overlaps the first across the faces of a box of length 4.
ROW = "x,y,z,radius\n0.5,1,1,0.75\n1.5,1,1,0.5\n3.5,1,1,0.5\n"

# One body of each shape around another of each.
MIXED = (
    "shape,x,y,z,radius,half_length,a,b,c,qw,qx,qy,qz\n"
    "sphere,0,0,0,1,,,,,1,0,0,0\n"
    "ellipsoid,1.5,0,0,,,1,0.75,0.5,1,0,0,0.5\n"
    "capsule,0,1.5,0,0.75,1,,,,1,0.25,0,0\n"
    "box,0,0,1.5,,,1,1,1,1,0,0,0\n"
    "box,0.25,0.25,3,,,1,1,1,1,0,0,0\n"
    "capsule,1.5,1.5,0,0.75,0.5,,,,1,0,0.5,0\n"
    "ellipsoid,1.5,1.5,1,,,0.5,1,0.75,2,1,0,0\n"
    "sphere,1.25,0,1.5,,,0.5,,,1,0,0,0\n"
)


def dot(u, v):
    return sum(p * q for p, q in zip(u, v))


def cross(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


class ContactsTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.row = self.put("row.csv", ROW)
        self.mixed = self.put("mixed.csv", MIXED)

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def report(self, *arguments):
        """Runs with --json and returns the document."""
        done = self.quadrat("contacts", *arguments, "--device", "cpu", "--json")
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def contacts(self, *arguments):
        """Runs and returns the rows of the .csv file, every number as float."""
        self.quadrat("contacts", *arguments, "--device", "cpu", "--quiet", "-o", "contacts.csv")
        with open(self.folder / "contacts.csv") as file:
            return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]

    def pairs(self, *arguments):
        return [(row["a"], row["b"]) for row in self.contacts(*arguments)]

    def refusal(self, *arguments, code=2):
        return self.fails("contacts", *arguments, "--device", "cpu", code=code)

    def methods(self):
        info = json.loads(self.quadrat("info", "--json").stdout)
        return [method["name"] for method in info["contacts"]["methods"]]

    def random_spheres(self, count, most=0.1):
        draw = random.Random(count)
        rows = [[draw.random() for _ in range(3)] + [most * draw.uniform(0.1, 1)] for _ in range(count)]
        text = "x,y,z,radius\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)
        return self.put("random.csv", text), rows

    def assert_sound(self, row):
        """Properties of every contact of any shapes."""
        vectors = {name: [row[name + axis] for axis in "xyz"] for name in ("a", "b", "n", "t1", "t2")}
        self.assertLess(row["a"], row["b"])
        self.assertGreater(row["depth"], 0)
        for p, q, depth_of_n in zip(vectors["a"], vectors["b"], vectors["n"]):
            self.assertAlmostEqual(p - q, row["depth"] * depth_of_n, places=6)
        for name in ("n", "t1", "t2"):
            self.assertAlmostEqual(dot(vectors[name], vectors[name]), 1, places=9)
        for one, other in zip(cross(vectors["n"], vectors["t1"]), vectors["t2"]):
            self.assertAlmostEqual(one, other, places=9)

    def test_help_has_columns_and_methods(self):
        text = self.quadrat("contacts", "--help").stdout
        for word in ["Examples:", "--plane", "--bin-size", "half_length", *self.methods()]:
            self.assertIn(word, text)
        self.assertIn("contacts", self.quadrat("--help").stdout)

    def test_contacts_as_csv(self):
        self.contacts(self.row)
        self.assertEqual(
            (self.folder / "contacts.csv").read_text(),
            f"{NAMES}\n0,1,0,0.25,1.25,1,1,1,1,1,1,0,0,0,-0,-1,-0,1,-0,0,0,0\n",
        )

    def test_spheres_agree_with_all_pairs(self):
        file, rows = self.random_spheres(300)
        expected = {}
        for a, (*p, r) in enumerate(rows):
            for b, (*q, s) in enumerate(rows[:a]):
                distance = dot([x - y for x, y in zip(p, q)], [x - y for x, y in zip(p, q)]) ** 0.5
                if distance < r + s:
                    expected[b, a] = r + s - distance
        found = self.contacts(file)
        self.assertGreater(len(found), 100)
        self.assertEqual([(row["a"], row["b"]) for row in found], sorted(expected))
        for row in found:
            self.assert_sound(row)
            self.assertAlmostEqual(row["depth"], expected[row["a"], row["b"]], places=12)

    def test_every_method_and_number_of_threads_gives_the_same_file(self):
        file, _ = self.random_spheres(500)
        for bodies in (file, self.mixed):
            files = set()
            for method in self.methods():
                for threads in (1, 2):
                    self.contacts(bodies, "--method", method, "--threads", threads, "--plane", "0,0,1,0.1")
                    files.add((self.folder / "contacts.csv").read_bytes())
            self.assertEqual(len(files), 1)
        self.contacts(file, "--bin-size", 0.37)
        one = (self.folder / "contacts.csv").read_bytes()
        self.contacts(file, "--bin-size", 0.07)
        self.assertEqual(one, (self.folder / "contacts.csv").read_bytes())

    def test_all_shapes(self):
        rows = self.contacts(self.mixed, "--plane", "0,0,1,-0.25")
        for row in rows:
            self.assert_sound(row)
        pairs = {(row["a"], row["b"]) for row in rows}
        for pair in [(0, 1), (0, 2), (0, 3), (3, 4), (5, 6), (3, 7), (0, PLANE), (5, PLANE)]:
            self.assertIn(pair, pairs)
        self.assertEqual(sum((row["a"], row["b"]) == (3, 4) for row in rows), 4, "two boxes face to face")
        self.assertEqual(len({(row["a"], row["b"], row["feature"]) for row in rows}), len(rows))
        counts = self.report(self.mixed)["bodies"]
        self.assertEqual(counts["count"], 8)
        self.assertEqual(counts["shapes"], {"sphere": 2, "ellipsoid": 2, "capsule": 2, "box": 2})

    def test_ellipsoids_and_capsules_without_a_column_of_shapes(self):
        ellipsoids = self.put("e.csv", "x,y,z,a,b,c,qw,qx,qy,qz\n0,0,0,1,1,2,1,0,0,0\n3,0,0,1,1,2.5,1,0,1,0\n")
        self.assertEqual(self.pairs(ellipsoids), [(0, 1)], "the second is turned, and reaches the first")
        unturned = self.put("e.csv", "x,y,z,a,b,c\n0,0,0,1,1,2\n3,0,0,1,1,2.5\n")
        self.assertEqual(self.pairs(unturned), [])
        capsules = self.put("c.csv", "x,y,z,radius,half_length\n0,0,0,0.5,1\n0,0,2.75,0.5,1\n")
        (row,) = self.contacts(capsules)
        self.assertAlmostEqual(row["depth"], 0.25)

    def test_planes(self):
        arguments = [self.row, "--plane", "0,0,2,1", "--plane", "-1,0,0,-3.75"]
        rows = self.contacts(*arguments)
        self.assertEqual([(row["a"], row["b"]) for row in rows], [(0, 1), (0, PLANE), (2, PLANE + 1)])
        self.assertEqual([row["depth"] for row in rows[1:]], [0.25, 0.25], "normals and offsets count by their ratio")
        self.assertEqual([rows[1]["nz"], rows[2]["nx"]], [-1, 1], "from the body into the wall")
        self.assertEqual(self.report(*arguments)["planes"], 2)

    def test_boxes_that_are_periodic(self):
        self.assertEqual(self.pairs(self.row, "--box", "4,4,4"), [(0, 1)])
        self.assertEqual(self.pairs(self.row, "--box", "4,4,4", "--periodic", "yz"), [(0, 1)])
        (_, row) = self.contacts(self.row, "--box", "4,4,4", "--periodic", "x")
        self.assertEqual((row["a"], row["b"], row["depth"], row["nx"]), (0, 2, 0.25, -1))
        self.assertEqual((row["ax"], row["bx"]), (-0.25, 0), "points lie where a is")
        self.assertEqual(len(self.pairs(self.row, "--box", "4,4,4", "--origin", "-2,0,0", "--periodic", "xyz")), 2)
        box = self.report(self.row, "--box", "4,5,6", "--origin", "-1,0,0", "--periodic", "y")["box"]
        self.assertEqual(box, {"origin": [-1, 0, 0], "lengths": [4, 5, 6], "periodic": [False, True, False]})

    def test_groups_that_are_kept_apart(self):
        groups = self.put("g.csv", "x,y,z,radius,group\n0,0,0,1,0\n1,0,0,1,0\n0,1,0,1,5\n")
        self.assertEqual(self.pairs(groups), [(0, 1), (0, 2), (1, 2)])
        self.assertEqual(self.pairs(groups, "--apart", "5,0"), [(0, 1)])
        self.assertEqual(self.pairs(groups, "--apart", "0,0"), [(0, 2), (1, 2)])
        self.assertEqual(self.pairs(groups, "--apart", "0,0", "--apart", "0,5"), [])

    def test_text_for_people(self):
        text = self.quadrat("contacts", self.row, "--plane", "0,0,1,0", "-o", "contacts.npy").stdout
        for words in ["3 spheres, 1 plane, 1 contact\n", "open", "contacts.npy", "double"]:
            self.assertIn(words, text)

    def test_counts_as_json(self):
        result = self.report(self.row, "-o", "contacts.npy")
        self.assertEqual(result["bodies"]["file"], str(self.row))
        self.assertEqual((result["bodies"]["count"], result["planes"], result["contacts"]), (3, 0, 1))
        self.assertIsNone(result["box"])
        self.assertIn(result["search"]["method"], self.methods())
        self.assertTrue(result["search"]["reason"])
        self.assertEqual(result["search"]["precision"], "double")
        self.assertEqual(self.report(self.row, "--precision", "float")["search"]["precision"], "float")
        self.assertEqual(self.report(self.row, "--method", "brute_force")["search"]["method"], "brute_force")
        self.assertEqual(result["device"]["backend"], "cpu")
        self.assertGreater(result["performance"]["search_seconds"], 0)
        self.assertEqual(result["output"], "contacts.npy")

    def test_no_bodies_and_one_body(self):
        for text in ("x,y,z,radius\n", "x,y,z,radius\n1,2,3,1\n", "shape,x,y,z\n"):
            self.assertEqual(self.contacts(self.put("few.csv", text)), [])
        self.assertEqual(self.pairs(self.put("few.csv", "x,y,z,radius\n1,2,3,1\n"), "--plane", "0,0,1,2.5"), [(0, PLANE)])

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([], "--help"),
            (["nowhere.csv"], "does not exist"),
            ([self.row, "--method", "brute"], "brute_force"),
            ([self.row, "--bin-size", -1], "-1"),
            ([self.row, "--bin-size", "nan"], "nan"),
            ([self.row, "--bin-size", "wide"], "--bin-size"),
            ([self.row, "--plane", "0,0,1"], '--plane: "0,0,1" has 3 numbers'),
            ([self.row, "--plane", "0,0,0,1"], "has the normal 0"),
            ([self.row, "--plane", "0,0,up,1"], '--plane: "up" is no number'),
            ([self.row, "--plane", "1e-300,0,0,1e300"], "at no finite distance"),
            ([self.row, "--plane", "0,1,0,0", "--box", "9,9,9", "--periodic", "y"], "along the periodic axis 1"),
            ([self.row, "--apart", "0"], "--apart"),
            ([self.row, "--apart", "0,32"], "are no two groups"),
            ([self.row, "--box", "1,1"], "--box: there are 2 numbers"),
            ([self.row, "--box", "1,0,0,0,1,0,0,0,1"], "--box: there are 9 numbers"),
            ([self.row, "--box", "1,1,0"], "the length along z is 0; it must be positive, also for points in a plane"),
            ([self.row, "--origin", "1,1,1"], "--origin needs --box"),
            ([self.row, "--periodic", "x"], "--periodic x needs --box"),
            ([self.row, "-o", "contacts.txt"], "contacts.txt ends in neither"),
            ([self.row, "-o", self.row], "is the file that is read"),
            ([self.row, "--threads", -1], "--threads"),
            ([self.row, "--precision", "half"], "--precision"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))
        self.assertIn("--device", self.fails("contacts", self.row, "--device", "tpu", code=2))
        self.assertEqual(ROW, self.row.read_text())

    def test_files_that_are_wrong(self):
        for name, contents, words in [
            ("empty.csv", b"", "no line with the names"),
            ("nosize.csv", b"x,y,z\n1,2,3\n", "there are no sizes; valid are radius (spheres)"),
            ("noz.csv", b"x,y,radius\n1,2,3\n", 'there is no column "z"'),
            ("zero.csv", b"x,y,z,radius\n\n1,2,3,0\n", "zero.csv:3: column radius is 0"),
            ("nan.csv", b"x,y,z,radius\n1,nan,3,1\n", "nan.csv:2: column y is nan"),
            ("axis.csv", b"shape,x,y,z,radius,a,b,c\nellipsoid,1,2,3,1,,,\n", "axis.csv:2: column a is empty"),
            ("shape.csv", b"shape,x,y,z,radius\nsphear,1,2,3,1\n", 'did you mean "sphere"?'),
            ("turned.csv", b"x,y,z,radius,qw,qx,qy,qz\n1,2,3,1,0,0,0,0\n", "turned.csv:2: the quaternion"),
            ("group.csv", b"x,y,z,radius,group\n1,2,3,1,32\n", "group.csv:2: column group is 32"),
            ("cut.csv", b"x,y,z,radius\n1,2,3,1\n1,2", "cut.csv:3: there are 2 fields for 4 columns"),
        ]:
            with self.subTest(name):
                self.assertIn(words, self.refusal(self.put(name, contents), "-o", "contacts.npy", code=1))
                self.assertFalse((self.folder / "contacts.npy").exists())

    def test_a_body_that_is_too_long_for_a_periodic_axis_is_named(self):
        message = self.refusal(self.row, "--box", "1.25,9,9", "--periodic", "x", code=1)
        self.assertIn("body 0", message)

    def test_output_that_cannot_be_written_leaves_the_older_file(self):
        bodies, _ = self.random_spheres(500, most=0.2)
        for name in ("contacts.npy", "contacts.csv"):
            (self.folder / name).write_text("older")

            def at_most_64_kilobytes():
                resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing then fails with EFBIG

            command = self.command("contacts", bodies, "--device", "cpu", "-o", name)
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, preexec_fn=at_most_64_kilobytes,
                restore_signals=False,
            )  # fmt: skip
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, f"quadrat: cannot write {name}: File too large\n")
            self.assertEqual((self.folder / name).read_text(), "older")
            self.assertEqual([file.name for file in self.folder.glob(".*")], [])


if __name__ == "__main__":
    support.main()
