# SPDX-License-Identifier: BSD-3-Clause
"""Writes reference/program.md: what the program says of itself, command by command.

    program_reference.py build/cpu/bin/quadrat docs/reference/program.md
"""

import pathlib
import re
import subprocess
import sys


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main():
    program, target = sys.argv[1], pathlib.Path(sys.argv[2])
    if not pathlib.Path(program).exists():
        target.write_text("# The program\n\nThis site was built without the program: `quadrat help COMMAND` shows its options.\n")
        print(f"program_reference: no {program}; the page of the program has no options")
        return
    text = help_of(program)
    commands = re.findall(r"^  (\w+) ", text.partition("Subcommands:")[2].partition("\n\n")[0], re.MULTILINE)
    lines = ["# The program", "What `quadrat help` and `quadrat help COMMAND` print.", f"```text\n{text}\n```"]
    for command in commands:
        if command != "help":
            lines += [f"## `quadrat {command}`", f"```text\n{help_of(program, command)}\n```"]
    target.write_text("\n\n".join(lines) + "\n")
    print(f"program_reference: {len(commands)} commands")


if __name__ == "__main__":
    main()
