# SPDX-License-Identifier: BSD-3-Clause
"""quadrat choose, --explain, and quadrat tune: what is chosen, why, and by which profile."""

import json
import os
import struct

import support


def write_points(file, count):
    """count x 3 doubles in [0, 1), as .npy."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count}, 3), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    numbers = [(i * 0.754877666 + axis * 0.3) % 1 for i in range(count) for axis in range(3)]
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{3 * count}d", *numbers))
    return file


def write_values(file, count):
    """count doubles, as .npy."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{count}d", *(0.5 for _ in range(count))))
    return file


class ChooseTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        # No profile of whoever runs the test.
        self.before = {name: os.environ.pop(name, None) for name in ("QUADRAT_PROFILE", "XDG_CACHE_HOME")}
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        self.addCleanup(self.restore)

    def restore(self):
        for name, value in self.before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    def choose(self, *arguments):
        return json.loads(self.quadrat("choose", "--device", "cpu", "--json", *arguments).stdout)

    def test_answers_without_data(self):
        found = {one["what"]: one for one in self.choose("--points", "1e6", "--mesh", "64,64,64")}
        self.assertEqual(set(found), {"method of spreading", "method of keyed reduction", "neighbor method", "contact method"})
        self.assertEqual(found["method of spreading"]["chosen"], "tiles")
        self.assertEqual(found["neighbor method"]["chosen"], "sweeps")
        self.assertEqual(found["contact method"]["chosen"], "levels")
        for one in found.values():
            times = [c["milliseconds"] for c in one["candidates"] if c["milliseconds"] is not None]
            self.assertEqual(times, sorted(times))
            self.assertEqual(one["candidates"][0]["method"], one["chosen"])
            self.assertTrue(all(c["why_not"] for c in one["candidates"] if c["milliseconds"] is None))
            self.assertIn("shipped, of generic CPU", one["profile"])
        text = self.quadrat("choose", "spread", "--points", "1e6", "--device", "cpu").stdout
        self.assertIn("method of spreading: tiles", text)
        self.assertIn("not on CPUs", text)

    def test_goes_by_the_numbers(self):
        self.assertEqual(self.choose("contacts", "--points", 10)[0]["chosen"], "brute_force")
        canonical = self.choose("spread", "--points", 1000, "--deterministic=canonical")[0]
        self.assertEqual(canonical["chosen"], "single_mesh")
        for count in (0, 1):
            self.assertTrue(all(one["chosen"] for one in self.choose("--points", count)))

    def test_refuses_what_is_no_load(self):
        for arguments, words in [
            (["--points", "-1"], "--points is -1; it must be a whole number from 0"),
            (["--points", "nan"], "--points is nan; it must be a whole number"),
            (["--points", "1.5"], "--points is 1.5"),
            (["--points", "10", "--mesh", "4,4,4,4"], "--mesh is 4,4,4,4; 1 to 3 numbers are possible"),
            (["--points", "10", "--mesh", "0"], "--mesh"),
            (["--points", "10", "--uses", "0"], "--uses is 0; it must be 1 or more"),
            (["--points", "10", "--keys", "1e12"], "--keys"),
            (["everything", "--points", "10"], "everything"),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.fails("choose", "--device", "cpu", *arguments, code=2))

    def test_commands_explain_what_they_chose(self):
        points = write_points(self.folder / "points.npy", 3000)
        done = self.quadrat("spread", points, "--mesh", 16, "--device", "cpu", "--explain", "--json")
        result = json.loads(done.stdout)
        self.assertEqual(result["explanation"]["chosen"], result["spread"]["method"] if "spread" in result else
                         result["explanation"]["candidates"][0]["method"])
        text = self.quadrat("neighbors", points, "--cutoff", "0.1", "--device", "cpu", "--explain").stdout
        self.assertIn("neighbor method: sweeps", text)
        self.assertIn("profile: shipped, of generic CPU", text)
        plain = self.quadrat("neighbors", points, "--cutoff", "0.1", "--device", "cpu").stdout
        self.assertNotIn("profile:", plain)

    def test_sums_and_transforms_explain_their_parameters(self):
        lines = ["50", 'Lattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3:charge:R:1 pbc="T T T"']
        lines += [f"X {i % 4 + 0.1 * (i % 3)} {i // 4 % 4} {i // 16 + 0.05 * i} {1 - 2 * (i % 2)}" for i in range(50)]
        (self.folder / "salt.xyz").write_text("\n".join(lines) + "\n")
        done = self.quadrat("electrostatics", "salt.xyz", "--device", "cpu", "--explain", "--json")
        why = json.loads(done.stdout)["explanation"]
        self.assertEqual(why["chosen"], why["candidates"][0]["method"])
        self.assertIn("profile: shipped", self.quadrat("electrostatics", "salt.xyz", "--device", "cpu",
                                                       "--explain").stdout)
        points = write_points(self.folder / "points.npy", 3000)
        values = write_values(self.folder / "values.npy", 3000)
        transform = ["nufft", points, values, "--device", "cpu", "--explain"]
        why = json.loads(self.quadrat(*transform, "--modes", 8, "--json").stdout)["explanation"]
        self.assertRegex(why["chosen"], "^oversampling [0-9.]+, width [0-9]+$")
        self.assertIn("--explain is for types 1 and 2",
                      self.fails(*transform, "--type", 3, "--targets", points, code=2))

    def test_a_measured_profile_is_used_and_a_damaged_one_is_not(self):
        if "not in this build" in self.quadrat("tune", "--help").stdout:
            self.skipTest("no benchmarks in this build")
        measured = self.folder / "measured.json"
        self.quadrat("bench", "choice", "--quick", "--device", "cpu", "--threads", 1, "--json", measured)
        rows = json.loads(measured.read_text())["rows"]
        summary = {row["module"]: row for row in rows if row["op"] == "choice_summary"}
        self.assertEqual(set(summary), {"mesh", "keyed", "neighbors", "contacts", "ewald", "nufft", "circles",
                                        "granular"})
        # Whole runs: the choice comes first, and the best fixed way of a round takes 1.
        for row in [row for row in rows if row["op"] == "runs"]:
            self.assertEqual(next(iter(row["time_over_best_fixed"])), "auto")
            fixed = [time for way, time in row["time_over_best_fixed"].items() if way != "auto"]
            self.assertEqual(min(fixed), 1)
        for row in rows:
            if row["op"] == "choice":
                self.assertGreaterEqual(row["regret"], 1)
        said = self.quadrat("tune", "--device", "cpu", "--from", measured, "--check", measured).stdout
        self.assertRegex(said, r"\d+ constants of ")
        files = list((self.folder / "cache" / "quadrat").glob("profile-*.json"))
        self.assertEqual(len(files), 1)
        self.assertIn(str(files[0]), self.choose("--points", 1000)[0]["profile"])
        # Not where results must not depend on what was measured.
        self.assertIn("shipped", self.choose("--points", 1000, "--deterministic")[0]["profile"])
        files[0].write_text(files[0].read_text()[:100])
        done = self.quadrat("choose", "--points", 1000, "--device", "cpu", "--json")
        self.assertIn("shipped", json.loads(done.stdout)[0]["profile"])
        self.assertEqual(done.stderr.count("is not used"), 1)

    def test_cases_are_measured_in_parts_and_resumed(self):
        if "not in this build" in self.quadrat("tune", "--help").stdout:
            self.skipTest("no benchmarks in this build")
        file = self.folder / "cases.json"
        bench = ["bench", "choice", "--device", "cpu", "--op", "keyed", "--op", "regret", "--json", file]

        def cases():
            rows = json.loads(file.read_text())["rows"]
            return {(row["grid"], row["case"]): row for row in rows if row["op"] == "keyed"}

        self.quadrat(*bench, "--threads", 1, "--part", "2/2")
        first = cases()
        self.assertEqual({case % 2 for _, case in first}, {1})
        self.quadrat(*bench, "--threads", 1, "--resume")
        both = cases()
        self.assertEqual({case for _, case in both}, {0, 1, 2, 3})
        self.assertEqual({place: both[place] for place in first}, first)
        # What follows from the cases is there once.
        rows = json.loads(file.read_text())["rows"]
        self.assertEqual(len([row for row in rows if row["op"] == "choice_summary"]), 1)
        before = file.read_bytes()
        self.assertIn("its threads, 1, is not 2", self.fails(*bench, "--threads", 2, "--resume", code=1))
        self.assertIn("is not of --full", self.fails(*bench, "--threads", 1, "--resume", "--full", code=1))
        self.assertEqual(file.read_bytes(), before)
        for part in ("0/2", "3/2", "2", "2/", "a/b", "1/2/3", "-1/2"):
            self.assertIn(f"--part is {part}; it must be K/N", self.fails(*bench, f"--part={part}", code=2))
        self.assertIn("--resume needs the file of --json",
                      self.fails("bench", "choice", "--device", "cpu", "--resume", code=2))

    def test_tune_says_before_it_measures_that_its_profile_cannot_be_written(self):
        if "not in this build" in self.quadrat("tune", "--help").stdout:
            self.skipTest("no benchmarks in this build")
        # What is measured would be printed.
        said = self.fails("tune", "--device", "cpu", "--limit", 1, "-o", "/dev/null/profile.json", code=1)
        self.assertEqual(said, "cannot create the folder /dev/null: Not a directory")

    def test_tune_refuses_what_is_no_measurement(self):
        if "not in this build" in self.quadrat("tune", "--help").stdout:
            self.skipTest("no benchmarks in this build")
        file = self.folder / "other.json"
        file.write_text('{"rows": []}')
        self.assertIn("there are no cases of the grid fit", self.fails("tune", "--device", "cpu", "--from", file, code=1))
        file.write_text("[1, 2")
        self.assertIn("no result of quadrat bench choice", self.fails("tune", "--device", "cpu", "--from", file, code=1))


if __name__ == "__main__":
    support.main()
