# SPDX-License-Identifier: MIT
"""Frames by path or URL: how the client lists them and how a worker reads them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .. import _tmatch
from .._arrays import Picture
from .._files import list_files
from .._read import Path, decode, read
from ._packages import need


def is_url(path: object) -> bool:
    return isinstance(path, str) and "://" in path


def _file_system(url: str, options: dict[str, Any]) -> tuple[Any, str]:
    file_system, path = need("fsspec.core", url).url_to_fs(url, **options)
    return file_system, path


def _list_url(url: str, options: dict[str, Any]) -> list[str]:
    is_pattern, is_folder = any(c in url for c in "*?["), url.endswith("/")
    if not is_pattern and not is_folder:
        return [url]
    file_system, path = _file_system(url, options)
    if is_pattern:
        names = file_system.glob(path)
    else:
        entries = file_system.ls(path, detail=True)
        names = [e["name"] for e in entries if e["type"] == "file" and _tmatch.is_picture_name(e["name"])]
    return sorted(str(file_system.unstrip_protocol(name)) for name in names)


def list_frames(frames: Path | Iterable[Path], options: dict[str, Any]) -> list[str]:
    if is_url(frames):
        return _list_url(str(frames), options)
    return list_files(frames)


def for_workers(path: str) -> str:
    """What a worker, whose working directory may be another, opens."""
    return path if is_url(path) else os.path.abspath(path)


def read_frame(path: str, color: bool, options: dict[str, Any], sandbox: bool = False) -> Picture:
    """sandbox: it is open."""
    if not is_url(path):
        return read(path, color=color, sandbox=sandbox)
    file_system, inside = _file_system(path, options)
    return decode(file_system.cat_file(inside), path, color, sandbox=sandbox)
