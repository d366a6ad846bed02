# SPDX-License-Identifier: BSD-3-Clause
"""quadrat run with scenes of the Circles model."""

import csv
import struct

import support

SCENE = """\
[scene]
name = "rings"
model = "circles"

[box]
width = 20

[run]
steps = 60
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 20
checkpoint_every = 25
statistics_every = 20
preview = false
"""


class CirclesTest(support.ProgramTest):
    def scene_with(self, old="", new=""):
        self.assertIn(old, SCENE)
        return self.write_scene(SCENE.replace(old, new) if old else SCENE, "rings.toml")

    def refused(self, old, new, *arguments):
        return self.fails("run", self.scene_with(old, new).name, "--output", "out", *arguments, code=2)

    def rows(self, output, name):
        with open(self.folder / output / name) as file:
            return list(csv.DictReader(file))

    def test_everything_that_a_run_leaves(self):
        for dimension in (2, 3):
            with self.subTest(dimension=dimension):
                scene = self.scene_with("width = 20", f"width = 8\ndimension = {dimension}")
                scene.write_text(scene.read_text().replace("preview = false", "preview = true"))
                out = f"out{dimension}"
                summary = self.run_scene(out, scene=scene)
                count = 8**dimension
                self.assertEqual(summary["run"]["particles"], count)
                self.assertEqual(summary["settings"]["agents"], {"count": count, "density": 1.0, "seed": 1})
                self.assertIn(" over counting", summary["run"]["method"])
                self.assertEqual(summary["choice"]["chosen"], "strips_1")
                self.assertEqual(summary["choice"]["reason"], "by the profile and a sample of positions")
                self.assertEqual(summary["settings"]["search"]["order"], "auto")
                for file in ["preview.png", "checkpoint.bin", "statistics.csv", "steps.csv"]:
                    self.assertTrue((self.folder / out / file).exists(), file)
                self.assert_whole_files(self.folder / out)
                arrays = support.read_vtp(self.folder / out / "frames" / "frame_00000060.vtp")
                neighbors = struct.unpack(f"<{count}f", arrays["neighbors"])
                self.assertAlmostEqual(sum(neighbors) / count, summary["statistics"]["mean_neighbors"], places=5)
                self.assertEqual(max(neighbors), summary["statistics"]["most_neighbors"])
                steps = self.rows(out, "steps.csv")
                self.assertEqual([int(row["step"]) for row in steps], list(range(1, 61)))
                for row in self.rows(out, "statistics.csv")[:-1]:
                    recorded = steps[int(row["step"])]  # the step that starts from there
                    self.assertEqual(row["neighbor_deviation"], recorded["neighbor_deviation"])

    def test_orders_are_methods(self):
        scene = self.scene_with()
        means = set()
        for order in ["default", "strips", "modular", "hybrid", "trimmed"]:
            summary = self.run_scene(order, "--method", order, "--steps", 0, scene=scene)
            self.assertEqual(summary["settings"]["search"]["order"], order)
            means.add((summary["statistics"]["mean_neighbors"], summary["statistics"]["neighbor_deviation"]))
        self.assertEqual(len(means), 1)

    def test_going_on_gives_the_bits_of_an_unbroken_run(self):
        scene = self.scene_with()
        self.run_scene("whole", scene=scene)
        self.run_scene("broken", "--steps", 40, scene=scene)
        summary = self.run_scene("broken", "--resume", scene=scene)
        self.assertEqual(summary["run"]["first_step"], 40)
        self.assert_same_results("whole", "broken")
        without_times = [[{**row, "milliseconds": 0} for row in self.rows(run, "steps.csv")] for run in ("whole", "broken")]
        self.assertEqual(*without_times)
        message = self.fails("run", scene, "--output", "whole", "--resume", "--method", "hybrid", code=2)
        self.assertIn('cannot resume: search.order was "auto"', message)
        message = self.fails("run", self.scene, "--output", "whole", "--resume", code=2)
        self.assertIn('scene.model was "circles"', message)

    def test_explain_says_what_was_chosen(self):
        scene = self.scene_with()
        output = self.quadrat("run", scene.name, "--output", "out", "--explain").stdout
        self.assertIn("variant of the Circles model: strips_1 (by the profile", output)
        for variant in ["hybrid_1", "trimmed_1x4", "trimmed_2x4"]:
            self.assertIn("  " + variant, output)
        output = self.quadrat("run", scene.name, "--output", "named", "--method", "hybrid", "--explain").stdout
        self.assertIn("variant of the Circles model: hybrid over counting (named, or the default here)", output)

    def test_steps_are_timed_unless_the_run_is_deterministic_or_it_is_turned_off(self):
        scene = self.scene_with('deterministic = "run_to_run"', 'deterministic = "none"')
        reasons = {}
        for out, arguments in [("timed", []), ("not_timed", ["--no-autotune"]), ("same_bits", ["--deterministic"])]:
            reasons[out] = self.run_scene(out, *arguments, scene=scene)["choice"]["reason"]
        by_profile = "by the profile and a sample of positions"
        self.assertEqual(reasons, {"timed": "by the times of steps", "not_timed": by_profile, "same_bits": by_profile})
        message = self.fails("run", support.SOURCE / "examples" / "poiseuille.toml", "--no-autotune", code=2)
        self.assertIn("--no-autotune: the model srd times no methods", message)

    def test_without_a_record_there_is_no_table_of_steps(self):
        scene = self.scene_with("preview = false", "preview = false\nrecord = false")
        self.run_scene("out", scene=scene)
        self.assertFalse((self.folder / "out" / "steps.csv").exists())

    def test_scenes_that_cannot_be(self):
        for old, new, words in [
            ('"circles"', '"circle"', 'rings.toml:3:9: unknown model "circle"; did you mean "circles"?'),
            ("[box]", "[boks]", 'rings.toml:5:2: unknown table [boks]; did you mean "box"?'),
            ("width = 20", "lower = 20", 'rings.toml:6:1: unknown key "lower" in [box]'),
            ("width = 20", "width = 0", "rings.toml:6:9: box.width is 0, but must be positive"),
            ("width = 20", "dimension = 4", "rings.toml:6:13: box.dimension is 4, but must be 2 or 3"),
            ("[run]", "[physics]\nform = \"original\"\nforce = 1\n[run]", "physics.force belongs to the sine form"),
            ("[run]", "[agents]\ncount = 3\ndensity = 1\n[run]", "one follows from the other"),
            ("[run]", "[agents]\ndensity = 1e-9\n[run]", "makes no agent at all"),
            ("[run]", "[agents]\ndensity = 1e12\n[run]", "fewer than 2^31"),
            ("[run]", "[search]\norder = \"strip\"\n[run]", 'did you mean "strips"?'),
            ("[run]", "[search]\ncell_list = \"sorted_morton\"\n[run]", 'valid are "counting", "sorted"'),
            ("[run]", "[search]\ncells_per_reach = 9\n[run]", "must lie between 0"),
        ]:
            with self.subTest(new):
                self.assertIn(words, self.refused(old, new))
                self.assertFalse((self.folder / "out").exists(), "nothing may be started")
        self.assertIn("--particles: agents.count is 0", self.refused("", "", "--particles", 0))


if __name__ == "__main__":
    support.main()
