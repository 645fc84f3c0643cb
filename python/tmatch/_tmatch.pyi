# SPDX-License-Identifier: MIT
from typing import Any, TypeVar, final

version: str

class Error(Exception):
    status: str

class InputError(Error, ValueError): ...

class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class DeviceArray:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

_A = TypeVar("_A", bound=Array)
_D = TypeVar("_D", bound=DeviceArray)

@final
class Engine: ...

@final
class Template: ...

@final
class Pending: ...

def engine(
    metric: int,
    domain: int,
    algorithm: int,
    strategy: int,
    device: int,
    device_mask: int,
    threads: int,
    cpu_features: str,
    device_memory: int,
    host_memory: int,
    device_timeout: float,
    costs: str,
    /,
) -> Engine: ...
def calibrate(engine: Engine, /) -> str: ...
def report(engine: Engine, /) -> tuple[str, str, str, str, float, float]: ...
def template(
    engine: Engine,
    image: object,
    mask: object,
    name: str,
    angles: tuple[float, float, float] = ...,
    scales: tuple[float, float, float] = ...,
    support: int = ...,
    /,
) -> Template: ...
def grid(template: Template, /) -> tuple[tuple[float, float, float], tuple[float, float, float], int, int]: ...
def match(
    engine: Engine,
    templates: tuple[Template, ...],
    frame: object,
    mask: object,
    region: tuple[int, int, int, int] | None,
    most: int,
    min_score: float,
    overlap: float,
    peaks: int,
    margin: bool,
    subpixel: bool,
    /,
) -> tuple[list[list[tuple[Any, ...]]], bool, str]: ...
def match_async(
    engine: Engine,
    templates: tuple[Template, ...],
    frame: object,
    mask: object,
    region: tuple[int, int, int, int] | None,
    /,
) -> Pending: ...
def finished(pending: Pending, wait: bool, /) -> list[tuple[int, int, int, int, float]] | None: ...
def score_map(
    engine: Engine,
    template: Template,
    frame: object,
    mask: object,
    region: tuple[int, int, int, int] | None,
    subclass: type[_A],
    device_subclass: type[_D],
    /,
) -> tuple[_A | _D, tuple[int, int, int, int, float], str]: ...
def match_part(
    engine: Engine,
    templates: tuple[Template, ...],
    rows: object,
    mask: object,
    frame_height: int,
    frame_first: int,
    first: int,
    end: int,
    most: int,
    min_score: float,
    overlap: float,
    peaks: int,
    margin: bool,
    subpixel: bool,
    /,
) -> tuple[list[tuple[Any, ...]], str]: ...
def part_rows(
    engine: Engine, template: Template, frame_height: int, first: int, end: int, /
) -> tuple[int, int]: ...
def merge_parts(
    parts: tuple[tuple[Any, ...], ...],
    most: int,
    min_score: float,
    overlap: float,
    margin: bool,
    subpixel: bool,
    peaks: int,
    /,
) -> tuple[list[tuple[Any, ...]], bool]: ...
def devices() -> tuple[list[tuple[str, int, int, int, str, str]], str]: ...
def cuda_backend() -> str | None: ...
def open_sandbox(program: str, /) -> str: ...
def decode(
    data: bytes, color: bool, page: int, stored_orientation: bool, sandboxed: bool, subclass: type[_A], /
) -> tuple[_A, _A | None, str]: ...
def find_pages(path: str, /) -> list[tuple[tuple[int, int, int, int, int], str | None]]: ...
def read_page(
    path: str, part: tuple[int, int, int, int, int], color: bool, sandboxed: bool, subclass: type[_A], /
) -> tuple[_A, _A | None, str]: ...
def read_rows(
    path: str,
    color: bool,
    page: int,
    stored_orientation: bool,
    sandboxed: bool,
    masked: bool,
    first: int,
    end: int,
    subclass: type[_A],
    /,
) -> tuple[_A, _A | None, str]: ...
def picture_size(path: str, /) -> tuple[int, int, bool]: ...
def draw(
    frame: object,
    boxes: tuple[tuple[int, int, int, int, int, bool, str, tuple[float, ...]], ...],
    names: tuple[str, ...],
    turned: bool,
    subclass: type[_A],
    /,
) -> _A: ...
def write(path: object, array: object, /) -> None: ...
def is_picture_name(name: str, /) -> bool: ...
