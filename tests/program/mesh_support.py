# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of quadrat spread and quadrat interpolate: .npy files, and a few plain lines that say what both
compute."""

import ast
import itertools
import json
import math
import os
import random
import resource
import select
import signal
import struct
import subprocess

import support

KINDS = {"<f4": "f", "<f8": "d", "<c8": "f", "<c16": "d", "<i4": "i", "<i8": "q", "<u4": "I", "<u8": "Q"}


def npy(shape, numbers, descr="<f8"):
    """An array as NumPy would write it; `numbers` in C order, complex for complex types."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (descr, ", ".join(map(str, shape)))
    header = header.ljust(64 * math.ceil((len(header) + 11) / 64) - 11) + "\n"
    if "c" in descr:
        numbers = [part for number in numbers for part in (number.real, number.imag)]
    data = struct.pack(f"<{len(numbers)}{KINDS[descr]}", *numbers)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(file):
    """Type, shape and numbers."""
    data = file.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    header, payload = ast.literal_eval(data[10 : 10 + length].decode()), data[10 + length :]
    if header["fortran_order"] or (10 + length) % 64 != 0:
        raise ValueError(header)
    kind = KINDS[header["descr"]]
    numbers = struct.unpack(f"<{len(payload) // struct.calcsize(kind)}{kind}", payload)
    if "c" in header["descr"]:
        numbers = [complex(*pair) for pair in zip(numbers[0::2], numbers[1::2])]
    if len(numbers) != math.prod(header["shape"]):
        raise ValueError(f"{header} has {len(numbers)} numbers")
    return header["descr"], header["shape"], list(numbers)


def rounded(numbers, descr):
    """Rounded to that type."""
    kind = KINDS[descr]

    def one(number):
        return struct.unpack(f"<{kind}", struct.pack(f"<{kind}", number))[0]

    return [complex(one(z.real), one(z.imag)) if "c" in descr else one(z) for z in numbers]


def bspline(order, x):
    """The cardinal B-spline on [0, order]."""
    if order == 1:
        return 1.0 if 0 <= x < 1 else 0.0
    return (x * bspline(order - 1, x) + (order - x) * bspline(order - 1, x - 1)) / (order - 1)


class Mesh:
    """A box with a mesh, and which points contribute to which mesh points."""

    def __init__(self, extents, lengths, order, origin=None, periodic=None):
        self.extents, self.lengths, self.order = extents, lengths, order
        self.origin = origin or [0.0] * len(extents)
        self.periodic = [True] * len(extents) if periodic is None else periodic

    def axis_weights(self, x, axis):
        """(mesh point, weight, derivative by position) of a footprint; what leaves an open mesh is left out."""
        n, p = self.extents[axis], self.order
        u = (x - self.origin[axis]) * n / self.lengths[axis]
        first = math.floor(u - p / 2) + 1
        for k in range(first, first + p):
            at = u - k + p / 2
            slope = bspline(p - 1, at) - bspline(p - 1, at - 1) if p > 1 else 0.0
            if self.periodic[axis] or 0 <= k < n:
                yield k % n, bspline(p, at), slope * n / self.lengths[axis]

    def weights(self, point):
        """(mesh point, weight, gradient of the weight) of all mesh points of a footprint."""
        axes = [list(self.axis_weights(x, axis)) for axis, x in enumerate(point)]
        for parts in itertools.product(*axes):
            node = 0
            for axis, part in enumerate(parts):
                node = node * self.extents[axis] + part[0]
            gradient = [
                math.prod(part[2] if axis == k else part[1] for axis, part in enumerate(parts))
                for k in range(len(parts))
            ]
            yield node, math.prod(part[1] for part in parts), gradient

    def spread(self, points, values):
        mesh = [0.0] * math.prod(self.extents)
        for point, value in zip(points, values):
            for node, weight, _ in self.weights(point):
                mesh[node] += weight * value
        return mesh

    def interpolate(self, points, mesh):
        return [sum(weight * mesh[node] for node, weight, _ in self.weights(point)) for point in points]

    def gradient(self, points, mesh):
        """The components one after another."""
        result = []
        for point in points:
            terms = list(self.weights(point))
            result += [sum(gradient[k] * mesh[node] for node, _, gradient in terms) for k in range(len(point))]
        return result


def difference(found, expected):
    """The relative l2 error."""
    return math.sqrt(sum(abs(a - b) ** 2 for a, b in zip(found, expected)) / sum(abs(b) ** 2 for b in expected))


# The tolerance of the computation in a type against the reference above.
TOLERANCE = {"<f4": 1e-6, "<c8": 1e-6, "<f8": 1e-13, "<c16": 1e-13}


class MeshTest(support.ProgramTest):
    COMMAND = ""

    def setUp(self):
        super().setUp()
        self.draw = random.Random(len(self.COMMAND))

    def put(self, name, contents):
        file = self.folder / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return file

    def put_array(self, name, shape, numbers, descr="<f8"):
        return self.put(name, npy(shape, numbers, descr))

    def draw_values(self, count, descr="<f8"):
        """Values of that type, around 0."""
        draw = self.draw.uniform
        numbers = [complex(draw(-1, 1), draw(-1, 1)) if "c" in descr else draw(-1, 1) for _ in range(count)]
        return rounded(numbers, descr)

    def draw_points(self, count, lengths, descr="<f8", origin=None):
        origin = origin or [0.0] * len(lengths)
        return [
            rounded([low + self.draw.random() * length for low, length in zip(origin, lengths)], descr)
            for _ in range(count)
        ]

    def put_points(self, name, points, descr="<f8"):
        return self.put_array(name, (len(points), len(points[0])), [x for point in points for x in point], descr)

    def result(self, *arguments):
        """Runs with --json and returns the document."""
        done = self.quadrat(self.COMMAND, *arguments, "--device", "cpu", "--json")
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def refusal(self, *arguments, code=2):
        return self.fails(self.COMMAND, *arguments, "--device", "cpu", code=code)

    def methods(self):
        """Names from `quadrat info` of those that can be requested and run on the CPU."""
        methods = json.loads(self.quadrat("info", "--json").stdout)["mesh"]["methods"]
        return [method for method in methods if method["cpu"] and not method["wrong_results"]]

    def assert_near(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        self.assertLess(difference(found, expected), tolerance)

    def assert_interrupted(self, output, *arguments):
        """Ctrl-C arrives while the output goes to a pipe that nobody reads."""
        os.mkfifo(self.folder / output)
        reader = os.open(self.folder / output, os.O_RDONLY | os.O_NONBLOCK)
        command = self.command(self.COMMAND, *arguments, "--device", "cpu", "-o", output)
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(select.select([reader], [], [], 60)[0])
        process.send_signal(signal.SIGINT)
        out, problem = process.communicate(timeout=60)
        os.close(reader)
        self.assertEqual(process.returncode, 130, problem)
        self.assertEqual((out, problem), ("", "quadrat: stopped by Ctrl-C; files that had been written before are whole\n"))
        (self.folder / output).unlink()

    def assert_full_disk_is_reported(self, output, *arguments):
        """The older file stays, and nothing else."""
        def at_most_64_kilobytes():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing then fails with EFBIG

        (self.folder / output).write_text("older")
        command = self.command(self.COMMAND, *arguments, "--device", "cpu", "-o", output)
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, preexec_fn=at_most_64_kilobytes,
            restore_signals=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"quadrat: cannot write {output}: File too large\n")
        self.assertEqual((self.folder / output).read_text(), "older")
        self.assertEqual([file.name for file in self.folder.glob(".*")], [])
