# SPDX-License-Identifier: MIT
"""python -m tmatch: the program."""

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tmatch")
    os.execv(program, ["tmatch", *sys.argv[1:]])


if __name__ == "__main__":
    main()
