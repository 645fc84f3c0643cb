# SPDX-License-Identifier: MIT
"""From the words that callers use to the numbers that the library takes."""

from __future__ import annotations

import operator
from typing import Literal, SupportsIndex, TypeAlias

Metric: TypeAlias = Literal["lcc", "ccorr", "ccorr_normed", "ccoeff", "sqdiff", "sqdiff_normed"]
Domain: TypeAlias = Literal["valid", "same", "full"]
Algorithm: TypeAlias = Literal["auto", "reference", "direct", "fft", "cufft"]
Search: TypeAlias = Literal["auto", "exhaustive", "certified", "pyramid"]
Support: TypeAlias = Literal["auto", "disc", "full"]

METRICS = {"lcc": 0, "ccorr": 1, "ccorr_normed": 2, "ccoeff": 3, "sqdiff": 4, "sqdiff_normed": 5}
DOMAINS = {"valid": 0, "same": 1, "full": 2}
ALGORITHMS = {"auto": 0, "reference": 1, "direct": 2, "fft": 3, "cufft": 4}
SEARCHES = {"auto": 0, "exhaustive": 1, "certified": 2, "pyramid": 3}
SUPPORTS = {"auto": 0, "disc": 1, "full": 2}
DEVICES = {"auto": (0, 0), "cpu": (1, 0), "cuda": (2, 2**64 - 1)}

EngineKey: TypeAlias = tuple[int, int, int, int, int, int, int, str, int, int, float, str]


def choose(name: str, value: str, choices: dict[str, int]) -> int:
    try:
        return choices[value]
    except (KeyError, TypeError):
        *most, last = map(repr, choices)
        raise ValueError(f"{name} must be {', '.join(most)} or {last}, not {value!r}") from None


def whole(name: str, value: SupportsIndex, bits: int = 64) -> int:
    """The integer, which one of C's of so many bits can hold."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if number.bit_length() >= bits:
        raise ValueError(f"{name} is too large for {bits} bits: {number}")
    return number


def choose_device(device: str) -> tuple[int, int]:
    """The kind of device, and which CUDA devices: bit i for device i."""
    if isinstance(device, str):
        if device in DEVICES:
            return DEVICES[device]
        kind, _, numbers = device.partition(":")
        indices = numbers.split(",")
        if kind == "cuda" and all(i.isdecimal() and int(i) < 64 for i in indices):
            return 2, sum({1 << int(i) for i in indices})
    raise ValueError(
        "device must be 'auto', 'cpu', 'cuda', or CUDA devices by number, such as 'cuda:0' or 'cuda:0,2', "
        f"not {device!r}"
    )


def engine_key(
    metric: str,
    domain: str,
    algorithm: str,
    search: str,
    device: str,
    threads: int | None,
    cpu_features: str = "all",
    device_memory: int = 0,
    host_memory: int = 0,
    device_timeout: float = 0,
    costs: str = "",
) -> EngineKey:
    return (
        choose("metric", metric, METRICS),
        choose("domain", domain, DOMAINS),
        choose("algorithm", algorithm, ALGORITHMS),
        choose("search", search, SEARCHES),
        *choose_device(device),
        whole("threads", threads or 0, 32),
        cpu_features,
        whole("device_memory", device_memory),
        whole("host_memory", host_memory),
        device_timeout,
        costs,
    )
