# SPDX-License-Identifier: BSD-3-Clause
"""quadrat run: what it writes and what it says."""

import json
import os
import pty
import re
import struct
import subprocess
import time

import support


class RunTest(support.ProgramTest):
    def test_everything_that_a_run_leaves(self):
        scene = self.write_scene(support.SCENE.replace("preview = false", "preview = true"))
        done = self.quadrat("run", scene, "--output", "out")
        out = self.folder / "out"
        self.assertEqual(done.stderr, "", "no progress bar in a pipe")
        self.assertIn("out/preview.png", done.stdout)
        self.assertIn("updates/s", done.stdout)
        names = sorted(file.name for file in out.iterdir())
        self.assertEqual(
            names,
            ["checkpoint.bin", "frames", "frames.pvd", "preview.png", "run_files.txt", "statistics.csv", "summary.json"],
        )
        self.assert_whole_files(out)

        frames = [f"frame_{step:08}.vtp" for step in range(0, 201, 50)]
        self.assertEqual(sorted(file.name for file in (out / "frames").iterdir()), frames)
        self.assertEqual(re.findall(r'file="frames/(\S+)"', (out / "frames.pvd").read_text()), frames)
        self.assertEqual(
            re.findall(r'timestep="(\S+)"', (out / "frames.pvd").read_text()), ["0", "25", "50", "75", "100"]
        )
        arrays = support.read_vtp(out / "frames" / frames[-1])
        self.assertEqual(struct.unpack("<1000I", arrays["id"]), tuple(range(1000)))
        positions = struct.unpack("<3000f", arrays["Points"])
        self.assertTrue(all(-0.25 <= x <= 0.25 for x in positions))
        self.assertGreater(max(positions[0::3]), 0.2, "the wave has reached the right wall")

        rows = (out / "statistics.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows], ["step"] + [str(step) for step in range(0, 201, 25)])

    def test_the_summary(self):
        summary = self.run_scene("out")
        self.assertEqual(summary["run"]["particles"], 1000)
        self.assertEqual(summary["run"]["last_step"], 200)
        self.assertEqual(summary["device"]["backend"], "cpu")
        self.assertGreater(summary["performance"]["updates_per_second"], 0)
        self.assertGreater(summary["statistics"]["contacts_per_particle"], 0)
        self.assertGreater(summary["statistics"]["candidates_per_particle"], 0)
        self.assertGreaterEqual(summary["statistics"]["largest_cell"], 1)
        self.assertGreater(summary["statistics"]["kinetic_energy"], 0)
        self.assertEqual(summary["settings"]["grid"]["cells"], [16, 16, 16])
        self.assertRegex(summary["program"]["version"], r"^\d+\.\d+\.\d+$")

    def test_json_on_stdout_is_the_summary_and_nothing_else(self):
        done = self.quadrat("run", self.scene, "--output", "out", "--json")
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads(done.stdout), json.loads((self.folder / "out" / "summary.json").read_text()))

    def test_every_key_is_documented_with_its_default(self):
        text = (support.SOURCE / "docs" / "reference" / "scenes.md").read_text()
        first, *others = re.split(r"^# (?=Scenes|What)", text, flags=re.M)[1:]
        chapters = {other.partition("\n")[0].lower().replace(" ", "-"): other for other in others}
        table = first.partition("\n\n[What a run leaves behind]")[0]
        models = re.findall(r"^\| `(\w+)`(?: with `law = (\"\w+\")`.*)? \| (.*) \|$", table, flags=re.M)
        self.assertGreater(len(models), 5)
        for model, law, described in models:
            anchor = re.search(r"\(#(.*)\)$", described)
            with self.subTest(model + law):
                self.check_documented_keys(
                    chapters[anchor[1]] if anchor else first,
                    f'model = "{model}"\n' + (f"[physics]\nlaw = {law}\n" if law else ""),
                )

    def check_documented_keys(self, text, model):
        tables = re.split(r"^## \[(\w+)\]$", text, flags=re.M)
        documented = {
            (table, key): default
            for table, text in zip(tables[1::2], tables[2::2])
            for key, default in re.findall(r"^\| `(\w+)` \| [^|]*\| ([^|]*) \|", text, flags=re.M)
        }
        scene = self.write_scene(f"[scene]\n{model}\n[output]\npreview = false\n")
        settings = self.run_scene("out", "--steps", 0, scene=scene)["settings"]
        keys = [(table, key) for table, values in settings.items() for key in values]
        self.assertEqual(list(documented), keys)
        for (table, key), default in documented.items():
            if re.fullmatch(r"[-\d.]+", default) and key != "steps":
                self.assertEqual(float(default), settings[table][key], key)

    def test_the_examples_run(self):
        for scene in sorted((support.SOURCE / "examples").glob("*.toml")):
            with self.subTest(scene.name):
                self.run_scene(scene.stem, "--steps", 2, "--device", "cpu", scene=scene)

    def test_output_that_does_not_arrive_is_an_error(self):
        for arguments in (
            ["info"],
            ["--help"],
            ["--version"],
            ["run", "--help"],
            ["run", self.scene, "--output", "out", "--json"],
        ):
            with open("/dev/full", "w") as full:
                done = subprocess.run(self.command(*arguments), cwd=self.folder, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"standard output could not be written", done.stderr)

    def test_numbers_that_are_too_large_are_not_clamped(self):
        for option in ("--seed", "--steps", "--particles", "--threads"):
            message = self.fails("run", self.scene, option, 2**63, code=2)
            self.assertIn('"9223372036854775808" is no whole number of 64 bits', message)

    def test_quiet_says_nothing(self):
        done = self.quadrat("run", self.scene, "--output", "out", "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")

    def test_options_replace_the_scene_s_values(self):
        summary = self.run_scene(
            "elsewhere", "--particles", 500, "--steps", 10, "--seed", 7, "--precision", "double", "--threads", 1,
            "--method", "linked_loose", "--deterministic=canonical", "--device", "cpu",
        )  # fmt: skip
        settings = summary["settings"]
        self.assertEqual(settings["particles"]["count"], 500)
        self.assertEqual(settings["particles"]["seed"], 7)
        self.assertEqual(settings["run"]["precision"], "double")
        self.assertEqual(settings["run"]["deterministic"], "canonical")
        self.assertEqual(settings["run"]["threads"], 1)
        self.assertEqual(summary["run"]["method"], "linked_loose")
        self.assertEqual(summary["run"]["last_step"], 10)
        self.assertEqual(summary["run"]["particles"], 500)

    def test_deterministic_without_a_value(self):
        summary = self.run_scene("out", "--deterministic", "--steps", 5)
        self.assertEqual(summary["settings"]["run"]["deterministic"], "run_to_run")

    def test_deterministic_runs_give_the_same_bits_with_any_number_of_threads(self):
        self.run_scene("one", "--threads", 1)
        self.run_scene("two", "--threads", 2)
        self.assert_same_results("one", "two")

    def test_a_run_of_no_steps_shows_the_start(self):
        scene = self.write_scene(support.SCENE.replace("preview = false", "preview = true"))
        summary = self.run_scene("out", "--steps", 0, scene=scene)
        self.assertEqual(summary["performance"]["updates_per_second"], 0)
        self.assertTrue((self.folder / "out" / "preview.png").exists())

    def test_without_output_there_is_only_what_is_always_there(self):
        scene = self.write_scene(support.SCENE[: support.SCENE.index("[output]")] + "[output]\npreview = false\n")
        self.run_scene("out", scene=scene)
        self.assertEqual(
            sorted(file.name for file in (self.folder / "out").iterdir()),
            ["run_files.txt", "statistics.csv", "summary.json"],
        )

    def test_the_default_folder_is_named_after_the_scene(self):
        self.quadrat("run", self.scene, "--steps", 1, "--quiet")
        self.assertTrue((self.folder / "out" / "wave" / "summary.json").exists())

    def test_a_progress_bar_on_a_terminal(self):
        reader, writer = pty.openpty()
        process = subprocess.Popen(
            self.command("run", self.scene, "--output", "out", "--steps", 10**9), cwd=self.folder, stderr=writer
        )
        try:
            shown = b""
            limit = time.monotonic() + 60
            while b" left" not in shown and time.monotonic() < limit:
                shown += os.read(reader, 4096)
        finally:
            process.kill()
            process.wait()
            os.close(reader)
            os.close(writer)
        self.assertRegex(shown.decode(), r"wave \[[#.]+\] +\d+ %  step [\d,]+/1,000,000,000  .*updates/s  .* left")


if __name__ == "__main__":
    support.main()
