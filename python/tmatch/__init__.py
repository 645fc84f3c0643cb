# SPDX-License-Identifier: MIT
"""Finds where a small picture, the template, lies in a larger one, the frame.

    >>> import tmatch
    >>> frame = tmatch.read("data/astronaut.png")
    >>> template = tmatch.read("data/patch.jpg")
    >>> tmatch.match(frame, template)
    [Match(x=130, y=343, width=84, height=84, score=0.9919919)]

Scores are those of the program and of the C library, bit by bit. docs/guide/from-python.md has more.
"""

from ._arrays import ArrayLike, DeviceScoreMap, Picture, ScoreMap
from ._files import Device, FileResult, calibrate, cuda_backend, devices, draw, files
from ._functions import match, score_map
from ._match import Match
from ._matcher import Matcher, Report
from ._parts import Part, merge
from ._pending import PendingMatch
from ._read import read, write
from ._tmatch import Error, InputError
from ._tmatch import version as __version__

__all__ = [
    "ArrayLike",
    "Device",
    "DeviceScoreMap",
    "Error",
    "FileResult",
    "InputError",
    "Match",
    "Matcher",
    "Part",
    "PendingMatch",
    "Picture",
    "Report",
    "ScoreMap",
    "__version__",
    "calibrate",
    "cuda_backend",
    "devices",
    "draw",
    "files",
    "match",
    "merge",
    "read",
    "score_map",
    "write",
]
