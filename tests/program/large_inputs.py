# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that take a long time or much memory."""

import array
import random

import support


def npy(numbers, shape, kind="<f4"):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + numbers


class LargeInputTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.scene.unlink()

    def put(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def random_points(self, count):
        draw = random.Random(count)
        block = array.array("f", (draw.random() for _ in range(3 * 1000)))
        # Each thousand is slightly shifted from the others.
        parts = [array.array("f", (0.999 * x + 1e-3 * k * 1000 / count for x in block)) for k in range(count // 1000)]
        return self.put("points.npy", npy(b"".join(part.tobytes() for part in parts), (count, 3)))

    def random_spheres(self, count):
        draw = random.Random(count)
        rows = (",".join(f"{draw.random():.6f}" for _ in range(3)) + ",0.001\n" for _ in range(count))
        return self.put("spheres.csv", ("x,y,z,radius\n" + "".join(rows)).encode())
