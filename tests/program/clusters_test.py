# SPDX-License-Identifier: BSD-3-Clause
"""quadrat clusters: labels, sizes, boxes, and what it says."""

import json
import random
import struct

import support
from mesh_support import npy

# Two groups, the second across the faces of the unit box, and one point alone.
GROUPS = "x,y,z\n0.9375,0.625,0.5\n0.25,0.25,0.5\n0.375,0.25,0.5\n0.0625,0.625,0.5\n0.5,0.875,0.5\n0.25,0.375,0.5\n"


def reference(points, cutoff, min_points):
    """Labels by comparing all pairs."""
    near = [[j for j, b in enumerate(points) if sum((x - y) ** 2 for x, y in zip(a, b)) < cutoff**2] for a in points]
    labels, clusters = [-1] * len(points), 0
    for start in range(len(points)):
        if labels[start] >= 0 or len(near[start]) < min_points:
            continue
        todo = [start]
        while todo:
            i = todo.pop()
            if labels[i] >= 0:
                continue
            labels[i] = clusters
            todo += [j for j in near[i] if len(near[j]) >= min_points]
        clusters += 1
    for i in range(len(points)):
        if len(near[i]) < min_points:
            labels[i] = min((labels[j] for j in near[i] if len(near[j]) >= min_points), default=-1)
    return labels


class ClustersTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.groups = self.put("groups.csv", GROUPS)

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def test_points_on_a_line(self):
        line = self.put("line.csv", "x\n0.95\n0.1\n0.5\n0.55\n0.15\n")
        self.assertEqual(self.clusters(line, "--cutoff", 0.1)["sizes"], [1, 2, 2])
        self.assertEqual(self.clusters(line, "--cutoff", 0.16, "--box", 1, "--periodic", "x")["sizes"], [3, 2])
        self.assert_centers(self.clusters(line, "--cutoff", 0.1), [[0.95], [0.125], [0.525]])

    def assert_centers(self, result, wanted):
        self.assertEqual(len(result["centers"]), len(wanted))
        for center, other in zip(result["centers"], wanted):
            self.assertEqual(len(center), len(other))
            for a, b in zip(center, other):
                self.assertAlmostEqual(a, b, places=12)

    def clusters(self, *arguments):
        """Runs with --json and returns the document."""
        done = self.quadrat("clusters", *arguments, "--device", "cpu", "--json")
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def labels(self, *arguments):
        self.quadrat("clusters", *arguments, "--device", "cpu", "--quiet", "-o", "labels.csv")
        name, *labels = (self.folder / "labels.csv").read_text().split()
        self.assertEqual(name, "label")
        return [int(label) for label in labels]

    def refusal(self, *arguments, code=2):
        return self.fails("clusters", *arguments, "--device", "cpu", code=code)

    def test_help_has_examples(self):
        text = self.quadrat("clusters", "--help").stdout
        for word in ["Examples:", "--min-points", "--periodic", "friends-of-friends", "DBSCAN"]:
            self.assertIn(word, text)
        self.assertIn("clusters", self.quadrat("--help").stdout)

    def test_labels_as_csv(self):
        self.assertEqual(self.labels(self.groups, "--cutoff", 0.25), [0, 1, 1, 2, 3, 1])
        periodic = [self.groups, "--cutoff", 0.25, "--box", "1,1,1", "--periodic", "x"]
        self.assertEqual(self.labels(*periodic), [0, 1, 1, 0, 2, 1])
        self.assertEqual(self.labels(*periodic, "--min-points", 2), [0, 1, 1, 0, -1, 1])
        self.assertEqual(self.labels(*periodic, "--min-points", 3), [-1, 0, 0, -1, -1, 0])
        self.assertEqual(self.labels(*periodic, "--min-points", 4), [-1] * 6)
        # Points at the cutoff are not linked.
        self.assertEqual(self.labels(self.groups, "--cutoff", 0.125), [0, 1, 2, 3, 4, 5])

    def test_labels_as_npy(self):
        self.clusters(self.groups, "--cutoff", 0.25, "--min-points", 2, "-o", "labels.npy")
        data = (self.folder / "labels.npy").read_bytes()
        self.assertIn(b"'descr': '<i8', 'fortran_order': False, 'shape': (6,)", data)
        self.assertEqual(struct.unpack("<6q", data[-48:]), (-1, 0, 0, -1, -1, 0))

    def test_sizes_as_json(self):
        result = self.clusters(self.groups, "--cutoff", 0.25, "--min-points", 2)
        self.assertEqual((result["clusters"], result["noise"], result["sizes"]), (1, 3, [3]))
        self.assertEqual(result["search"], {"cutoff": 0.25, "min_points": 2, "precision": "double"})
        self.assertEqual(result["points"], {"file": str(self.groups), "count": 6, "dimensions": 3})
        self.assertEqual(result["box"]["source"], "bounding box")
        self.assertEqual(result["device"]["backend"], "cpu")
        self.assertGreater(result["performance"]["memory_bytes"], 0)
        self.assertIsNone(result["output"])
        result = self.clusters(self.groups, "--cutoff", 0.25)
        self.assertEqual((result["clusters"], result["noise"], result["sizes"]), (4, 0, [1, 3, 1, 1]))

    def test_centers_as_json(self):
        third = 0.875 / 3
        self.assert_centers(self.clusters(self.groups, "--cutoff", 0.25, "--min-points", 2), [[third, third, 0.5]])
        across = self.put("across.csv", "x,y,z\n0.9375,0.625,0.5\n0.125,0.625,0.5\n0.5,0.5,0.5\n")
        result = self.clusters(across, "--cutoff", 0.25, "--box", "1,1,1", "--periodic", "x")
        self.assert_centers(result, [[0.03125, 0.625, 0.5], [0.5, 0.5, 0.5]])

    def test_ranks_find_the_clusters_of_one_rank(self):
        numbers = random.Random(4)
        for dimension in 2, 3:
            points = [numbers.random() ** 2 for _ in range(200 * dimension)]
            name = self.put("points.npy", npy([200, dimension], points))
            box = ["--box", ",".join("1" * dimension), "--periodic", "xyz"[:dimension]]
            tilted = ["--box", "1,0.3,0,1" if dimension == 2 else "1,0,0,0.5,1,0,0,0.2,1", *box[2:]]
            for space in [], box, tilted:
                how = [name, "--cutoff", 0.06, *space]
                labels = self.labels(*how)
                one = self.clusters(*how, "--min-points", 3)
                for ranks in 2, 5:
                    self.assertEqual(self.labels(*how, "--devices", ranks), labels)
                    several = self.clusters(*how, "--min-points", 3, "--devices", ranks)
                    self.assertEqual((several["ranks"], several["clusters"], several["noise"], sum(several["sizes"])),
                                     (ranks, one["clusters"], one["noise"], sum(one["sizes"])))

    def test_what_ranks_refuse(self):
        how = [self.groups, "--cutoff", 0.1, "--devices", 2]
        self.assertIn("--groups", self.refusal(*how, "--groups", "table.csv"))
        broken = self.put("broken.csv", "x,y\n0,0\nnan,0\n")
        self.assertIn("broken.csv:3: point 1", self.refusal(broken, *how[1:], code=1))

    def test_table_of_groups(self):
        periodic = [self.groups, "--cutoff", 0.25, "--box", "1,1,1", "--periodic", "x", "--device", "cpu"]
        velocities = self.put("velocities.csv", "x,y,z\n1,0,0\n0,3,0\n0,0,3\n3,0,1\n7,7,7\n0,0,0\n")
        text = self.quadrat("clusters", *periodic, "--groups", "table.csv", "--velocities", velocities, "--by-size",
                            "--least-size", 2).stdout
        self.assertIn("table.csv (2 rows)", text)
        names, *rows = (line.split(",") for line in (self.folder / "table.csv").read_text().split())
        self.assertEqual(names, "label size central x y z vx vy vz Ixx Ixy Ixz Iyy Iyz Izz".split())
        largest, pair = (list(map(float, row)) for row in rows)
        self.assertEqual(largest[:3], [1, 3, 1])
        self.assertEqual(pair[:2] + pair[4:9], [0, 2, 0.625, 0.5, 2, 0, 0.5])
        for found, wanted in zip(largest[3:], [0.875 / 3, 0.875 / 3, 0.5, 0, 1, 1] + [1 / 96, 1 / 192, 0, 1 / 96, 0, 1 / 48]):
            self.assertAlmostEqual(found, wanted, places=12)
        result = self.clusters(*periodic[:-2], "--groups", "table.csv")
        self.assertEqual(result["groups"], {"file": "table.csv", "rows": 3})
        self.assertNotIn("vx", (self.folder / "table.csv").read_text())

    def test_options_of_groups_that_are_refused(self):
        wrong = self.put("wrong.csv", "x,y\n1,2\n")
        for option in (["--by-size"], ["--least-size", 2], ["--velocities", wrong]):
            self.assertIn("--groups FILE", self.refusal(self.groups, "--cutoff", 1, *option))
        self.assertIn(".csv", self.refusal(self.groups, "--cutoff", 1, "--groups", "table.npy"))
        self.assertIn("same file", self.refusal(self.groups, "--cutoff", 1, "--groups", "a.csv", "-o", "a.csv"))
        more = ["--groups", "a.csv", "--velocities", wrong]
        self.assertIn("1 velocities in 2 dimensions", self.refusal(self.groups, "--cutoff", 1, *more, code=1))

    def test_text_for_people(self):
        text = self.quadrat("clusters", self.groups, "--cutoff", 0.25, "-o", "labels.npy").stdout
        for words in ["6 points, 4 clusters\n", "largest    3; 1; 1; 1", "friends-of-friends", "open", "labels.npy"]:
            self.assertIn(words, text)
        text = self.quadrat("clusters", self.groups, "--cutoff", 0.25, "--min-points", 2).stdout
        self.assertIn("6 points, 1 cluster, 3 points in none", text)
        self.assertIn("2 or more (DBSCAN)", text)

    def test_random_points_on_every_number_of_threads_and_in_both_precisions(self):
        draw = random.Random(4)
        for dimension in (2, 3):
            # Numbers whose differences and squares are exact, so that there is one answer.
            points = [[draw.randrange(256) / 256 for _ in range(dimension)] for _ in range(300)]
            file = self.put("random.npy", npy([300, dimension], [x for point in points for x in point]))
            for cutoff, min_points in ((0.08, 1), (0.1, 5), (0.3, 20)):
                wanted = reference(points, cutoff, min_points)
                for more in (["--threads", 1], ["--threads", 2], ["--precision", "float"]):
                    with self.subTest(dimension=dimension, cutoff=cutoff, min_points=min_points, more=more):
                        self.assertEqual(self.labels(file, "--cutoff", cutoff, "--min-points", min_points, *more), wanted)

    def test_few_points(self):
        for text, labels in [("x,y\n", []), ("x,y\n1,2\n", [0]), ("x,y\n1,2\n1,2\n", [0, 0])]:
            file = self.put("few.csv", text)
            self.assertEqual(self.labels(file, "--cutoff", 1), labels)
            self.assertEqual(self.clusters(file, "--cutoff", 1)["sizes"], [len(labels)] if labels else [])

    def test_xyz_files_bring_their_box(self):
        text = '2\nLattice="4 0 0 1 4 0 0 0 4" pbc="T F F" Properties=species:S:1:pos:R:3\nH 0.125 1 1\nH 3.875 1 1\n'
        file = self.put("atoms.xyz", text)
        self.assertEqual(self.labels(file, "--cutoff", 0.5), [0, 0])
        self.assertEqual(self.labels(file, "--cutoff", 0.5, "--periodic", "none"), [0, 1])
        outside = self.put("outside.xyz", text.replace(" 1 1\n", " 1 9\n"))
        self.assertEqual(self.labels(outside, "--cutoff", 0.5), [0, 0])

    def test_wrong_command_lines(self):
        for arguments, words in [
            ([self.groups], "--cutoff is missing: "),
            ([self.groups, "--cutoff", 0], "--cutoff is 0; it must be positive"),
            ([self.groups, "--cutoff", "nan"], "--cutoff is nan"),
            ([self.groups, "--cutoff", "far"], '--cutoff: "far" is no number'),
            ([self.groups, "--cutoff", 1, "--min-points", 0], "--min-points: 0 is not from 1 to"),
            ([self.groups, "--cutoff", 1, "--min-points", 1.5], '--min-points: "1.5" is no whole number'),
            ([self.groups, "--cutoff", 0.6, "--box", "1,1,1", "--periodic", "y"], "half the periodic box along vector 1"),
            ([self.groups, "--cutoff", 1, "--periodic", "x"], "--periodic x needs --box"),
            ([self.groups, "--cutoff", 1, "-o", "labels.txt"], "labels.txt ends in neither"),
            ([self.groups, "--cutoff", 1, "-o", self.groups], "is the file that is read"),
            ([self.groups, "--cutoff", 1, "--link", 1], "no option --link"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_a_bad_point_is_named_and_an_older_file_stays(self):
        (self.folder / "labels.npy").write_text("older")
        message = self.refusal(self.groups, "--cutoff", 0.1, "--box", "1,0.75,1", "-o", "labels.npy", code=1)
        self.assertIn("groups.csv:6: point 4 at (0.5, 0.875, 0.5) lies outside the open box", message)
        self.assertEqual((self.folder / "labels.npy").read_text(), "older")


if __name__ == "__main__":
    support.main()
