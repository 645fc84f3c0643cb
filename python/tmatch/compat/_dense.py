# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def dense(name: str, a: object, kind: type[Exception] = TypeError) -> npt.NDArray[Any]:
    """numpy.asarray, which forgets a mask without a word; so masked arrays are refused, as tmatch itself does."""
    if isinstance(a, np.ma.MaskedArray):
        raise kind(f"{name} is a masked array, whose mask would not count: hand over its .data")
    return np.asarray(a)
