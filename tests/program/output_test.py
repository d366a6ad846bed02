# SPDX-License-Identifier: BSD-3-Clause
"""Where results go: files, links, pipes, standard output, and places that take nothing."""

import json
import os
import pty
import resource
import subprocess

import support
from mesh_support import npy


class OutputTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "points.csv").write_text("x,y,z\n" + "".join(f"{0.1 * i},0,0\n" for i in range(4000)))
        (self.folder / "grains.csv").write_text("x,y,z,radius\n0,0,0,1\n1,0,0,1\n")
        (self.folder / "keys.npy").write_bytes(npy([3], [0, 1, 1], "<u4"))
        (self.folder / "places.npy").write_bytes(npy([50, 3], [k / 150 for k in range(150)]))
        (self.folder / "field.npy").write_bytes(npy([8, 8, 8], range(512)))
        self.results = self.folder / "results"
        self.results.mkdir()
        self.neighbors = ("neighbors", "points.csv", "--cutoff", 0.25)
        self.commands = {
            self.neighbors: "csv",
            ("clusters", "points.csv", "--cutoff", 0.25): "csv",
            ("contacts", "grains.csv"): "csv",
            ("spread", "places.npy", "--mesh", "8,8,8"): "npy",
            ("interpolate", "places.npy", "--mesh-values", "field.npy"): "npy",
            ("reduce", "keys.npy", "--op", "count"): "npy",
        }

    def bytes_of(self, *arguments, **options):
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, stdin=subprocess.DEVNULL, timeout=60,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )  # fmt: skip

    def test_every_command_streams_its_result(self):
        for command, ending in self.commands.items():
            with self.subTest(command[0]):
                self.quadrat(*command, "-o", f"results/whole.{ending}")
                whole = (self.results / f"whole.{ending}").read_bytes()
                os.mkfifo(self.results / "pipe")
                for name in ("-", "/dev/stdout", "/proc/self/fd/1"):
                    done = self.bytes_of(*command, "-o", name)
                    self.assertEqual((done.returncode, done.stdout), (0, whole))
                    self.assertIn(b"output", done.stderr, "the summary")
                    done = self.bytes_of(*command, "-o", name, "--quiet")
                    self.assertEqual((done.stdout, done.stderr), (whole, b""))
                with open(self.folder / "copy", "wb") as copy:
                    reader = subprocess.Popen(["cat", "results/pipe"], cwd=self.folder, stdout=copy)
                    json.loads(self.quadrat(*command, "-o", "results/pipe", "--json").stdout)
                    self.assertEqual(reader.wait(60), 0)
                self.assertEqual((self.folder / "copy").read_bytes(), whole)
                (self.results / "pipe").unlink()
                (self.results / f"whole.{ending}").unlink()
                self.assertEqual(list(self.results.iterdir()), [])

    def test_standard_output_goes_on_where_it_is(self):
        with open(self.results / "log.csv", "ab") as log:
            log.write(b"before\n")
            log.flush()
            self.bytes_of(*self.neighbors, "-o", "-", "--quiet", stdout=log)
        self.assertTrue((self.results / "log.csv").read_bytes().startswith(b"before\ni,j,"))
        self.assertEqual(len(list(self.results.iterdir())), 1)

    def test_json_and_a_stream_do_not_mix(self):
        for command in self.commands:
            self.assertIn("--json cannot both go to standard output", self.fails(*command, "-o", "-", "--json", code=2))

    def test_a_terminal_gets_no_binary_file(self):
        reader, writer = pty.openpty()
        done = self.bytes_of("reduce", "keys.npy", "--op", "count", "-o", "-", stdout=writer)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"a terminal cannot show", done.stderr)
        self.assertEqual(self.bytes_of("contacts", "grains.csv", "-o", "-", stdout=writer).returncode, 0)
        os.close(writer)
        os.close(reader)

    def test_a_reader_that_has_gone_is_an_error(self):
        for ignored in (True, False):
            reader, writer = os.pipe()
            os.close(reader)
            done = self.bytes_of(*self.neighbors, "-o", "-", stdout=writer, restore_signals=ignored)
            os.close(writer)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, b"quadrat: cannot write /dev/stdout: Broken pipe\n")

    def test_a_full_device_is_an_error(self):
        message = self.fails(*self.neighbors, "-o", "/dev/full", code=1)
        self.assertEqual(message, "cannot write /dev/full: No space left on device")
        self.quadrat(*self.neighbors, "-o", "/dev/null")

    def test_a_link_is_written_through(self):
        (self.results / "new.csv").symlink_to("there.csv")
        self.quadrat(*self.neighbors, "-o", "results/new.csv")
        self.assertTrue((self.results / "new.csv").is_symlink())
        self.assertFalse((self.results / "there.csv").is_symlink())
        self.assertTrue((self.results / "there.csv").read_text().startswith("i,j,"))
        (self.results / "a.csv").symlink_to("b.csv")
        (self.results / "b.csv").symlink_to("a.csv")
        message = self.fails(*self.neighbors, "-o", "results/a.csv", code=1)
        self.assertEqual(message, "cannot write results/a.csv: Too many levels of symbolic links")

    def test_a_link_of_the_name_that_temporary_files_once_had_is_left_alone(self):
        victim = self.folder / "victim"
        victim.write_text("mine")
        (self.results / ".pairs.csv.tmp").symlink_to(victim)
        self.quadrat(*self.neighbors, "-o", "results/pairs.csv")
        self.assertEqual(victim.read_text(), "mine")

    def test_permissions_stay(self):
        output = self.results / "pairs.csv"
        output.write_text("old")
        output.chmod(0o640)
        self.quadrat(*self.neighbors, "-o", output)
        self.assertEqual(output.stat().st_mode & 0o777, 0o640)

    def test_a_file_size_limit_is_an_error_without_leftovers(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        done = self.bytes_of(*self.neighbors, "-o", "results/pairs.csv", preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr, b"quadrat: cannot write results/pairs.csv: File too large\n")
        self.assertEqual(list(self.results.iterdir()), [])
        done = self.bytes_of("run", self.scene, "--output", "out", preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"File too large", done.stderr)
        self.assertFalse([file for file in (self.folder / "out").rglob(".*")])

    def test_control_characters_of_a_scene_are_not_printed(self):
        for key, old in (("scene.name", 'name = "wave"'), ("output.directory", "frame_every = 50")):
            for character in (r"\u001b", r"\u009b", r"\n", r"\u007f"):
                text = f'{key.split(".")[1]} = "a{character}[31m"'
                scene = self.write_scene(support.SCENE.replace(old, text))
                message = self.fails("run", scene, code=2)
                self.assertIn(f"{key} holds a control character at byte 1", message)
        scene = self.write_scene(support.SCENE.replace('name = "wave"', 'name = "Ölfaß"'))
        self.assertTrue(self.run_scene("out", "--steps", 1, scene=scene))


if __name__ == "__main__":
    support.main()
