# SPDX-License-Identifier: BSD-3-Clause
"""quadrat electrostatics: what it reads, what it writes, and what it says."""

import itertools
import json
import math

import mesh_support
import support
from mesh_support import read_npy

CUBE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def scaled(vectors, factor):
    return [[factor * x for x in vector] for vector in vectors]


def combined(numbers, vectors):
    """The sum of numbers times vectors."""
    return [sum(n * vector[axis] for n, vector in zip(numbers, vectors)) for axis in range(3)]


def reciprocal(v):
    """Volume, and the vectors whose product with vector k is 1, and 0 with the others."""
    cross = [[a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
             for a, b in ((v[1], v[2]), (v[2], v[0]), (v[0], v[1]))]  # fmt: skip
    volume = dot(v[0], cross[0])
    return abs(volume), scaled(cross, 1 / volume)


def ewald(frame, digits=12):
    """Energy and forces of a frame by the plain sums over images and modes, with Coulomb's constant 1."""
    vectors, points, charges = frame
    volume, inverse = reciprocal(vectors)
    alpha, reach = math.sqrt(math.pi) / volume ** (1 / 3), math.sqrt(digits * math.log(10))
    energy, forces = 0.0, [[0.0] * 3 for _ in points]
    most = [math.ceil(reach / alpha * math.hypot(*row)) + 1 for row in inverse]
    images = [combined(n, vectors) for n in itertools.product(*(range(-m, m + 1) for m in most))]
    for (i, a), (j, b) in itertools.product(enumerate(points), repeat=2):
        for shift in images:
            d = [x - y - s for x, y, s in zip(a, b, shift)]
            r = math.hypot(*d)
            if 0 < r < reach / alpha:
                near = math.erfc(alpha * r) / r
                slope = near + 2 * alpha / math.sqrt(math.pi) * math.exp(-((alpha * r) ** 2))
                energy += charges[i] * charges[j] * near / 2
                for axis in range(3):
                    forces[i][axis] += charges[i] * charges[j] * slope * d[axis] / r**2
    most = [math.ceil(2 * alpha * reach * math.hypot(*row) / (2 * math.pi)) for row in vectors]
    for n in itertools.product(*(range(-m, m + 1) for m in most)):
        k = [2 * math.pi * x for x in combined(n, inverse)]
        if not any(n) or math.hypot(*k) > 2 * alpha * reach:
            continue
        factor = 4 * math.pi / volume / dot(k, k) * math.exp(-dot(k, k) / (4 * alpha**2))
        angles = [dot(k, point) for point in points]
        c, s = (dot(charges, map(f, angles)) for f in (math.cos, math.sin))
        energy += factor * (c * c + s * s) / 2
        for i, angle in enumerate(angles):
            push = charges[i] * factor * (c * math.sin(angle) - s * math.cos(angle))
            for axis in range(3):
                forces[i][axis] += push * k[axis]
    energy -= alpha / math.sqrt(math.pi) * dot(charges, charges)
    energy -= math.pi / (2 * alpha**2 * volume) * sum(charges) ** 2
    return energy, forces


def xyz(frame, pbc="T T T", column="charge"):
    vectors, points, charges = frame
    lattice = " ".join(repr(float(x)) for vector in vectors for x in vector)
    rows = [f"X {' '.join(map(repr, point))} {charge!r}" for point, charge in zip(points, charges)]
    head = f'Lattice="{lattice}" Properties=species:S:1:pos:R:3:{column}:R:1 pbc="{pbc}"'
    return "\n".join([str(len(points)), head, *rows]) + "\n"


class ElectrostaticsTest(mesh_support.MeshTest):
    COMMAND = "electrostatics"

    def put_frames(self, name, *frames, **more):
        return self.put(name, "".join(xyz(frame, **more) for frame in frames))

    def draw_frame(self, count, vectors):
        """A neutral system of points that are not too close to each other."""
        points = []
        while len(points) < count:
            point = combined([self.draw.uniform(-0.5, 1.5) for _ in range(3)], vectors)
            _, inverse = reciprocal(vectors)
            offsets = ([dot(row, [x - y for x, y in zip(point, other)]) for row in inverse] for other in points)
            nearest = ([f - round(f) for f in offset] for offset in offsets)
            if all(math.hypot(*combined(f, vectors)) > 0.25 for f in nearest):
                points.append(point)
        charges = [self.draw.uniform(-1, 1) for _ in range(count)]
        return vectors, points, [q - sum(charges) / count for q in charges]

    def forces(self, *arguments):
        self.quadrat("electrostatics", *arguments, "--device", "cpu", "--quiet", "-o", "forces.npy")
        return read_npy(self.folder / "forces.npy")

    def test_help_has_methods_examples_and_units(self):
        text = self.quadrat("electrostatics", "--help").stdout
        for word in ["Examples:", "--accuracy", "charge:R:1", "k q^2 / d^2", "--virial", "T T F", *self.names()]:
            self.assertIn(word, text)

    def names(self):
        return [method["name"] for method in json.loads(self.quadrat("info", "--json").stdout)["ewald"]["methods"]]

    def test_madelung_constants(self):
        face_centered = [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
        other_hand = [face_centered[k] for k in (1, 0, 2)]
        for name, vectors, edge, place, constant in [
            ("NaCl", face_centered, 2, [0.5, 0.5, 0.5], 1.747564594633182),
            ("NaCl left-handed", other_hand, 2, [0.5, 0.5, 0.5], 1.747564594633182),
            ("CsCl", CUBE, 2 / math.sqrt(3), [0.5, 0.5, 0.5], 1.762674773070988),
            ("ZnS", face_centered, 4 / math.sqrt(3), [0.25, 0.25, 0.25], 1.638055053388789),
        ]:
            with self.subTest(name):
                points = [[0.1, -0.2, 0.3], [a + edge * b for a, b in zip([0.1, -0.2, 0.3], place)]]
                self.put_frames("crystal.xyz", (scaled(vectors, edge), points, [1, -1]))
                found = self.result("crystal.xyz", "--method", "direct", "--accuracy", 1e-13)
                self.assertLess(abs(found["energy"] / -constant - 1), 1e-12)
                self.assertEqual((found["points"], found["systems"], found["method"]), (2, 1, "direct"))

    def test_every_method_gives_energy_and_forces(self):
        skewed = [[2.0, 0.2, 0.0], [1.0, 2.0, -0.3], [-0.7, 0.5, 2.2]]
        for vectors, method in itertools.product([scaled(CUBE, 2), skewed], [*self.names(), "auto"]):
            with self.subTest(vectors=vectors, method=method):
                frame = self.draw_frame(8, vectors)
                self.put_frames("a.xyz", frame)
                energy, expected = ewald(frame)
                options = ["a.xyz", "--method", method, "--accuracy", 1e-6]
                result = self.result(*options)
                self.assertLess(result["predicted_error"], 1.0001e-6)
                kind, shape, found = self.forces(*options)
                self.assertEqual((kind, shape), ("<f8", (8, 3)))
                off = [a - b for a, b in zip(found, itertools.chain(*expected))]
                # So few charges in so small a box: what is predicted is a mean over many.
                self.assertLess(math.hypot(*off) / math.sqrt(8), 3e-6 * result["reference_force"])
                self.assertLess(abs(result["energy"] - energy), 1e-5 * abs(energy))
                rms = math.hypot(*itertools.chain(*expected)) / math.sqrt(8)
                self.assertLess(abs(result["rms_force"] - rms), 1e-4 * rms)
                relative = result["predicted_error"] * result["reference_force"] / result["rms_force"]
                self.assertAlmostEqual(result["relative_error"], relative, delta=1e-9 * relative)

    def test_frames_are_systems(self):
        frames = [
            self.draw_frame(6, scaled(CUBE, 2)),
            self.draw_frame(9, [[2, 0, 0], [1, 2, 0], [0.5, -0.5, 2.5]]),
            self.draw_frame(1, scaled(CUBE, 3)),
        ]
        for k, frame in enumerate(frames):
            self.put_frames(f"{k}.xyz", frame)
        self.put_frames("all.xyz", *frames)
        options = ["--accuracy", 1e-8, "--virial"]
        whole = self.result("all.xyz", *options)
        single = [self.result(f"{k}.xyz", *options) for k in range(3)]
        self.assertEqual((whole["points"], whole["systems"]), (16, 3))
        self.assertNotIn("virial", whole)
        self.assertNotIn("energies", single[0])
        for energy, virial, one in zip(whole["energies"], whole["virials"], single):
            self.assertAlmostEqual(energy, one["energy"], delta=1e-6)
            for row, other in zip(virial, one["virial"]):
                for a, b in zip(row, other):
                    self.assertAlmostEqual(a, b, delta=1e-6)
        self.assertAlmostEqual(whole["energy"], sum(whole["energies"]), delta=1e-12)
        _, shape, forces = self.forces("all.xyz", *options)
        self.assertEqual(shape, (16, 3))
        expected = itertools.chain(*(self.forces(f"{k}.xyz", *options)[2] for k in range(3)))
        for a, b in zip(forces, expected):
            self.assertAlmostEqual(a, b, delta=1e-6)

    def test_energies_potentials_and_virial(self):
        frame = self.draw_frame(10, scaled(CUBE, 2))
        self.put_frames("a.xyz", frame, column="initial_charges")
        files = ["-o", "f.npy", "--energies", "e.npy", "--potentials", "p.npy"]
        result = self.result("a.xyz", "--accuracy", 1e-8, "--coulomb-constant", 14.4, "--virial", *files)
        self.assertEqual([result[key] for key in ("output", "energies_output", "potentials_output")], files[1::2])
        (_, shape, energies), (_, _, potentials) = read_npy(self.folder / "e.npy"), read_npy(self.folder / "p.npy")
        self.assertEqual(shape, (10,))
        self.assertAlmostEqual(result["energy"], 14.4 * ewald(frame)[0], delta=1e-5)
        self.assertAlmostEqual(sum(energies), result["energy"], delta=1e-6)
        for e, q, p in zip(energies, frame[2], potentials):
            self.assertAlmostEqual(e, q * p / 2, delta=1e-6)
        virial = result["virial"]
        self.assertAlmostEqual(sum(virial[k][k] for k in range(3)), result["energy"], delta=1e-5)  # of 1 / r
        for a, b in itertools.combinations(range(3), 2):
            self.assertAlmostEqual(virial[a][b], virial[b][a], delta=1e-9)

    def test_excluded_and_scaled_pairs(self):
        vectors, points, charges = frame = self.draw_frame(6, scaled(CUBE, 2))
        self.put_frames("a.xyz", frame)
        energy = self.result("a.xyz", "--accuracy", 1e-8)["energy"]

        def pair(i, j):
            d = [x - y - 2 * round((x - y) / 2) for x, y in zip(points[i], points[j])]
            return charges[i] * charges[j] / math.hypot(*d)

        self.put("pairs.txt", "# nothing\n\n0 3\n 5\t2 .25 # a quarter\r\n1,4,1\n")
        expected = energy - pair(0, 3) - 0.75 * pair(5, 2)
        found = self.result("a.xyz", "--accuracy", 1e-8, "--exclusions", "pairs.txt")
        self.assertAlmostEqual(found["energy"], expected, delta=1e-6)
        self.assertEqual(found["scaled_pairs"], 3)
        for descr in ["<i8", "<i4", "<u8", "<u4"]:
            self.put_array("pairs.npy", (2, 2), [0, 3, 5, 2], descr)
            found = self.result("a.xyz", "--accuracy", 1e-8, "--exclusions", "pairs.npy")
            self.assertAlmostEqual(found["energy"], energy - pair(0, 3) - pair(5, 2), delta=1e-6)
        self.put_frames("two.xyz", frame, frame)
        found = self.result("two.xyz", "--accuracy", 1e-8, "--exclusions", "pairs.txt")
        for one in found["energies"]:
            self.assertAlmostEqual(one, expected, delta=1e-6)
        self.put("none.txt", "# no pairs\n")
        self.assertEqual(self.result("a.xyz", "--exclusions", "none.txt")["scaled_pairs"], 0)

    def test_a_slab(self):
        """Planes of rock salt: the Madelung constant of the square lattice, whatever the thickness."""
        points = [[x + 0.5, y + 0.25, 0.5] for x in range(2) for y in range(2)]
        charges = [(-1) ** (k // 2 + k % 2) for k in range(4)]
        for thickness in (1, 3):
            vectors = [[2, 0, 0], [0, 2, 0], [0, 0, thickness]]
            self.put_frames("slab.xyz", (vectors, points, charges), pbc="T T F")
            found = self.result("slab.xyz", "--accuracy", 1e-9)
            self.assertAlmostEqual(found["energy"] / 2, -1.6155426267128247, delta=1e-7)

    def test_dispersion(self):
        self.put_frames("pair.xyz", (scaled(CUBE, 4), [[0, 0, 0], [1, 0.5, 0]], [1, 2]))

        def images(x):
            total = 0.0
            for n in itertools.product(range(-8, 9), repeat=3):
                square = sum((4 * a + b) ** 2 for a, b in zip(n, x))
                total += square**-3 if square > 0 else 0
            return total

        expected = -(5 / 2 * images([0, 0, 0]) + 2 * images([1, 0.5, 0]))
        found = self.result("pair.xyz", "--law", "dispersion", "--accuracy", 1e-6)
        self.assertEqual(found["law"], "dispersion")
        self.assertAlmostEqual(found["energy"] / expected, 1, delta=1e-4)

    def test_net_force_and_precision(self):
        frame = self.draw_frame(30, scaled(CUBE, 4))
        self.put_frames("a.xyz", frame)
        expected = [x for force in ewald(frame)[1] for x in force]
        for precision, descr, tolerance in [("float", "<f4", 1e-4), ("double", "<f8", 3e-5)]:
            options = ["a.xyz", "--accuracy", 1e-5, "--precision", precision, "--remove-net-force"]
            result = self.result(*options)
            self.assertEqual(result["precision"], precision)
            self.assertLess(result["net_force"], 30 * (1e-5 if precision == "float" else 1e-12) * result["rms_force"])
            kind, _, found = self.forces(*options)
            self.assertEqual(kind, descr)
            self.assertLess(mesh_support.difference(found, expected), tolerance)

    def test_given_parameters_are_used(self):
        self.put_frames("a.xyz", self.draw_frame(40, scaled(CUBE, 6)))
        options = ["--cutoff", 2.5, "--splitting", 1.25, "--mesh", "20,24,30", "--order", 5]
        found = self.result("a.xyz", "--method", "spme", *options)
        self.assertEqual([found[key] for key in ("method", "cutoff", "splitting", "mesh", "order")],
                         ["spme", 2.5, 1.25, [20, 24, 30], 5])  # fmt: skip
        self.assertGreater(found["predicted_error"], 1e-5)

    def test_the_same_bits_in_every_run(self):
        self.put_frames("a.xyz", self.draw_frame(100, scaled(CUBE, 5)))
        options = ["a.xyz", "--deterministic", "--accuracy", 1e-4]
        first = self.forces(*options, "--threads", 1)
        for threads in [2, 3]:
            self.assertEqual(self.forces(*options, "--threads", threads), first)

    def test_few_points(self):
        self.put("none.xyz", '0\nLattice="1 0 0 0 1 0 0 0 1" Properties=pos:R:3:charge:R:1\n')
        found = self.result("none.xyz", "-o", "f.npy", "--virial")
        self.assertEqual((found["points"], found["energy"], found["relative_error"]), (0, 0, None))
        self.assertEqual(read_npy(self.folder / "f.npy")[1], (0, 3))
        self.put_frames("one.xyz", (scaled(CUBE, 2), [[0, 0, 0]], [3]))
        found = self.result("one.xyz", "--accuracy", 1e-9)
        # In a background: half of 9 / 2 times the potential of a simple cubic lattice.
        self.assertAlmostEqual(found["energy"], -2.837297479480620 * 9 / 4, delta=1e-7)
        self.put_frames("neutral.xyz", (scaled(CUBE, 2), [[0, 0, 0], [1, 0, 0]], [0, 0]))
        found = self.result("neutral.xyz")
        self.assertEqual((found["energy"], found["rms_force"]), (0, 0))

    def test_what_is_printed(self):
        frame = self.draw_frame(20, scaled(CUBE, 3))
        self.put_frames("a.xyz", frame)
        self.put_frames("b.xyz", frame, frame)
        result = self.result("a.xyz", "-o", "f.npy")
        for key in ["prepare_ms", "compute_ms", "repetitions", "memory_bytes", "total_seconds"]:
            self.assertGreater(result["performance"][key], 0)
        for key in ["reason", "accuracy", "cutoff", "splitting", "net_force", "device", "program"]:
            self.assertIn(key, result)
        text = self.quadrat("electrostatics", "a.xyz", "--virial", "--device", "cpu", "-o", "f.npy").stdout
        for words in ["a.xyz: 20 points in 1 system\n", "energy ", "of the rms force", "virial ", "output      f.npy"]:
            self.assertIn(words, text)
        text = self.quadrat("electrostatics", "b.xyz", "--virial", "--device", "cpu").stdout
        for words in ["b.xyz: 40 points in 2 systems\n", " in total; systems from ", "virial 1 "]:
            self.assertIn(words, text)

    def test_refused_options(self):
        self.put_frames("a.xyz", self.draw_frame(20, scaled(CUBE, 3)))
        self.put("points.csv", "x,y,z\n0,0,0\n")
        for arguments, words in [
            (["points.csv"], "systems are read from .xyz, .extxyz and .gsd files; points.csv ends otherwise"),
            (["a.xyz", "--accuracy", 0], "accuracy is 0"),
            (["a.xyz", "--accuracy", "nan"], "accuracy is nan"),
            (["a.xyz", "--accuracy", 2], "accuracy is 2"),
            (["a.xyz", "--accuracy", 1e-12, "--precision", "float"], "1e-12"),
            (["a.xyz", "--coulomb-constant", "inf"], "--coulomb-constant is inf; it must be finite, and not 0"),
            (["a.xyz", "--coulomb-constant", 0], "--coulomb-constant is 0"),
            (["a.xyz", "--method", "spm"], "spme"),
            (["a.xyz", "--law", "gravity"], '"gravity" is not one of coulomb, dispersion'),
            (["a.xyz", "--cutoff", 0], "--cutoff is 0; it must be positive and finite"),
            (["a.xyz", "--cutoff", "nan"], "--cutoff is nan"),
            (["a.xyz", "--splitting", -1], "--splitting is -1"),
            (["a.xyz", "--mesh", "8,8"], "--mesh: there are 2 numbers; points in 3 dimensions need 3"),
            (["a.xyz", "--mesh", "8,0,8"], "--mesh: there are 0 mesh points along vector 2"),
            (["a.xyz", "--mesh", 22, "--method", "spme"], "22"),
            (["a.xyz", "--order", 0], "--order: 0 is not from 1 to"),
            (["a.xyz", "--order", 40, "--method", "spme"], "40"),
            (["a.xyz", "-o", "f.csv"], "--output: forces are written to .npy files; f.csv ends otherwise"),
            (["a.xyz", "--energies", "e.txt"], "--energies: energies are written to .npy files"),
            (["a.xyz", "--potentials", "a.npy", "-o", "./a.npy"], "--potentials: a.npy is the file of --output, too"),
            (["a.xyz", "-o", "-", "--json"], "cannot both go to standard output"),
            (["a.xyz", "--exclusions", "nowhere.txt"], "--exclusions: nowhere.txt does not exist"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_refused_files(self):
        good = '3\nLattice="2 0 0 0 2 0 0 0 2" Properties=pos:R:3:charge:R:1\n0 0 0 1\n1 0 0 -1\n1 1 0 2\n'
        for code, change, words in [
            (2, ('Lattice="2 0 0 0 2 0 0 0 2" ', ""), "a.xyz:2: there is no Lattice"),
            (2, ("Properties", 'pbc="T F T" Properties'), 'a.xyz:2: pbc is "T F T"; systems are periodic along all'),
            (2, ("Properties", 'pbc="F F F" Properties'), 'a.xyz:2: pbc is "F F F"'),
            (2, ("0 0 2\"", '0 0 0" pbc="T T F"'), "a.xyz:2: vector 3 of the Lattice is zero"),
            (2, ("0 2 0 0 0 2", "4 0 0 0 0 2"), "a.xyz:2: the lattice vectors span a volume of 0"),
            (1, (":charge:R:1", ":other:R:1"), "a.xyz:2: there are no charges; Properties must have charge:R:1"),
            (1, (":charge:R:1", ":charge:R:2"), "a.xyz:2: Properties must give charge as charge:R:1"),
            (1, ("1 0 0 -1", "1 0 0 nan"), 'a.xyz:4: column 4 (charge) is "nan"; charges must be finite'),
            (1, ("1 0 0 -1", "1 0 0"), "a.xyz:4: the line of an atom has 3 columns; expected 4"),
            (1, ("1 0 0 -1", "1 inf 0 1"), "a.xyz:4: point 1 "),
            (1, ("1 0 0 -1", "0 2 0 1"), "a.xyz:3: point"),  # an image of point 0
        ]:
            with self.subTest(words):
                self.put("a.xyz", good.replace(*change))
                self.assertIn(words, self.refusal("a.xyz", code=code))
                self.put("b.xyz", good + good.replace(*change))
                line = int(words[6]) + 5
                self.assertIn(f"b.xyz:{line}: ", self.refusal("b.xyz", code=code))
        self.put("a.xyz", good.replace("1 1 0 2", "1 1 0 1e300"))
        self.assertIn("a.xyz:5: point 2 has the charge 1e+300", self.refusal("a.xyz", "--precision", "float", code=1))

    def test_refused_pairs(self):
        self.put_frames("a.xyz", self.draw_frame(6, scaled(CUBE, 2)))
        for text, words in [
            ("0 1\n2 6\n", "pairs.txt:2: there is no point 6 in a frame; it has 6 points, which count from 0"),
            ("-1 2\n", "pairs.txt:1: there is no point -1"),
            ("3 3 0.5\n", "pairs.txt:1: point 3 stands twice in one pair"),
            ("0 1 2 3\n", 'pairs.txt:1: "0 1 2 3" is no pair; expected two points'),
            ("\n7\n", 'pairs.txt:2: "7" is no pair'),
            ("0 1.5\n", 'pairs.txt:1: "0 1.5" is no pair'),
            ("0 1 nan\n", 'pairs.txt:1: "0 1 nan" is no pair'),
            ("0 18446744073709551616\n", "is no pair"),
        ]:
            with self.subTest(text):
                self.put("pairs.txt", text)
                self.assertIn(words, self.refusal("a.xyz", "--exclusions", "pairs.txt", code=1))
        self.put_array("pairs.npy", (2, 2), [0, 1, 2, 2**64 - 1], "<u8")
        self.assertIn("pairs.npy: row 1: there is no point", self.refusal("a.xyz", "--exclusions", "pairs.npy", code=1))
        self.put_array("pairs.npy", (2, 3), [0, 1, 2, 3, 4, 5], "<u4")
        self.assertIn("shape (2, 3); pairs are N x 2", self.refusal("a.xyz", "--exclusions", "pairs.npy", code=1))
        self.put_array("pairs.npy", (1, 2), [0.0, 1.0])
        self.assertIn("holds float64; pairs are", self.refusal("a.xyz", "--exclusions", "pairs.npy", code=1))
        self.put("pairs.txt", "0 1\n2 3\n1 0\n")
        self.assertRegex(self.refusal("a.xyz", "--exclusions", "pairs.txt"), r"\b0\b.*\b1\b|\b1\b.*\b0\b")
        self.put_frames("b.xyz", self.draw_frame(6, scaled(CUBE, 2)), self.draw_frame(5, scaled(CUBE, 2)))
        self.assertIn("the frame at line 9 has 5 points, and the first one has 6",
                      self.refusal("b.xyz", "--exclusions", "pairs.txt"))  # fmt: skip


if __name__ == "__main__":
    support.main()
