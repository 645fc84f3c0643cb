# SPDX-License-Identifier: MIT
"""Matches on the workers of a Dask cluster.

    >>> from distributed import Client
    >>> import tmatch.dask
    >>> client = Client("scheduler:8786")
    >>> for result in tmatch.dask.match_files(client, "patch.jpg", "frames/"):
    ...     print(result.path, result.error or result.matches)

The scheduler and the workers need tmatch, too, of the client's version. docs/many-machines.md has more.
"""

from ._match_files import match_files
from ._match_frame import match_frame

__all__ = ["match_files", "match_frame"]
