# SPDX-License-Identifier: BSD-3-Clause
"""Every command with system calls that fail, are interrupted or transfer less than requested."""

import errno
import os
import sys

import hostile_support

# Possible results of each call; "short": one byte is read or written.
PROBLEMS = {
    "open": [errno.EACCES, errno.EMFILE, errno.ENOSPC],
    "openat": [errno.EACCES, errno.EMFILE],
    "close": [errno.EIO, errno.EINTR],
    "read": [errno.EIO, errno.EINTR, "short"],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR, "short"],
    "fsync": [errno.EIO, errno.ENOSPC],
    "fdatasync": [errno.EIO, errno.ENOSPC],
    "rename": [errno.EACCES, errno.ENOSPC],
    "link": [errno.EPERM, errno.ENOSPC],
    "unlink": [errno.EACCES, errno.EIO],
    "mkdir": [errno.EACCES, errno.ENOSPC],
    "rmdir": [errno.EACCES],
    "stat": [errno.EACCES, errno.EIO],
    "access": [errno.EACCES],
    "flock": [errno.EWOULDBLOCK, errno.ENOLCK],
    "chmod": [errno.EPERM],
    "mmap": [errno.ENOMEM],
    "fcntl": [errno.EINVAL],
    "readlink": [errno.EIO],
    "opendir": [errno.EACCES, errno.EMFILE],
    "ftruncate": [errno.EIO, errno.ENOSPC],
    "getrandom": [errno.ENOSYS, errno.EINTR],
}


class FailingCallsTest(hostile_support.HostileTest):
    def check(self, command):
        calls, whole = self.undisturbed(command)
        self.assertGreater(calls["open"] + calls["read"], 0)
        choices = [
            (call, at, problem, always)
            for call, problems in PROBLEMS.items()
            for at in range(1, calls[call] + 1)
            for problem in problems
            for always in (False, True)
            # Calls that are always interrupted, or never make progress, never end.
            if not (always and problem in (errno.EINTR, "short"))
        ]
        wrong = []
        for call, at, problem, always in hostile_support.sample(choices, hostile_support.rounds(25), command.name):
            wrong.append(self.disturbed(command, whole, call, at, problem, always))
        wrong = [one for one in wrong if one]
        self.assertFalse(wrong, "\n".join([f"{len(wrong)} of them:", *wrong[:20]]))


def add_test(command):
    setattr(FailingCallsTest, f"test_{command.name}", lambda self: self.check(command))


for one in hostile_support.commands():
    add_test(one)


if __name__ == "__main__":
    if not os.path.exists(hostile_support.LIBRARY):
        print("skipped: the library of failing calls is not built here")
        sys.exit(77)
    hostile_support.support.main()
