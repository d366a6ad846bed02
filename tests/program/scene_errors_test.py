# SPDX-License-Identifier: BSD-3-Clause
"""Invalid scenes, and runs that fail: each with its message and exit code, and nothing left half done."""

import os
import subprocess

import support


class BadScenes(support.ProgramTest):
    def refused(self, text, *arguments):
        scene = self.write_scene(text)
        message = self.fails("run", scene.name, "--output", "out", *arguments, code=2)
        self.assertFalse((self.folder / "out").exists(), "nothing may be started")
        return message

    def changed(self, old, new):
        self.assertIn(old, support.SCENE)
        return support.SCENE.replace(old, new)

    def test_names(self):
        self.assertEqual(
            self.refused(self.changed("count =", "cuont =")),
            'scene.toml:10:1: unknown key "cuont" in [particles]; did you mean "count"?',
        )
        self.assertEqual(
            self.refused(self.changed("[particles]", "[particle]")),
            'scene.toml:9:2: unknown table [particle]; did you mean "particles"?',
        )

    def test_types(self):
        self.assertEqual(
            self.refused(self.changed("steps = 200", 'steps = "200"')),
            "scene.toml:14:9: run.steps must be an integer, not a string",
        )

    def test_syntax(self):
        self.assertRegex(self.refused(self.changed("[run]", "[run")), r"^scene.toml:13:5: ")

    def test_values(self):
        self.assertEqual(
            self.refused(self.changed("count = 1000", "count = -1")),
            "scene.toml:10:9: particles.count is -1, but must be at least 1",
        )
        self.assertIn(
            "particles.count is 5000, but the box holds only 4096 grains on a lattice of spacing 2 radius",
            self.refused(self.changed("count = 1000\nstart = \"left_half\"", "count = 5000")),
        )
        self.assertEqual(
            self.refused(self.changed("count = 1000", "count = 1000\njitter = nan")),
            "scene.toml:11:10: particles.jitter is nan, not a finite number",
        )

    def test_method(self):
        self.assertEqual(
            self.refused(self.changed("steps =", 'method = "linked_lose"\nsteps =')),
            'scene.toml:14:10: run.method cannot be "linked_lose"; did you mean "linked_loose"?',
        )

    def test_a_method_of_another_device(self):
        def refused(method):
            return self.refused(self.changed("steps =", f'method = "{method}"\nsteps ='))

        self.assertIn('run.method cannot be "fusd"; valid are "auto"', refused("fusd"))
        self.assertNotIn('"fused"', refused("fusd"))

    def test_an_option_is_blamed_for_its_own_value(self):
        self.assertEqual(
            self.refused(support.SCENE, "--particles", 0), "--particles: particles.count is 0, but must be at least 1"
        )
        self.assertIn('--method: run.method cannot be "srted"; did you mean "sorted"?',
                      self.refused(support.SCENE, "--method", "srted"))


class FailingRuns(support.ProgramTest):
    def test_a_run_that_blows_up_names_the_step(self):
        scene = self.write_scene(support.SCENE + "[physics]\nspring = 1e4\n")
        message = self.fails("run", scene, "--output", "out", code=1)
        self.assertRegex(message, r"step \d+")
        self.assert_whole_files(self.folder / "out")

    def test_a_fixed_cell_that_is_too_small_says_what_would_do(self):
        scene = self.write_scene(support.SCENE + "[grid]\ncapacity = 1\n")
        message = self.fails("run", scene, "--method", "fixed", "--output", "out", code=1)
        self.assertRegex(message, r"capacity")

    def test_a_method_of_another_device_says_what_runs_here(self):
        message = self.fails("run", self.scene, "--method", "fused", "--device", "cpu", "--output", "out", code=2)
        self.assertIn("fused does not run on the CPU", message)
        self.assertIn("these do: ", message)

    def test_a_gpu_that_is_not_there(self):
        import json

        if json.loads(self.quadrat("info", "--json").stdout)["cuda_devices"]:
            self.skipTest("there is a GPU")
        self.assertRegex(self.fails("run", self.scene, "--device", "cuda", code=1), "(?i)cuda")

    def test_a_folder_that_cannot_be(self):
        (self.folder / "file").write_text("x")
        self.assertEqual(
            self.fails("run", self.scene, "--output", "file/out", code=1),
            "cannot create the folder file/out: Not a directory",
        )

    def test_control_characters_of_the_input_are_not_printed(self):
        scene = self.write_scene(support.SCENE + '[camera]\n"zoo\\u001b[31m\\nm" = 2\n')
        self.assertIn('unknown key "zoo [31m m" in [camera]', self.fails("run", scene, "--output", "out", code=2))

    def test_two_runs_in_one_folder(self):
        first = subprocess.Popen(
            self.command("run", self.scene, "--output", "out", "--steps", 10**9, "--quiet"), cwd=self.folder
        )
        try:
            while not (self.folder / "out" / "frames.pvd").exists():
                self.assertIsNone(first.poll())
            self.assertEqual(
                self.fails("run", self.scene, "--output", "out", code=1), "another run is writing into out"
            )
        finally:
            first.kill()
            first.wait()

    def test_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("needs the right to mount")
        self.addCleanup(subprocess.run, ["umount", disk])
        scene = self.write_scene(support.SCENE.replace("frame_every = 50", "frame_every = 25"))
        message = self.fails("run", scene, "--output", "disk/out", "--steps", 400, "--quiet", code=1)
        self.assertRegex(message, r"^cannot write disk/out/\S+: No space left on device$")
        self.assert_whole_files(disk)
        self.assertFalse([name for _, _, names in os.walk(disk) for name in names if name.endswith(".tmp")])
        # The checkpoint that fitted is valid: with room again, the run continues.
        for frame in (disk / "out" / "frames").iterdir():
            frame.unlink()
        scene = self.write_scene(support.SCENE.replace("frame_every = 50", "frame_every = 0"))
        self.quadrat("run", scene, "--output", "disk/out", "--steps", 400, "--resume", "--quiet")


if __name__ == "__main__":
    support.main()
