# SPDX-License-Identifier: BSD-3-Clause
"""What would take all memory is refused in advance, with the numbers; what needs little is not."""

import array
import json
import resource
import subprocess

import large_inputs
import support
from large_inputs import npy


class LimitsTest(large_inputs.LargeInputTest):
    def in_little_space(self, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        def run(*arguments):
            return subprocess.run(
                self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=120, preexec_fn=limit
            )

        if run("--version").returncode != 0:
            self.skipTest("the program itself needs more, as under sanitizers")
        return run(*arguments)

    def limited(self, *arguments):
        """The program's message in an address space too small for gigabytes."""
        done = self.in_little_space(*arguments)
        self.assertIn(done.returncode, (1, 2), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_counting_needs_no_room_for_pairs(self):
        points = self.random_points(20000)
        arguments = ("neighbors", points, "--cutoff", 0.6, "--device", "cpu", "--threads", 1)
        message = self.limited(*arguments, "-o", "pairs.npy")
        self.assertRegex(message, r"neighbor list with room for \d+ pairs needs \d+ bytes \(.* GB\); .* are free")
        self.assertFalse((self.folder / "pairs.npy").exists())

        done = self.in_little_space(*arguments, "--half", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_counts_of_half_lists_are_those_of_the_list(self):
        points = self.random_points(2000)
        for box in ([], ["--box", "1.1,1.1,1.1", "--periodic", "xyz"], ["--box", "1.1,1.1,1.1", "--periodic", "y"]):
            for half in ([], ["--half"]):
                arguments = ("neighbors", points, "--cutoff", 0.7, "--device", "cpu", "--json", *box, *half)
                counted = json.loads(self.quadrat(*arguments).stdout)
                listed = json.loads(self.quadrat(*arguments, "-o", "pairs.npy").stdout)
                for key in listed["neighbors"]:
                    self.assertEqual(counted["neighbors"][key], listed["neighbors"][key], key)

    def test_a_box_far_smaller_than_the_cutoff_is_refused(self):
        points = self.put("points.npy", npy(array.array("f", [0.001] * 300).tobytes(), (100, 3)))
        message = self.fails("neighbors", points, "--cutoff", 1, "--box", "0.003,0.003,0.003", "--periodic", "xyz", code=2)
        self.assertRegex(message, r"each point has about [\d.e+]+ neighbors.*Is the box in the same unit\?")

    def test_a_key_near_the_largest_is_refused_with_the_numbers(self):
        keys = self.put("keys.npy", npy(array.array("q", [0, 2**31 - 2]).tobytes(), (2,), "<i8"))
        message = self.limited("reduce", keys, "--op", "count", "-o", "counts.npy")
        self.assertIn("2147483647 results", message)
        self.assertIn("numpy.unique", message)

    def test_a_mesh_that_no_memory_holds_is_refused(self):
        points = self.random_points(1000)
        message = self.limited("spread", points, "--mesh", "100000,100000,100000", "--device", "cpu")
        self.assertIn("100000", message)

    def test_more_particles_than_there_can_be_are_refused(self):
        scene = self.write_scene(support.SCENE.replace("count = 1000", "count = 1000000000000"))
        self.assertIn("particles.count", self.limited("run", scene))


if __name__ == "__main__":
    support.main()
