# SPDX-License-Identifier: MIT
"""The packages that tmatch needs for this only."""

from __future__ import annotations

import importlib
from typing import Any


def need(package: str, who: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        package = package.split(".")[0]
        raise ImportError(
            f"{who} needs {package} ({error}): pip install 'tmatch[dask]', or {package}", name=error.name
        ) from error


distributed = need("distributed", "tmatch.dask")
