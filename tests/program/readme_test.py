# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the README and of the pages that runs the program works in the source folder: the files that it
reads exist."""

import shlex

import support


class ReadmeTest(support.ProgramTest):
    # Shortens commands that take long.
    SHORT = {"run": ["--steps", "1", "--particles", "200", "--quiet"], "bench": ["--limit", "0"]}

    def commands(self, page):
        for line in (support.SOURCE / page).read_text().splitlines():
            if line.startswith("    quadrat "):
                yield shlex.split(line, comments=True)[1:]

    def test_commands_work(self):
        (self.folder / "examples").symlink_to(support.SOURCE / "examples")
        commands = list(self.commands("README.md"))
        self.assertLessEqual({"run", "neighbors", "clusters", "contacts", "spread", "interpolate", "nufft", "electrostatics",
                              "reduce", "bench", "info"},
                             {command[0] for command in commands})  # fmt: skip
        for command in commands:
            with self.subTest(command=" ".join(command)):
                self.quadrat(*command, *self.SHORT.get(command[0], []))
                if "-o" in command:
                    self.assertTrue((self.folder / command[command.index("-o") + 1]).stat().st_size > 0)

    def test_commands_of_the_pages_work(self):
        (self.folder / "examples").symlink_to(support.SOURCE / "examples")
        count = 0
        for page in sorted((support.SOURCE / "docs").rglob("*.md")):
            for command in self.commands(page):
                if command[0] in ("bench", "run", "info"):
                    continue
                if ">" in command:
                    command = command[: command.index(">")]
                with self.subTest(page=page.name, command=" ".join(command)):
                    self.quadrat(*command)
                    count += 1
                    if "-o" in command:
                        self.assertTrue((self.folder / command[command.index("-o") + 1]).stat().st_size > 0)
        self.assertGreater(count, 20)


if __name__ == "__main__":
    support.main()
