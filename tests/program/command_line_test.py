# SPDX-License-Identifier: BSD-3-Clause
"""Errors for wrong command lines: one line with what was probably meant."""

import json
import os
import pty
import subprocess

import support

COMMANDS = ["run", "neighbors", "clusters", "contacts", "spread", "interpolate", "nufft", "pairs", "spectrum",
            "electrostatics", "reduce", "info", "bench", "help"]  # fmt: skip


class CommandLineTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.points = self.folder / "points.csv"
        self.points.write_text("x,y,z\n0.25,0.5,0.5\n0.5,0.5,0.5\n")

    def refusal(self, *arguments):
        line = self.fails(*arguments, code=2)
        self.assertLess(len(line), 250, line)
        return line

    def test_commands(self):
        for word, words in [
            ("rum", '"rum" is no command; did you mean "run"?'),
            ("neighbours", 'did you mean "neighbors"?'),
            ("Contacts", 'did you mean "contacts"?'),
            ("interpolat", 'did you mean "interpolate"?'),
            ("simulate", 'valid are "run", "neighbors"'),
            ("scene.toml", "quadrat run scene.toml runs a scene"),
        ]:
            with self.subTest(word):
                self.assertIn(words, self.refusal(word, "scene.toml", "--steps", 5))
                self.assertIn(words, self.refusal(word, "--help"))
        self.assertIn("there is no command; valid are", self.refusal())
        self.assertIn("--quiet comes before the command", self.refusal("--quiet", "run", self.scene))
        self.assertIn("unknown option --fast", self.refusal("--fast", "run", self.scene))

    def test_options(self):
        p = self.points
        for arguments, words in [
            (["neighbors", p, "--cutof", 5], "neighbors has no option --cutof; did you mean --cutoff?"),
            (["neighbors", p, "--cutof=5"], "no option --cutof; did you mean --cutoff?"),
            (["neighbors", "--cutof", 5, p], "did you mean --cutoff?"),
            (["neighbors", p, "-cutoff", 5], "did you mean --cutoff?"),
            (["neighbors", p, "--cutoff", 1, "--perodic", "xyz"], "did you mean --periodic?"),
            (["neighbors", p, "--cutoff", 1, "--mesh", 64], "neighbors has no option --mesh; it is one of spread"),
            (["neighbors", p, "--cutoff", 1, "--frobnicate"], "neighbors has no option --frobnicate (see"),
            (["contacts", p, "--bin_size", 1], "did you mean --bin-size?"),
            (["spread", p, "--mesh", 8, "--accept-outsid"], "did you mean --accept-outside?"),
            (["interpolate", p, "--mesh-value", p], "did you mean --mesh-values?"),
            (["reduce", p, p, "--ops", "sum"], "did you mean --op?"),
            (["run", self.scene, "--thread", 2], "did you mean --threads?"),
            (["run", self.scene, "--cutoff", 2], "run has no option --cutoff; it is one of neighbors"),
            (["info", "--jason"], "did you mean --json?"),
            (["help", "--jason"], "help has no option --jason"),
        ]:
            with self.subTest(arguments):
                line = self.refusal(*arguments)
                self.assertIn(words, line)
                self.assertIn(f"(see quadrat {arguments[0]} --help)", line)

    def test_values_of_options(self):
        p = self.points
        for arguments, words in [
            (["neighbors", p, "--cutoff", "five"], '--cutoff: "five" is no number'),
            (["neighbors", p, "--cutoff", "1,5"], '--cutoff: "1,5" is no number'),
            (["neighbors", p, "--cutoff"], "--cutoff needs a value"),
            (["neighbors", p], "--cutoff is missing: pairs nearer than this"),
            (["neighbors", "--cutoff", 1], "POINTS is missing: .npy"),
            (["neighbors", p, "--cutoff", 1, "--cutoff", 2], "--cutoff is given 2 times"),
            (["neighbors", p, "--cutoff", 1, "--device", "gpu"], 'did you mean "cuda"?'),
            (["neighbors", p, "--cutoff", 1, "--device", "tpus"], '"tpus" is not one of auto, cpu, cuda'),
            (["neighbors", p, "--cutoff", 1, "--precision", "duoble"], 'did you mean "double"?'),
            (["neighbors", p, "--cutoff", 1, "--precision", "float64"], 'did you mean "double"?'),
            (["neighbors", p, "--cutoff", 1, "--method", "strip"], "nearest first: strips"),
            (["neighbors", p, "--cutoff", 1, "--threads", "two"], '--threads: "two" is no whole number'),
            (["neighbors", p, "--cutoff", 1, "--threads", -1], "--threads: -1 is not from 0 to"),
            (["contacts", p, "--bin-size", "wide"], '--bin-size: "wide" is no number'),
            (["spread", p, "--mesh", 8, "--ends", "bth"], 'did you mean "both"?'),
            (["spread", p, "--mesh", 8, "--order", 2.5], '--order: "2.5" is no whole number'),
            (["reduce", p, p, "--op", "meen"], '"meen" is not one of sum, min, max, mean, count; did you mean "mean"?'),
            (["reduce", p, p, "--op", "average"], 'did you mean "mean"?'),
            (["reduce", p, p, "--deterministic=run-to-run"], 'did you mean "run_to_run"?'),
            (["run", self.scene, "--precision", "half"], '"half" is not one of float, double'),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_a_value_behind_a_flag(self):
        p = self.points
        for arguments, words in [
            (["run", self.scene, "--deterministic", "run_to_run"], "--deterministic=run_to_run"),
            (["run", "--deterministic", "canonical", self.scene], "--deterministic=canonical"),
            (["spread", "--deterministic", "run_to_run", p, "--mesh", 8], "--deterministic=run_to_run"),
            (["neighbors", p, "--cutoff", 1, "--json", "out.json"], '--json takes no value, but "out.json" follows it'),
            (["neighbors", p, "--cutoff", 1, "more.csv"], '"more.csv" is one argument too many; neighbors takes POINTS'),
            (["reduce", p, p, p], "reduce takes KEYS VALUES"),
            (["info", "cuda"], '"cuda" is one argument too many; info takes none'),
        ]:
            with self.subTest(arguments):
                self.assertIn(words, self.refusal(*arguments))

    def test_files_that_are_not_there(self):
        for arguments, name in [
            (["run"], "SCENE.toml"),
            (["neighbors", "--cutoff", 1], "POINTS"),
            (["contacts"], "BODIES"),
            (["spread", "--mesh", 8], "POINTS"),
            (["interpolate", "--mesh-values", self.points], "POINTS"),
            (["reduce"], "KEYS"),
        ]:
            with self.subTest(arguments):
                self.assertEqual(
                    self.refusal(*arguments, "nowhere.npy").split(" (see")[0], f"{name}: nowhere.npy does not exist"
                )
                self.assertIn(f"{name}: {self.folder} is a folder, not a file", self.refusal(*arguments, self.folder))

    def test_help(self):
        everything = self.quadrat("help").stdout
        self.assertEqual(everything, self.quadrat("--help").stdout)
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", everything)
            text = self.quadrat("help", command).stdout
            self.assertEqual(text, self.quadrat(command, "--help").stdout)
            self.assertIn(f"Usage: quadrat {command}", text)
            self.assertIn("Examples:", text)
        self.assertIn('did you mean "neighbors"?', self.refusal("help", "neighbours"))


class ProgressTest(support.ProgramTest):
    def test_lines_in_a_pipe(self):
        """As often as asked for; none with --quiet, with 0, or in a run that is over before the first is due."""
        steps = ["--steps", 3000, "--threads", 1]
        done = self.quadrat("run", self.scene, *steps, "--output", "a", "--progress", 0.01)
        lines = done.stderr.splitlines()
        self.assertGreater(len(lines), 1)
        for line in lines:
            self.assertRegex(line, r"^wave: +\d+ %  step [\d,]+/3,000  .* updates/s  \S+ left$")
        for k, arguments in enumerate((["--progress", 0], ["--progress", 0.01, "--quiet"], ["--progress", 1000])):
            self.assertEqual(self.quadrat("run", self.scene, "--output", f"b{k}", *arguments).stderr, "")
        self.assertIn("--progress is -1", self.fails("run", self.scene, "--progress", -1, code=2))


class ActivityTest(support.ProgramTest):
    def test_what_takes_long_is_said_on_a_terminal(self):
        """The points come through a pipe that stays open until the program says that it is waiting for them."""
        os.mkfifo(self.folder / "slow.csv")
        reader, writer = pty.openpty()
        process = subprocess.Popen(
            self.command("neighbors", "slow.csv", "--cutoff", 1, "--device", "cpu", "--json"),
            cwd=self.folder, stdout=subprocess.PIPE, stderr=writer,
        )  # fmt: skip
        try:
            with open(self.folder / "slow.csv", "w") as pipe:
                shown = os.read(reader, 4096)
                pipe.write("x,y\n1,2\n")
            out, _ = process.communicate(timeout=60)
            while not shown.endswith(b"\r\x1b[K"):
                shown += os.read(reader, 4096)
        finally:
            process.kill()
            os.close(reader)
            os.close(writer)
        self.assertRegex(shown, rb"^\rquadrat: reading slow.csv, \d+ s\x1b\[K")
        self.assertEqual(json.loads(out)["points"]["count"], 1)


if __name__ == "__main__":
    support.main()
