# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a run: foreign files stay, and the index is correct."""

import re

import support

TITLE = "# The files of a run of quadrat, which touches no others in this folder"


def contents(folder):
    """The contents of a folder, links not followed: bytes of files, targets of links, by name."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_symlink():
            found[name] = str(file.readlink())
        else:
            found[name] = file.read_bytes() if file.is_file() else None
    return found


class RunFolderTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def index(self):
        title, *names = (self.out / "run_files.txt").read_text().splitlines()
        self.assertEqual(title, TITLE)
        return names

    def files(self):
        return sorted(name for name, content in contents(self.out).items() if content is not None)

    def frames(self):
        return sorted(str(file.relative_to(self.out)) for file in (self.out / "frames").glob("*.vtp"))

    def collection(self):
        return re.findall(r'file="(\S+)"', (self.out / "frames.pvd").read_text())

    def refuses(self, *arguments, code=2):
        """A command that must leave everything unchanged."""
        before = contents(self.folder)
        message = self.fails("run", self.scene, "--output", "out", *arguments, code=code)
        self.assertEqual(contents(self.folder), before)
        return message

    def assert_index_is_true(self):
        self.assertEqual(sorted([*self.index(), "run_files.txt"]), self.files())
        self.assertEqual(self.collection(), self.frames())

    def test_the_index_lists_all_files_of_a_run(self):
        for name in ("circles_2d", "poiseuille", "hopper"):
            with self.subTest(name):
                scene = support.SOURCE / "examples" / f"{name}.toml"
                self.run_scene("out", "--steps", 3, "--device", "cpu", scene=scene)
                self.assertEqual(sorted([*self.index(), "run_files.txt"]), self.files())

    def test_an_earlier_run_is_replaced_only_when_asked(self):
        self.run_scene("out")
        message = self.refuses()
        self.assertIn("out holds a run already", message)
        self.assertIn("--resume", message)
        self.assertIn("--overwrite", message)
        self.run_scene("out", "--steps", 60)
        self.assertEqual(self.frames(), ["frames/frame_00000000.vtp", "frames/frame_00000050.vtp"])
        self.assert_index_is_true()

    def test_resume_and_overwrite_exclude_each_other(self):
        self.run_scene("out")
        self.assertIn("excludes", self.refuses("--resume", "--overwrite"))

    def test_a_refused_resume_touches_nothing(self):
        self.run_scene("out")
        self.assertIn("run.steps is 10", self.refuses("--resume", "--steps", 10))
        self.assertIn("particles.seed", self.refuses("--resume", "--seed", 2))
        (self.out / "profile.csv").write_text("mine")
        self.assertIn("profile.csv", self.refuses("--resume"))

    def test_a_resumed_run_that_ends_before_the_next_frame_has_a_true_index(self):
        self.run_scene("out", "--steps", 45)
        kept = (self.out / "checkpoint.bin").read_bytes()
        self.run_scene("out", "--resume", "--steps", 200)
        # As if the run had been killed long after its last checkpoint, which was at step 45.
        (self.out / "checkpoint.bin").write_bytes(kept)
        self.run_scene("out", "--resume", "--steps", 48)
        self.assertEqual(self.frames(), ["frames/frame_00000000.vtp"])
        self.assert_index_is_true()
        self.run_scene("out", "--resume", "--steps", 70)
        self.assertEqual(self.frames(), ["frames/frame_00000000.vtp", "frames/frame_00000050.vtp"])
        self.assert_index_is_true()

    def test_frames_that_the_user_removed_are_not_listed(self):
        self.run_scene("out", "--steps", 150)
        (self.out / "frames" / "frame_00000050.vtp").unlink()
        self.run_scene("out", "--resume", "--steps", 200)
        self.assertEqual(self.collection(), self.frames())
        self.assertEqual(len(self.frames()), 4)

    def test_files_that_are_in_the_way_are_named_and_kept(self):
        names = ["profile.csv", "steps.csv", "checkpoint.bin", "frames.pvd", "preview.png", "summary.json"]
        for name in [*names, "statistics.csv", "frames/frame_00000150.vtp"]:
            with self.subTest(name):
                mine = self.out / name
                mine.parent.mkdir(parents=True, exist_ok=True)
                mine.write_text("mine")
                for arguments in ([], ["--overwrite"], ["--resume"]):
                    self.assertIn(f"out/{name} is not of a run", self.refuses(*arguments))
                mine.unlink()

    def test_other_files_stay_in_the_current_folder(self):
        (self.folder / "notes.txt").write_text("mine")
        (self.folder / "frames").mkdir()
        (self.folder / "frames" / "mine.vtp").write_text("mine")
        for arguments in ([], ["--overwrite"], ["--resume"]):
            self.quadrat("run", self.scene, "--output", ".", *arguments)
        (self.folder / "profile.csv").write_text("mine")
        message = self.fails("run", self.scene, "--output", ".", "--overwrite", code=2)
        self.assertIn("./profile.csv is not of a run", message)
        for name in ("notes.txt", "frames/mine.vtp", "profile.csv"):
            self.assertEqual((self.folder / name).read_text(), "mine")

    def test_links_are_not_followed(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "frame_00000050.vtp").write_text("mine")
        (other / "mine.csv").write_text("mine")
        self.out.mkdir()
        (self.out / "frames").symlink_to(other)
        self.assertIn("out/frames is not a folder", self.refuses())
        (self.out / "frames").unlink()
        (self.out / "statistics.csv").symlink_to(other / "mine.csv")
        self.assertIn("out/statistics.csv is a symbolic link", self.refuses())
        (self.out / "statistics.csv").unlink()
        self.run_scene("out")
        (self.out / "statistics.csv").unlink()
        (self.out / "statistics.csv").symlink_to(other / "mine.csv")
        for arguments in (["--resume"], ["--overwrite"]):
            self.assertIn("out/statistics.csv is a symbolic link", self.refuses(*arguments))
        self.assertEqual((other / "mine.csv").read_text(), "mine")

    def test_an_index_that_names_other_files_is_refused(self):
        self.run_scene("out")
        (self.folder / "precious.csv").write_text("mine")
        index = self.out / "run_files.txt"
        good = index.read_text()
        names = ["../precious.csv", "/etc/passwd", "frames/../../precious.csv", "notes.txt", "frames/frame_1.vtp", ""]
        for name in names:
            with self.subTest(name):
                index.write_text(good + name + "\n")
                for arguments in (["--overwrite"], ["--resume"], []):
                    self.assertIn("run_files.txt: damaged", self.refuses(*arguments, code=1))
        for text in ("", "mine\n"):
            index.write_text(text)
            self.assertIn("not the list of the files of a run", self.refuses("--overwrite", code=1))

    def test_leftovers_of_killed_writers_are_removed_and_those_of_others_kept(self):
        self.run_scene("out", "--steps", 60)
        ours = [".summary.json.0123456789abcdef.tmp", "frames/.frame_00000050.vtp.0123456789abcdef.tmp"]
        theirs = [".mine.0123456789abcdef.tmp", ".summary.json.tmp", "frames/.frame_00000099.vtp.0123456789abcdef.tmp"]
        for name in (*ours, *theirs):
            (self.out / name).write_text("")
        self.run_scene("out", "--resume", "--steps", 80)
        for name in ours:
            self.assertFalse((self.out / name).exists(), name)
        for name in theirs:
            self.assertTrue((self.out / name).exists(), name)


if __name__ == "__main__":
    support.main()
