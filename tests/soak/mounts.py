# SPDX-License-Identifier: MIT
"""Mounts that nobody else sees: a namespace that another process copies would keep them mounted."""
import os
import sys

NAME = "TMATCH_SOAK_OWN_MOUNTS"


def own():
    """Starts the program anew with mounts of its own; wants root."""
    if NAME not in os.environ:
        os.environ[NAME] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
