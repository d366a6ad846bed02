# SPDX-License-Identifier: BSD-3-Clause
"""quadrat run with scenes of Brownian dynamics."""

import csv

import support

SCENE = """\
[scene]
name = "spheres"
model = "brownian"

[particles]
count = 100
volume_fraction = 0.2

[physics]
time_step = 0.125
repulsion = 10

[run]
steps = 24
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 12
checkpoint_every = 5
statistics_every = 4
preview = false
"""

CHAINS = """\
[scene]
name = "chains"
model = "brownian"

[box]
size = [40, 40, 40]

[particles]
count = 90
start = "chains"
chain_length = 9

[physics]
time_step = 0.2
scheme = "midpoint"
spring = 5
spring_length = 2.5

[run]
steps = 24
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 12
checkpoint_every = 5
statistics_every = 4
"""


class BrownianTest(support.ProgramTest):
    def scene_with(self, old, new, text=SCENE):
        self.assertIn(old, text)
        return self.write_scene(text.replace(old, new), "spheres.toml")

    def rows(self, output):
        with open(self.folder / output / "statistics.csv") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def test_everything_that_a_run_leaves(self):
        summary = self.run_scene("out", scene=self.write_scene(CHAINS, "chains.toml"))
        self.assertEqual(summary["run"]["particles"], 90)
        self.assertAlmostEqual(summary["run"]["time"], 4.8)
        self.assertIn("midpoint", summary["run"]["method"])
        for file in ["preview.png", "checkpoint.bin", "statistics.csv", "frames.pvd"]:
            self.assertTrue((self.folder / "out" / file).exists(), file)
        self.assert_whole_files(self.folder / "out")
        arrays = support.read_vtp(self.folder / "out" / "frames" / "frame_00000024.vtp")
        self.assertEqual(len(arrays["displacement"]), 4 * 90)
        rows = self.rows("out")
        self.assertEqual([row["step"] for row in rows], [0, 4, 8, 12, 16, 20, 24])
        self.assertEqual(rows[0]["mean_square_displacement"], 0)
        self.assertGreater(rows[-1]["mean_square_displacement"], 0)
        self.assertGreater(rows[-1]["energy"], 0)
        self.assertGreater(rows[-1]["iterations"], 0)

    def test_short_time_diffusion_is_that_of_theory(self):
        scene = self.scene_with("steps = 24", "steps = 60")
        result = self.run_scene("out", scene=scene)["result"]
        edge = (4 / 3 * 3.14159265358979 * 100 / 0.2) ** (1 / 3)
        theory = (1 - 2.8372974794806 / edge + 4 / 3 * 3.14159265358979 / edge**3) / (6 * 3.14159265358979)
        self.assertAlmostEqual(result["theory_short_time_diffusion"], theory, places=9)
        self.assertEqual(result["samples"], 16)
        self.assertLess(result["standard_error"], 0.1 * theory)
        deviation = abs(result["short_time_diffusion"] - theory)
        self.assertLess(deviation, 5 * result["standard_error"] + 1e-2 * theory)

    def test_going_on_gives_the_bits_of_an_unbroken_run(self):
        for name, text in [("spheres", SCENE), ("chains", CHAINS), ("double", SCENE)]:
            with self.subTest(name):
                scene = self.write_scene(text, f"{name}.toml")
                more = ["--precision", "double"] if name == "double" else []
                self.run_scene(f"{name}-whole", *more, scene=scene)
                self.run_scene(f"{name}-broken", "--steps", 13, *more, scene=scene)
                summary = self.run_scene(f"{name}-broken", "--resume", "--threads", 1, *more, scene=scene)
                self.assertEqual(summary["run"]["first_step"], 13)
                self.assert_same_results(f"{name}-whole", f"{name}-broken")
        message = self.fails("run", self.scene_with("time_step = 0.125", "time_step = 0.25"),
                             "--output", "spheres-whole", "--resume", code=2)  # fmt: skip
        self.assertIn("cannot resume: physics.time_step was 0.125 in spheres-whole/checkpoint.bin, but is 0.25", message)

    def test_options_replace_values_of_the_scene(self):
        summary = self.run_scene("out", "--particles", 50, "--seed", 9, "--method", "free",
                                 scene=self.write_scene(SCENE, "spheres.toml"))  # fmt: skip
        self.assertEqual(summary["run"]["particles"], 50)
        self.assertEqual(summary["settings"]["particles"]["seed"], 9)
        self.assertEqual(summary["run"]["method"], "free, euler_maruyama")
        self.assertAlmostEqual(summary["result"]["theory_short_time_diffusion"], 1 / (6 * 3.14159265358979), places=9)

    def test_a_run_that_blows_up_says_where(self):
        scene = self.scene_with("repulsion = 10", "repulsion = 1e6", SCENE.replace("volume_fraction = 0.2", "volume_fraction = 0.6"))
        message = self.fails("run", scene, "--output", "out", "--method", "free", code=1)
        self.assertIn("the run blew up in step", message)

    def test_scenes_that_cannot_be(self):
        for old, new, words in [
            ('"brownian"', '"brown"', 'spheres.toml:3:9: unknown model "brown"; did you mean "brownian"?'),
            ("[physics]", "[fysics]", 'unknown table [fysics]; did you mean "physics"?'),
            ("repulsion = 10", "repulsive = 10", 'unknown key "repulsive" in [physics]; did you mean "repulsion"?'),
            ("repulsion = 10", "repulsion = -10", "physics.repulsion is -10, but must not be negative"),
            ("count = 100", "count = 0", "spheres.toml:6:9: particles.count is 0, but must be at least 1"),
            ("time_step = 0.125", "time_step = inf", "physics.time_step is inf, not a finite number"),
            ('"run_to_run"', '"canonical"', 'cannot be "canonical" with this model'),
        ]:  # fmt: skip
            with self.subTest(new):
                self.assertIn(words, self.fails("run", self.scene_with(old, new), "--output", "no", code=2))
        self.assertIn("--method: hydrodynamics.method cannot be \"fast\"",
                      self.fails("run", self.write_scene(SCENE), "--method", "fast", code=2))  # fmt: skip


if __name__ == "__main__":
    support.main()
