# SPDX-License-Identifier: BSD-3-Clause
"""Errors in data are reported with their place: the line of a text file, the index in an array."""

import json
import struct

import support

NAN, INF = float("nan"), float("inf")
LETTERS = {"f4": "f", "f8": "d", "c16": "d", "i8": "q", "i4": "i", "O": "q", "f2": "e"}


def npy(numbers, shape, descr="<f8", fortran_order=False):
    """An array as NumPy would write it; `numbers` in the order of the file."""
    order, letter = descr[0].replace("|", "<"), LETTERS[descr[1:]]
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    data = struct.pack(f"{order}{len(numbers)}{letter}", *numbers)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def flat(rows):
    return [number for row in rows for number in row]


class DataErrorsTest(support.ProgramTest):
    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return name

    def refusal(self, *arguments, code=1):
        line = self.fails(*arguments, "--device", "cpu", code=code)
        self.assertLess(len(line), 300, line)
        return line

    def takers_of_points(self):
        """Every command that reads points, with its other arguments."""
        self.put("mesh.npy", npy([1.0] * 64, (4, 4, 4)))
        return [
            ["neighbors", "--cutoff", 0.1],
            ["clusters", "--cutoff", 0.1],
            ["spread", "--mesh", 4, "--order", 1],
            ["interpolate", "--order", 1, "--mesh-values", "mesh.npy"],
        ]

    def test_points_that_are_not_finite(self):
        rows = [[0.5, 0.5, 0.5], [0.25, 0.5, 0.5], [0.5, NAN, 0.5]]
        self.put("a.npy", npy(flat(rows), (3, 3)))
        self.put("a.csv", "# made by hand\nname,x,y,z\n\na,0.5,0.5,0.5\nb,0.25,.5,.5\n# c\nc,0.5,nan,0.5\n")
        self.put("a.xyz", '3\nLattice="1 0 0 0 1 0 0 0 1"\nH .5 .5 .5\nH .25 .5 .5\nH .5 inf .5\n')
        for command in self.takers_of_points():
            for name, place in [("a.npy", "a.npy: point 2 at (0.5, nan"), ("a.csv", "a.csv:7: point 2 at (0.5, nan"),
                                ("a.xyz", "a.xyz:5: point 2 at (0.5, inf")]:  # fmt: skip
                with self.subTest(command=command, name=name):
                    self.assertIn(place, self.refusal(*command, name))

    def test_points_that_float_cannot_hold(self):
        self.put("a.csv", "x,y,z\n0.5,0.5,0.5\n0.5,1e300,0.5\n")
        for command in self.takers_of_points():
            line = self.refusal(*command, "a.csv", "--box", "1,1,1", "--precision", "float")
            self.assertIn("a.csv:3: point 1 has the coordinate 1e+300, which float cannot hold", line)

    def test_points_outside_of_an_open_box(self):
        self.put("a.csv", "x,y,z\n0.5,0.5,0.5\n0.5,0.5,0.5\n0.5,2.5,0.5\n")
        for command in self.takers_of_points():
            line = self.refusal(*command, "a.csv", "--box", "1,1,1", "--periodic", "none")
            self.assertIn("a.csv:4: point 2 at (0.5, 2.5, 0.5) ", line)

    def test_bodies(self):
        self.put("a.csv", "x,y,z,radius,note\n1,1,1,0.5,\n\n2,2,2,3,long\n")
        self.assertIn("a.csv:4: body 1", self.refusal("contacts", "a.csv", "--box", "4,4,4", "--periodic", "xyz"))
        self.put("b.csv", "x,y,z,radius\n1,1,1,0.5\n1e300,1,1,0.5\n")
        self.assertIn("b.csv:3: body 1", self.refusal("contacts", "b.csv", "--precision", "float"))
        self.put("c.npy", npy([0.5] * 4, (1, 4)))
        self.assertIn("bodies are read from .csv files; c.npy", self.refusal("contacts", "c.npy", code=2))

    def test_keys_and_values(self):
        self.put("keys.npy", npy([3, 1, 2], (3,), "<i8"))
        self.put("values.npy", npy([1, 2, 3, 4, 5, 1e300], (3, 2)))
        for arguments, words in [
            (["--keys", 3], "keys.npy: element [0] is 3; keys are 0 to 2 (--keys)"),
            (["--method", "ordered"], "keys.npy: element 1 has the key 1, less than the key 3 before it"),
            (["--precision", "float"], "values.npy: element [2, 1] is 1e+300, which float cannot hold"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal("reduce", "keys.npy", "values.npy", *arguments))

    def test_lattices(self):
        comment = 'Lattice="{}" pbc="T T T"'
        for vectors, words in [
            ("1 0 0 0 1 0 0 0 0", "a.xyz:2: vector 3 of the Lattice is zero, but its axis is periodic"),
            ("1 0 0 2 0 0 0 0 1", "a.xyz:2: "),
            ("1 0 0 nan 1 0 0 0 1", "a.xyz:2: "),
        ]:
            with self.subTest(vectors):
                self.put("a.xyz", f"1\n{comment.format(vectors)}\nH 0 0 0\n")
                line = self.fails("neighbors", "a.xyz", "--cutoff", 0.1, "--device", "cpu", code=2)
                self.assertIn(words, line)
        self.put("a.xyz", f"1\n{comment.format('1 0 0 0 1 0 0 0.5 1')}\nH 0 0 0\n")
        self.assertIn("a.xyz:2: vector 3", self.refusal("spread", "a.xyz", "--mesh", 4, code=2))
        self.put("a.xyz", '1\npbc="T T T"\nH 0 0 0\n')
        self.assertIn("a.xyz:2: pbc says", self.refusal("neighbors", "a.xyz", "--cutoff", 1, code=2))

    def test_arrays_of_other_types(self):
        rows = [[0.25, 0.5, 0.75], [0.5, 0.125, 0.5]]
        for name, contents, words in [
            ("int.npy", npy([1, 2, 3], (1, 3), "<i8"), "holds int64; points are float32 or float64"),
            ("complex.npy", npy([1.0] * 6, (1, 3), "<c16"), "holds complex128; points are"),
            ("object.npy", npy([1] * 3, (1, 3), "|O"), 'type is "|O"; bool, int8 to int64'),
            ("half.npy", npy([1] * 3, (1, 3), "<f2"), 'type is "<f2"; bool, int8 to int64'),
            ("long.npy", npy([0.5] * 4, (1, 4)), "has shape (1, 4); points are"),
            ("zip.npy", b"PK\x03\x04" + b"0" * 60, "zip.npy: this is a .npz archive"),
        ]:
            for command in self.takers_of_points():
                with self.subTest(command=command, name=name):
                    self.assertIn(words, self.refusal(*command, self.put(name, contents)))
        self.put("blocks.npy", npy([0.5] * 4, (1, 2, 2)))
        line = self.refusal("neighbors", "blocks.npy", "--cutoff", 1)
        self.assertIn("has shape (1, 2, 2); points are N, N x 1, N x 2 or N x 3", line)
        # Either byte order and either order of the axes are the same points.
        counts = []
        for contents in [
            npy(flat(rows), (2, 3)),
            npy(flat(rows), (2, 3), ">f8"),
            npy(flat(zip(*rows)), (2, 3), fortran_order=True),
        ]:
            self.put("a.npy", contents)
            self.quadrat("neighbors", "a.npy", "--cutoff", 9, "--device", "cpu", "-o", "out.csv", "--quiet")
            counts.append((self.folder / "out.csv").read_bytes())
        self.assertEqual(counts, counts[:1] * 3)

    def test_tables_with_more_than_numbers(self):
        self.put("plain.csv", "x,y,z\n0.5,0.5,0.5\n0.25,0.5,0.5\n")
        self.put("full.csv", '\ufeff"",species,"x","y","z","a ""note"""\r\n0,H,"0.5"," 0.5",0.5,"1, 2\r\n3"\r\n'
                             "1,O , 0.25 ,.5,0.5,\r\n")  # fmt: skip
        self.put("semicolons.csv", "x;y;z\n0.5;0.5;0.5\n0.25;0.5;0.5\n")
        files = set()
        for name in ("plain.csv", "full.csv", "semicolons.csv"):
            self.quadrat("neighbors", name, "--cutoff", 1, "--device", "cpu", "--quiet", "-o", "out.csv")
            files.add((self.folder / "out.csv").read_bytes())
        self.assertEqual(len(files), 1)
        for text, words in [
            ("id,x,y\n1,2,\n", "a.csv:2: column 3 (y) is empty"),
            ('x,y,note\n1,2,"one\ntwo"\n3,four,\n', 'a.csv:4: column 2 (y) is "four"'),
            ('x,y\n1,"2\n', "a.csv:2: a quote has no end"),
            ("u v w\n1 2 3\n", 'a.csv: there is no column "x"; there are "u v w"'),
        ]:
            with self.subTest(text):
                self.assertIn(words, self.refusal("neighbors", self.put("a.csv", text), "--cutoff", 1))

    def test_frames_behind_the_first(self):
        frame = '1\nLattice="1 0 0 0 1 0 0 0 1"\nH 0.5 0.5 0.5\n'
        self.put("one.xyz", frame)
        self.put("three.xyz", 3 * frame)
        self.put("more.xyz", frame + "H 0.5 0.5 0.5\n")
        self.put("mesh.npy", npy([1.0] * 64, (4, 4, 4)))
        for command in self.takers_of_points():
            with self.subTest(command):
                for name, frames in [("one.xyz", 1), ("three.xyz", 3)]:
                    done = self.quadrat(*command, name, "--device", "cpu", "--json")
                    self.assertEqual(json.loads(done.stdout)["points"]["frames"], frames)
                    note = "" if frames == 1 else "quadrat: note: three.xyz has 3 frames; the first is read\n"
                    self.assertEqual(done.stderr, note)
                self.assertEqual(self.quadrat(*command, "three.xyz", "--device", "cpu", "--quiet").stderr, "")
                self.assertIn('more.xyz:4: "H 0.5 0.5 0.5" follows frame 1', self.refusal(*command, "more.xyz"))

    def test_checkpoints(self):
        self.run_scene("out", "--steps", 20)
        checkpoint = self.folder / "out" / "checkpoint.bin"
        whole = checkpoint.read_bytes()
        for contents, words in [
            (b"", "out/checkpoint.bin: truncated"),
            (whole[:-1], "out/checkpoint.bin: truncated"),
            (b"quadratc" + whole[8:], "out/checkpoint.bin: not a Quadrat checkpoint"),
            (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "out/checkpoint.bin: damaged"),
        ]:
            with self.subTest(words):
                checkpoint.write_bytes(contents)
                line = self.fails("run", self.scene, "--output", "out", "--steps", 40, "--resume", code=1)
                self.assertIn(words, line)


if __name__ == "__main__":
    support.main()
