# SPDX-License-Identifier: MIT
"""Pictures from files and to files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, NoReturn, TypeAlias, Union
from unicodedata import category

from . import _tmatch
from ._arrays import ArrayLike, Picture

Path: TypeAlias = Union[str, "os.PathLike[str]"]


def _picture(decoded: tuple[Picture, Picture | None, str]) -> Picture:
    picture, mask, kind = decoded
    picture.mask, picture.format = mask, kind
    if mask is not None:
        mask.mask, mask.format = None, kind
    return picture


def _shown(name: str) -> str:
    """The name for a message: what a terminal would obey, or cannot show, is escaped."""
    return "".join(c if category(c) not in ("Cc", "Cs") else ascii(c)[1:-1] for c in name)


@contextmanager
def _named(name: Path) -> Iterator[None]:
    """Puts the file's name before what is wrong with the picture."""
    try:
        yield
    except _tmatch.InputError as error:
        error.args = (f"{_shown(os.fsdecode(name))}: {error}",)
        raise


def _refuse(reason: str) -> NoReturn:
    error = _tmatch.InputError(reason)
    error.status = "PICTURE"
    raise error


def _is_file(file: BinaryIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def most_piped() -> int:
    """How many bytes of a pipe or a device are read: of one that has no end memory would run out."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _content(file: BinaryIO) -> bytes:
    if _is_file(file):
        return file.read()
    data, most = bytearray(), most_piped()
    while part := file.read(1 << 20):
        data += part
        if len(data) > most:
            _refuse(f"more than {most >> 20} MiB, half of this machine's memory, which is what a pipe or a device may hold")
    return bytes(data)


def _check_rows(file: BinaryIO) -> None:
    if not _is_file(file):
        _refuse("a pipe or a device, of which no rows are read")


def open_sandbox() -> None:
    """Opens this process's sandbox if it is not open yet, from the program that comes with the module."""
    _tmatch.open_sandbox(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tmatch"))


def decode(
    data: bytes,
    name: str,
    color: bool,
    page: int = 0,
    stored_orientation: bool = False,
    sandbox: bool = False,
) -> Picture:
    """The picture that a file holds; errors say the file's name. sandbox: it is open."""
    with _named(name):
        return _picture(_tmatch.decode(data, color, page, stored_orientation, sandbox, Picture))


def read_rows(
    path: Path,
    rows: tuple[int, int],
    color: bool,
    page: int = 0,
    stored_orientation: bool = False,
    sandbox: bool = False,
    masked: bool = False,
) -> Picture:
    """Rows [first, end) of a picture; with its mask, for which it may have to be decoded whole."""
    first, end = rows
    with open(os.fspath(path), "rb") as file, _named(path):  # open says what is wrong with the path
        _check_rows(file)
        return _picture(
            _tmatch.read_rows(
                os.path.abspath(path), color, page, stored_orientation, sandbox, masked, first, end, Picture
            )
        )


def picture_size(path: Path) -> tuple[int, int, bool]:
    """(width, height, seeks) of a picture, which is not decoded; seeks: nor is it above the rows that are read."""
    with open(os.fspath(path), "rb") as file, _named(path):
        _check_rows(file)
        return _tmatch.picture_size(os.path.abspath(path))


def read(
    path: Path,
    *,
    color: bool = False,
    page: int = 0,
    stored_orientation: bool = False,
    rows: tuple[int, int] | None = None,
    sandbox: bool = False,
) -> Picture:
    """Reads a picture as the program does: PNG, JPEG, TIFF, BMP, WebP, PNM, Y4M, .npy and text.

    It is gray, Rec. 601 luma, or with color=True of shape (height, width, 3): red, green, blue.
    Samples of 16 bits and floats stay what they are. Transparency becomes the picture's mask. It
    is upright, as EXIF data say, unless stored_orientation is set.

    Of a file that holds several pictures it is the first. page: of a TIFF another one, counted from 0.
    tmatch.files matches all of them.

    rows: (first, end), to read rows first to end - 1 only. Of TIFF, PNM, BMP and .npy others are not
    even looked at, PNG, JPEG and Y4M are decoded down to the last of them, and memory is for
    these rows. But pictures of 16 bits, of floats, with a mask or turned by EXIF data, interlaced
    PNG, progressive JPEG, WebP and text are decoded whole.

    sandbox: decode in a process of its own that can do nothing else, for files that nobody
    vouches for. What it can do and where it works is in docs/sandbox.md.

    Raises OSError where the file cannot be read, tmatch.InputError where it is no picture, or has
    no such rows, and tmatch.Error, whose status is 'SANDBOX', where there is no sandbox.
    """
    if sandbox:
        open_sandbox()
    if rows is not None:
        return read_rows(path, rows, color, page, stored_orientation, sandbox, masked=True)
    with open(os.fspath(path), "rb") as file:
        with _named(path):
            data = _content(file)
        return decode(data, os.fspath(path), color, page, stored_orientation, sandbox)


@dataclass(frozen=True)
class FilePicture:
    """The picture that a file holds, or one of several. number: which of them, from 1."""

    path: str
    number: int | None = None
    part: tuple[int, int, int, int, int] | None = None
    damage: str | None = None

    @property
    def name(self) -> str:
        """As the program writes it."""
        return f"{os.fsdecode(self.path)}#{self.number}" if self.number else self.path

    def read(self, color: bool, sandbox: bool) -> Picture:
        """sandbox: it is open."""
        if self.part is None:
            return read(self.path, color=color, sandbox=sandbox)
        with _named(self.name):
            if self.damage:
                _refuse(self.damage)
            return _picture(_tmatch.read_page(os.path.abspath(self.path), self.part, color, sandbox, Picture))


def find_pictures(path: str) -> list[FilePicture]:
    """What is no file counts as one picture; reading it says why. A pipe, once opened, must not be closed before it is read."""
    found = _tmatch.find_pages(os.path.abspath(path)) if os.path.isfile(path) else []
    pages = [FilePicture(path, i + 1, part, damage) for i, (part, damage) in enumerate(found)]
    return pages or [FilePicture(path)]


def write(path: Path, picture: ArrayLike) -> None:
    """Writes a picture as PNG or JPEG, by the path's ending.

    It is gray, (height, width), or red, green and blue, (height, width, 3); a fourth channel, alpha,
    is dropped. Samples of 16 bits stay in a PNG; floats are shown from black, the least, to white.

    Raises tmatch.InputError where it cannot be written.
    """
    with _named(path):
        _tmatch.write(path, picture)
