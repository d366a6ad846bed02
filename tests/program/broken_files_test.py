# SPDX-License-Identifier: BSD-3-Clause
"""Every input file of every command with random changes: a whole result, or one error and no file."""

import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import zlib

import hostile_support

WORDS = [b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"99999999999999999999", b"1000000000000", b"2147483648", b"0",
         b"-1", b"1e30", b"1e-30", b"true", b'"', b"[", b"]", b"[" * 400, b"{", b"(", b",", b"=", b"\n", b"#", b"\xff", b"\0",
         b""]  # fmt: skip
NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:e[-+]?\d+)?")
# A file of a few kilobytes must not need more; the sanitizers reserve terabytes.
MEMORY = 4 << 30


def changed(data, choice):
    """The bytes after a few random changes."""
    for _ in range(choice.choice([1, 1, 1, 2, 3, 5])):
        at = choice.randrange(len(data) + 1)
        kind = choice.randrange(7)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data = data[:at] + data[choice.randrange(len(data) + 1) :]
        elif kind == 3:
            end = min(len(data), at + choice.randrange(64))
            data = data[:end] + data[at:end] + data[end:]
        elif kind == 4 and at + 8 <= len(data):
            at -= at % 4
            number = struct.pack("<Q", choice.choice([0, 1, 1 << 31, 1 << 40, (1 << 64) - 1]))
            data = data[:at] + number + data[at + 8 :]
        elif numbers := list(NUMBER.finditer(data)):
            one = choice.choice(numbers)
            data = data[: one.start()] + choice.choice(WORDS) + data[one.end() :]
    return data


def sealed(data):
    """A checkpoint with corrected length and checksum."""
    if len(data) < 68:
        return data
    data = data[:16] + struct.pack("<Q", len(data)) + data[24:-4]
    return data + struct.pack("<I", zlib.crc32(data))


class BrokenFilesTest(hostile_support.HostileTest):
    def limit_memory(self):
        if "verify_asan_link_order" not in self.environment().get("ASAN_OPTIONS", ""):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def run_command(self, command, folder):
        """Its exit status and errors. A valid input may take long, but must stop when told to."""
        process = subprocess.Popen(self.command(*command.arguments), cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=self.environment(), preexec_fn=self.limit_memory)  # fmt: skip
        try:
            _, errors = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            try:
                _, errors = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return None, b"it does not end"
        return process.returncode, errors

    def wrong_with(self, command, folder):
        code, errors = self.run_command(command, folder)
        lines = errors.decode(errors="replace").splitlines()
        if code == 143:
            return ""
        if code == 0:
            if lines:
                return f"it succeeded, but printed {lines}"
            return "" if not command.output or (folder / command.output).exists() else "it succeeded without a file"
        if code not in (1, 2) or len(lines) != 1 or not lines[0].startswith("quadrat: "):
            return f"status {code}, {lines[:10]}"
        if not command.is_run and (found := hostile_support.contents(folder)):
            return f"it failed, but left {sorted(found)}"
        return ""

    def check(self, command, name, broken, what):
        """Runs the command with that file in place of the good one; keeps the file of a failure."""
        folder = self.folder / "broken"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if command.prepare:
            shutil.copytree(self.folder / "prepared", folder, dirs_exist_ok=True)
        (folder / name).resolve().write_bytes(broken)
        hostile_support.disturbed_runs += 1
        if not (wrong := self.wrong_with(command, folder)):
            return []
        kept = hostile_support.keep(broken, f"{command.name}-{what}-{folder.joinpath(name).name}")
        return [f"{command.name}, {name}: {wrong}; the file is {kept}"]

    def prepare(self, command):
        (self.folder / "prepared").mkdir()
        done = subprocess.run(self.command(*command.prepare), cwd=self.folder / "prepared", capture_output=True, text=True,
                              timeout=hostile_support.SECONDS, env=self.environment())  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)

    def check_command(self, command):
        wrong = []
        files = [name for name in command.arguments if name.startswith("../in/")]
        if command.prepare:
            self.prepare(command)
            files = ["out/checkpoint.bin"]
        choice = random.Random(f"{hostile_support.SEED} {command.name}")
        for turn in range(hostile_support.rounds(12)):
            name = choice.choice(files)
            source = self.folder / ("prepared" if command.prepare else "broken") / name
            (self.folder / "broken").mkdir(exist_ok=True)
            good = source.resolve().read_bytes()
            broken = changed(good, choice)
            wrong += self.check(command, name, sealed(broken) if command.prepare and turn % 4 else broken, turn)
            if not command.prepare:
                source.resolve().write_bytes(good)
        self.assertFalse(wrong, "\n".join([f"{len(wrong)} of them:", *wrong[:20]]))


def add_test(command):
    setattr(BrokenFilesTest, f"test_{command.name}", lambda self: self.check_command(command))


for one in hostile_support.commands():
    if one.name != "info":
        add_test(one)


if __name__ == "__main__":
    hostile_support.support.main()
