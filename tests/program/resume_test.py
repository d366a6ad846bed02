# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped, killed, truncated or changed, and resumed: bit for bit as if nothing had happened."""

import json
import random
import signal
import subprocess
import time

import support


class ResumeTest(support.ProgramTest):
    def start(self, output, *arguments):
        return subprocess.Popen(
            self.command("run", self.scene, "--output", output, *arguments),
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_for(self, process, file):
        limit = time.monotonic() + 60
        while not (self.folder / file).exists():
            self.assertIsNone(process.poll(), "the run ended too early")
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.002)

    def test_going_on_gives_the_bits_of_an_unbroken_run(self):
        for level in ["run_to_run", "canonical"]:
            with self.subTest(level):
                self.run_scene(f"whole-{level}", f"--deterministic={level}")
                self.run_scene(f"broken-{level}", f"--deterministic={level}", "--steps", 90)
                summary = self.run_scene(f"broken-{level}", f"--deterministic={level}", "--resume")
                self.assertEqual(summary["run"]["first_step"], 90)
                self.assertTrue(summary["run"]["resumed"])
                self.assert_same_results(f"whole-{level}", f"broken-{level}")

    def test_a_finished_run_has_nothing_left_to_do(self):
        self.run_scene("out")
        summary = self.run_scene("out", "--resume")
        self.assertEqual(summary["run"]["first_step"], 200)
        self.assertEqual(summary["performance"]["updates_per_second"], 0)

    def test_a_run_cannot_go_back(self):
        self.run_scene("out")
        message = self.fails("run", self.scene, "--output", "out", "--resume", "--steps", 10, code=2)
        self.assertIn("run.steps is 10, but the run to resume is at step 200 already", message)

    def test_ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on(self):
        self.run_scene("whole", "--steps", 1000)
        process = self.start("broken", "--steps", 1000)
        self.wait_for(process, "broken/frames/frame_00000050.vtp")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertRegex(stderr, r"^quadrat: stopped at step [\d,]+ of 1,000; .*--resume.*broken/checkpoint.bin")
        self.assertEqual(len(stderr.splitlines()), 1)
        self.assert_whole_files(self.folder / "broken")
        self.assertTrue(json.loads((self.folder / "broken" / "summary.json").read_text())["run"]["interrupted"])
        self.run_scene("broken", "--steps", 1000, "--resume")
        self.assert_same_results("whole", "broken")

    def test_kill_9_at_any_moment_leaves_the_last_checkpoint_good(self):
        steps = 1000
        self.run_scene("whole", "--steps", steps)
        began = time.monotonic()
        self.run_scene("timed", "--steps", steps)
        whole_time = time.monotonic() - began
        choice = random.Random(11)
        kills = 0
        for _ in range(12):
            resume = ["--resume"] if (self.folder / "broken" / "checkpoint.bin").exists() else []
            process = self.start("broken", "--steps", steps, *resume)
            time.sleep(choice.uniform(0.02, 0.35 * whole_time))
            kills += process.poll() is None
            process.kill()
            process.communicate()
            if (self.folder / "broken").exists():
                self.assert_whole_files(self.folder / "broken")
        self.assertGreater(kills, 0)
        self.assertTrue((self.folder / "broken" / "checkpoint.bin").exists())
        self.run_scene("broken", "--steps", steps, "--resume")
        self.assert_same_results("whole", "broken")

    def test_another_scene_is_refused_by_the_name_of_the_key(self):
        self.run_scene("out", "--steps", 20)
        self.scene = self.write_scene(support.SCENE + "[physics]\nspring = 0.25\n")
        self.assertEqual(
            self.fails("run", self.scene, "--output", "out", "--resume", code=2),
            "cannot resume: physics.spring was 0.5 in out/checkpoint.bin, but is 0.25 now",
        )
        self.scene = self.write_scene(support.SCENE)
        self.assertIn(
            "particles.seed was 1 ", self.fails("run", self.scene, "--output", "out", "--resume", "--seed", 2, code=2)
        )

    def test_what_does_not_matter_may_change(self):
        self.run_scene("out", "--steps", 20)
        scene = self.write_scene(support.SCENE.replace("frame_every = 50", "frame_every = 0") + "[camera]\nzoom = 2\n")
        self.quadrat("run", scene, "--output", "out", "--resume", "--threads", 1, "--steps", 30)

    def test_nothing_to_resume(self):
        message = self.fails("run", self.scene, "--output", "out", "--resume", code=1)
        self.assertEqual(message, "nothing to resume: there is no folder out")
        self.assertFalse((self.folder / "out").exists())
        (self.folder / "out").mkdir()
        message = self.fails("run", self.scene, "--output", "out", "--resume", code=1)
        self.assertEqual(message, "nothing to resume: there is no checkpoint out/checkpoint.bin")

    def test_a_damaged_checkpoint_is_refused(self):
        self.run_scene("out", "--steps", 20)
        file = self.folder / "out" / "checkpoint.bin"
        good = file.read_bytes()
        for name, bad in [
            ("truncated", good[:-100]),
            ("checksum", good[:5000] + bytes([good[5000] ^ 1]) + good[5001:]),
            ("not a Quadrat checkpoint", b"X" + good[1:]),
        ]:
            with self.subTest(name):
                file.write_bytes(bad)
                message = self.fails("run", self.scene, "--output", "out", "--resume", code=1)
                self.assertIn("out/checkpoint.bin", message)
                self.assertIn(name, message)


if __name__ == "__main__":
    support.main()
