# SPDX-License-Identifier: BSD-3-Clause
"""Every command with failing allocations: one error, and no incomplete file."""

import errno
import os
import sys

import hostile_support


class FailingMemoryTest(hostile_support.HostileTest):
    def check(self, command):
        calls, whole = self.undisturbed(command)
        self.assertGreater(calls["memory"], 100)
        choices = [(at, always) for at in range(1, calls["memory"] + 1) for always in (False, True)]
        wrong = []
        for at, always in hostile_support.sample(choices, hostile_support.rounds(25), command.name):
            wrong.append(self.disturbed(command, whole, "memory", at, errno.ENOMEM, always, threads=1 + (at % 4 == 0)))
        wrong = [one for one in wrong if one]
        self.assertFalse(wrong, "\n".join([f"{len(wrong)} of them:", *wrong[:20]]))


def add_test(command):
    setattr(FailingMemoryTest, f"test_{command.name}", lambda self: self.check(command))


for one in hostile_support.commands():
    add_test(one)


if __name__ == "__main__":
    if not os.path.exists(hostile_support.LIBRARY):
        print("skipped: the library of failing calls is not built here")
        sys.exit(77)
    hostile_support.support.main()
