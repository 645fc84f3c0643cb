# SPDX-License-Identifier: MIT
"""python -m tmatch: the program."""

import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tmatch")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what it executes would do so too
    os.execv(program, [program, *sys.argv[1:]])  # by its path it finds the CUDA backend beside it


if __name__ == "__main__":
    main()
