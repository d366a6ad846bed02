# SPDX-License-Identifier: BSD-3-Clause
"""quadrat reduce: what it reads, what it writes, and what it says."""

import ast
import json
import math
import random
import resource
import struct
import subprocess
import unittest

import mesh_support
import support

try:
    import numpy as np
except ImportError:
    np = None

CODES = {
    "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q", "|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q",
    "<f4": "f", "<f8": "d",
}  # fmt: skip
INTEGERS = [descr for descr in CODES if "f" not in descr]


def npy(numbers, descr, shape=None):
    """An array as NumPy would write it."""
    shape = (len(numbers),) if shape is None else shape
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (descr, ", ".join(map(str, shape)))
    header = header.ljust(64 * math.ceil((len(header) + 11) / 64) - 11) + "\n"
    return (
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
        + struct.pack(f"<{len(numbers)}{CODES[descr]}", *numbers)
    )  # fmt: skip


def read_npy(file):
    """Type, shape and numbers."""
    data = file.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    header, payload = ast.literal_eval(data[10 : 10 + length].decode()), data[10 + length :]
    numbers = struct.unpack(f"<{math.prod(header['shape'])}{CODES[header['descr']]}", payload)
    return header["descr"], header["shape"], list(numbers)


def reduced(operation, keys, values, count):
    """One component, in Python's numbers; None for a key without elements."""
    groups = [[] for _ in range(count)]
    for key, value in zip(keys, values):
        groups[key].append(value)
    fold = {"sum": sum, "min": min, "max": max, "mean": lambda group: sum(group) / len(group), "count": len}[operation]
    return [fold(group) if group or operation in ("sum", "count") else None for group in groups]


class ReduceTest(mesh_support.MeshTest):
    COMMAND = "reduce"

    def setUp(self):
        super().setUp()
        self.draw = random.Random(6)

    def put(self, name, numbers, descr, shape=None):
        file = self.folder / name
        file.write_bytes(npy(numbers, descr, shape))
        return file

    def reduce(self, *arguments):
        """Runs, and returns type, shape and numbers of the results."""
        self.quadrat("reduce", *arguments, "--device", "cpu", "--quiet", "-o", "out.npy")
        return read_npy(self.folder / "out.npy")

    def refusal(self, *arguments, code=1):
        message = self.fails("reduce", *arguments, "--device", "cpu", "-o", "out.npy", code=code)
        self.assertFalse((self.folder / "out.npy").exists())
        return message

    def methods(self):
        info = json.loads(self.quadrat("info", "--json").stdout)
        return [method for method in info["keyed"]["methods"] if method["cpu"]]

    def draw_keys(self, count, bound):
        return [self.draw.randrange(bound) for _ in range(count)]

    def assert_reduced(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            if other is not None:
                self.assertTrue(math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-5), (one, other))

    def test_help_has_examples_and_methods(self):
        text = self.quadrat("reduce", "--help").stdout
        for word in ["Examples:", "KEYS", "VALUES", "--op", "--keys", "--method", "--compensated", "auto"]:
            self.assertIn(word, text)
        for method in self.methods():
            self.assertRegex(text, rf"\n  {method['name']} +cpu")

    def test_every_operation_type_and_number_of_components(self):
        count, bound = 300, 40
        keys = self.draw_keys(count, bound)
        file = self.put("keys.npy", keys, "<i8")
        for descr in ("<i4", "<i8", "<f4", "<f8"):
            for components in (1, 3, 8):
                numbers = [self.draw.randrange(-1000, 1000) for _ in range(count * components)]
                values = self.put("values.npy", numbers, descr, (count, components))
                for operation in ("sum", "min", "max", "mean"):
                    with self.subTest(type=descr, components=components, operation=operation):
                        stored, shape, found = self.reduce(file, values, "--op", operation, "--keys", bound + 2)
                        self.assertEqual(shape, (bound + 2, components))
                        self.assertEqual(stored, "<f8" if operation == "mean" and "i" in descr else descr)
                        for c in range(components):
                            expected = reduced(operation, keys, numbers[c::components], bound + 2)
                            self.assert_reduced(found[c::components], expected)

    def test_one_axis_gives_one_axis(self):
        keys, values = self.put("keys.npy", [1, 0, 1], "<i4"), self.put("values.npy", [1.5, 2.5, -4], "<f8")
        self.assertEqual(self.reduce(keys, values), ("<f8", (2,), [2.5, -2.5]))
        column = self.put("column.npy", [1.5, 2.5, -4], "<f8", (3, 1))
        self.assertEqual(self.reduce(keys, column), ("<f8", (2, 1), [2.5, -2.5]))

    def test_counts_need_no_values(self):
        keys = self.draw_keys(1000, 30)
        file = self.put("keys.npy", keys, "<u4")
        self.assertEqual(self.reduce(file, "--op", "count"), ("<i8", (30,), reduced("count", keys, keys, 30)))
        self.assertEqual(self.reduce(file, "--op", "count", "--keys", 50)[2], reduced("count", keys, keys, 50))

    def test_keys_of_every_integer_type(self):
        keys = self.draw_keys(100, 100)
        values = self.put("values.npy", list(range(100)), "<i8")
        for descr in INTEGERS:
            with self.subTest(type=descr):
                found = self.reduce(self.put("keys.npy", keys, descr), values, "--keys", 100)
                self.assertEqual(found, ("<i8", (100,), reduced("sum", keys, range(100), 100)))

    def test_small_integers_do_not_wrap_around(self):
        keys = self.put("keys.npy", [0] * 300, "|u1")
        for descr in ("|i1", "<i2", "|u1", "<u2", "<u4"):
            values = self.put("values.npy", [100] * 300, descr)
            self.assertEqual(self.reduce(keys, values), ("<i8", (1,), [30000]))

    def test_keys_without_elements(self):
        keys, values = self.put("keys.npy", [1], "<i8"), self.put("values.npy", [5.0], "<f8")
        results = {op: self.reduce(keys, values, "--op", op, "--keys", 2)[2][0] for op in ("sum", "min", "max", "mean")}
        self.assertTrue(math.isnan(results.pop("mean")))
        self.assertEqual(results, {"sum": 0, "min": math.inf, "max": -math.inf})
        whole = self.put("values.npy", [5], "<i4")
        self.assertEqual(self.reduce(keys, whole, "--op", "min", "--keys", 2)[2], [2**31 - 1, 5])

    def test_no_elements(self):
        keys, values = self.put("keys.npy", [], "<i8"), self.put("values.npy", [], "<f8")
        self.assertEqual(self.reduce(keys, values, "--keys", 3), ("<f8", (3,), [0, 0, 0]))
        self.assertEqual(self.reduce(keys, "--op", "count", "--keys", 2)[2], [0, 0])
        (self.folder / "out.npy").unlink()
        self.assertIn("keys.npy: there are no keys", self.refusal(keys, values))

    def test_precision(self):
        keys, values = self.put("keys.npy", [0, 0], "<i8"), self.put("values.npy", [1, 3], "<i8")
        for descr, precision in (("<f4", "float"), ("<f8", "double")):
            self.assertEqual(self.reduce(keys, values, "--precision", precision), (descr, (1,), [4]))
        (self.folder / "out.npy").unlink()
        huge = self.put("huge.npy", [1, 1e300], "<f8")
        self.assertIn("element [1] is 1e+300, which float cannot hold", self.refusal(keys, huge, "--precision", "float"))

    def test_every_method_gives_the_same(self):
        keys = sorted(self.draw_keys(2000, 300))
        numbers = [self.draw.randrange(100) for _ in keys]
        file, values = self.put("keys.npy", keys, "<i4"), self.put("values.npy", numbers, "<f4")
        expected = reduced("sum", keys, numbers, 300)
        for method in ["auto", *(method["name"] for method in self.methods())]:
            with self.subTest(method=method):
                found = self.reduce(file, values, "--keys", 300, "--method", method)
                self.assertEqual(found, ("<f4", (300,), expected))
        (self.folder / "out.npy").unlink()
        self.assertIn("auto", self.refusal(file, values, "--method", "magic", code=2))

    def test_deterministic_sums_do_not_depend_on_threads(self):
        keys = self.put("keys.npy", self.draw_keys(20000, 10), "<i4")
        values = self.put("values.npy", [self.draw.random() for _ in range(20000)], "<f4")
        levels = {method["deterministic"] for method in self.methods() if method["any_order"]}
        self.assertIn("run_to_run", levels)
        for level in levels - {"none"}:
            results = [self.reduce(keys, values, f"--deterministic={level}", "--threads", n) for n in (1, 2, 5)]
            self.assertEqual(results[0], results[1])
            self.assertEqual(results[0], results[2])
        if "canonical" not in levels:
            (self.folder / "out.npy").unlink()
            self.assertIn("ask for run_to_run", self.refusal(keys, values, "--deterministic=canonical", code=2))

    def test_compensated_sums_lose_nothing(self):
        values = self.put("values.npy", [1e16, *([1.0] * 1000), -1e16], "<f8")
        keys = self.put("keys.npy", [0] * 1002, "<i4")
        self.assertEqual(self.reduce(keys, values, "--compensated")[2], [1000])

    def test_what_has_no_rounding_is_not_compensated(self):
        keys = self.put("keys.npy", [0, 1, 0], "<i4")
        values = self.put("values.npy", [1, 2, 3], "<i4")
        words = "holds int32, whose sums have no rounding to compensate; leave it out, or ask for --precision double"
        self.assertIn(words, self.refusal(keys, values, "--compensated", code=2))
        self.assertIn("--op max has nothing to compensate",
                      self.refusal(keys, values, "--compensated", "--op", "max", code=2))  # fmt: skip
        self.assertEqual(self.reduce(keys, values, "--compensated", "--precision", "double")[2], [4, 2])
        self.assertEqual(self.reduce(keys, values, "--compensated", "--op", "mean")[2], [2, 2])

    def test_summary_for_people_and_programs(self):
        keys, values = self.put("keys.npy", [1, 0, 1], "<i2"), self.put("values.npy", [1, 2, 3, 4, 5, 6], "<f4", (3, 2))
        text = self.quadrat("reduce", keys, values, "--op", "max", "--device", "cpu", "-o", "out.npy").stdout
        for word in ["3 elements, max by 2 keys", "2 components", "float32", "out.npy"]:
            self.assertIn(word, text)
        done = self.quadrat("reduce", keys, values, "--device", "cpu", "--threads", 1, "--json")
        self.assertEqual(done.stderr, "")
        result = json.loads(done.stdout)
        self.assertEqual(result["keys"], {"file": str(keys), "type": "int16", "elements": 3, "count": 2})
        self.assertEqual(result["values"], {"file": str(values), "type": "float32", "components": 2})
        self.assertEqual(result["device"]["threads"], 1)
        self.assertEqual((result["reduce"]["op"], result["reduce"]["type"]), ("sum", "float32"))
        self.assertIn(result["reduce"]["method"], [method["name"] for method in self.methods()])
        self.assertIn("keys were not sampled, for so little work so far", result["reduce"]["reason"])
        self.assertGreater(result["performance"]["memory_bytes"], 0)
        self.assertIsNone(result["output"])
        counts = json.loads(self.quadrat("reduce", keys, "--op", "count", "--device", "cpu", "--json").stdout)
        self.assertIsNone(counts["values"])
        self.assertEqual(self.quadrat("reduce", keys, values, "--device", "cpu", "--quiet").stdout, "")

    def test_keys_that_cannot_be(self):
        values = self.put("values.npy", [1.0, 2.0, 3.0], "<f8")
        for keys, descr, arguments, words in [
            ([0, -7, 1], "<i4", [], "element [1] is -7; keys are 0 to 2147483646"),
            ([0, 1, 12], "<u1", ["--keys", 10], "element [2] is 12; keys are 0 to 9 (--keys)"),
            ([0, 2**63, 1], "<u8", [], "element [1] is 9223372036854775808; keys are 0 to 2147483646"),
            ([0.0, 1.0, 2.0], "<f8", [], "the array holds float64; keys are integers"),
        ]:
            file = self.put("keys.npy", keys, descr.replace("<u1", "|u1"))
            self.assertIn(words, self.refusal(file, values, *arguments))
        square = self.put("square.npy", [0, 1, 2, 3], "<i4", (2, 2))
        self.assertIn("the array has shape (2, 2); keys have shape (n,)", self.refusal(square, values))

    def test_values_that_cannot_be(self):
        keys = self.put("keys.npy", [0, 1, 2], "<i8")
        for numbers, descr, shape, words in [
            ([1, 2, 3], "<u8", None, "the array holds uint64; values are int32, int64, float32, float64 or smaller"),
            ([1, 2], "<f8", None, "the array has shape (2,); values of 3 elements have shape (3,) or (3, 1 to 8)"),
            ([0] * 27, "<f8", (3, 9), "the array has shape (3, 9)"),
            ([], "<f8", (3, 0), "the array has shape (3, 0)"),
            ([0] * 3, "<f8", (3, 1, 1), "the array has shape (3, 1, 1)"),
        ]:
            self.assertIn(words, self.refusal(keys, self.put("values.npy", numbers, descr, shape)))
        whole = npy([1.0, 2.0, 3.0], "<f8")
        for cut, words in ((len(whole) - 1, "cut short"), (20, "cut short"), (0, "the file is empty")):
            (self.folder / "values.npy").write_bytes(whole[:cut])
            self.assertIn(words, self.refusal(keys, self.folder / "values.npy"))

    def test_wrong_command_lines(self):
        keys, values = self.put("keys.npy", [0], "<i8"), self.put("values.npy", [1.0], "<f8")
        text = self.folder / "keys.txt"
        text.write_text("0\n")
        for arguments, words in [
            ([], "KEYS is missing: .npy"),
            ([keys], "--op sum needs VALUES"),
            ([keys, values, "--op", "count"], "--op count takes no VALUES"),
            ([keys, "--op", "count", "--precision", "float"], "--precision"),
            ([keys, values, "--op", "median"], "--op"),
            ([keys, values, "--keys", 0], "--keys"),
            ([keys, values, "--keys", 2**31], "--keys"),
            ([keys, "nowhere.npy"], "nowhere.npy"),
            ([text, values], "keys are read from .npy files"),
            ([keys, values, "--method", "atomic", "--deterministic"], "atomic"),
            ([keys, values, "--device", "tpu"], "--device"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.fails("reduce", *arguments, code=2))
        self.assertIn("ends otherwise", self.fails("reduce", keys, values, "-o", "out.csv", code=2))
        self.assertIn("is the file that is read", self.fails("reduce", keys, values, "-o", "keys.npy", code=2))

    def test_output_that_cannot_be_written_leaves_the_older_file(self):
        keys = self.put("keys.npy", [0], "<i8")
        self.assert_full_disk_is_reported("out.npy", keys, "--op", "count", "--keys", 100000)
        (self.folder / "file").write_text("no folder")
        message = self.fails("reduce", keys, "--op", "count", "--device", "cpu", "-o", "file/a.npy", code=1)
        self.assertIn("cannot create the folder", message)

    def test_ctrl_c_leaves_whole_files(self):
        keys = self.put("keys.npy", [0], "<i8")
        self.assert_interrupted("out.npy", keys, "--op", "count", "--keys", 2000000)

    def test_too_little_memory_is_said_in_one_line(self):
        def at_most_a_gigabyte():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        def run(*arguments):
            return subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True,
                                  preexec_fn=at_most_a_gigabyte)  # fmt: skip

        if run("--version").returncode != 0:
            self.skipTest("the program itself needs more, as under sanitizers")
        keys = self.put("keys.npy", [0], "<i8")
        done = run("reduce", keys, "--op", "count", "--keys", 2**31 - 1, "--device", "cpu", "--threads", 1)
        self.assertIn(done.returncode, (1, 2), done.stderr)
        self.assertRegex(done.stderr, r"^quadrat: .*memory.*\n$")

    @unittest.skipIf(np is None, "NumPy is not installed")
    def test_agrees_with_numpy(self):
        random_numbers = np.random.default_rng(1)
        keys = random_numbers.integers(0, 500, 20000)
        values = random_numbers.standard_normal((20000, 3))
        np.save(self.folder / "keys.npy", keys)
        np.save(self.folder / "values.npy", np.asfortranarray(values))
        for operation, at, start in [
            ("sum", np.add.at, 0), ("min", np.minimum.at, np.inf), ("max", np.maximum.at, -np.inf),
        ]:  # fmt: skip
            expected = np.full((500, 3), start, dtype=float)
            at(expected, keys, values)
            self.reduce("keys.npy", "values.npy", "--op", operation, "--keys", 500)
            np.testing.assert_allclose(np.load(self.folder / "out.npy"), expected, rtol=1e-12, atol=1e-12)
        self.reduce("keys.npy", "--op", "count", "--keys", 500)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.bincount(keys, minlength=500))


if __name__ == "__main__":
    support.main()
