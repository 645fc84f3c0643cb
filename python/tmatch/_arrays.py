# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

from . import _tmatch
from ._match import Match

if TYPE_CHECKING:
    from typing_extensions import Buffer

    class _HasDLPack(Protocol):
        def __dlpack__(self) -> Any: ...

        def __dlpack_device__(self) -> Any: ...

    class _HasArrayInterface(Protocol):
        @property
        def __array_interface__(self) -> Any: ...

    class _HasCudaInterface(Protocol):
        @property
        def __cuda_array_interface__(self) -> Any: ...

    HostArrayLike: TypeAlias = Union[Buffer, _HasDLPack, _HasArrayInterface]
    DeviceArrayLike: TypeAlias = _HasCudaInterface
    ArrayLike: TypeAlias = Union[HostArrayLike, DeviceArrayLike]
else:
    ArrayLike = HostArrayLike = DeviceArrayLike = Any


class Picture(_tmatch.Array):
    """A picture that tmatch.read or tmatch.draw made.

    Its shape is (height, width), or (height, width, 3) for red, green and blue.
    numpy.asarray(picture) makes an array of it without a copy; it has DLPack as well.

    mask     where the file is transparent, a Picture that is 0 there, or None; the picture is
             matched with it where it is a template
    format   'PNG', 'JPEG' and so on; '' for a drawing
    """

    __slots__ = ("mask", "format")
    mask: Picture | None
    format: str

    def __repr__(self) -> str:
        return f"<tmatch.Picture {self.shape} of {self.dtype}>"


class ScoreMap(_tmatch.Array):
    """The score of every position.

    Element [y, x] is the score where the template's top-left corner lies at
    (x + origin[0], y + origin[1]) in the frame. numpy.asarray(map) makes an array of it without
    a copy; it has DLPack as well.

    dtype    'float32', or 'int64' for the metrics 'ccorr' and 'sqdiff' of integer samples
    origin   (0, 0) unless the domain is 'same' or 'full', or there is a region
    best     the best match
    skipped  what stands where frame_mask forbids a match: worse than every score
    """

    __slots__ = ("origin", "best", "skipped")
    origin: tuple[int, int]
    best: Match
    skipped: float

    def __repr__(self) -> str:
        return f"<tmatch.ScoreMap {self.shape} of {self.dtype}, best {self.best!r}>"


class DeviceScoreMap(_tmatch.DeviceArray):
    """The score of every position, in the memory of the GPU on which the frame lies.

    As ScoreMap, but that cupy.asarray(map) or torch.from_dlpack(map) makes an array of it without a
    copy. It is filled: no stream has to wait. Its memory is given back, which waits for the GPU, when
    nobody holds the map or an array of it any more.

    device   'cuda:0'
    """

    __slots__ = ("origin", "best", "skipped")
    origin: tuple[int, int]
    best: Match
    skipped: float

    def __repr__(self) -> str:
        return f"<tmatch.DeviceScoreMap {self.shape} of {self.dtype} on {self.device}, best {self.best!r}>"
