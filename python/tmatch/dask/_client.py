# SPDX-License-Identifier: MIT
"""What the client does before a call's tasks, and between them."""

from __future__ import annotations

import importlib.util
import os
import time
import warnings
from typing import Any

from .._matcher import Matcher
from .._prepared import check_search_of_all
from .._read import open_sandbox
from .._settings import engine_key
from ._open import read_frame
from ._worker import Work, forget

LOOK_SECONDS = 1.0  # how often the client asks which workers there are


def _load(template: Any, color: bool, options: dict[str, Any], sandbox: bool) -> Any:
    """The template, or the list of them, those that are paths or URLs read."""
    if isinstance(template, (list, tuple)):
        return [_load(one, color, options, sandbox) for one in template]
    is_path = isinstance(template, (str, os.PathLike))
    return read_frame(os.fspath(template), color, options, sandbox) if is_path else template


def _check_client(client: Any) -> None:
    if getattr(client, "asynchronous", False):
        raise TypeError("client must not be asynchronous")
    if not hasattr(client, "run"):
        raise TypeError(f"client must be a distributed.Client, not {type(client).__name__}")
    if getattr(client, "status", None) in ("closing", "closed"):
        raise ValueError("the client is closed")


def _check_workers(client: Any) -> None:
    """A worker that cannot import tmatch would die of each task, again and again."""
    try:
        found = client.run(importlib.util.find_spec, "tmatch")
    except Exception:  # a worker that has just died
        return
    without = [address for address, spec in found.items() if spec is None]
    if without:
        raise ModuleNotFoundError(
            f"{len(without)} of {len(found)} workers have no tmatch, such as {without[0]}: "
            "they need the version that the client has"
        )


def prepare(
    client: Any,
    template: Any,
    mask: Any,
    color: bool,
    prepared: dict[str, Any],
    search: dict[str, Any],
    options: dict[str, Any] | None,
    sandbox: bool = False,
    **counts: int | None,
) -> tuple[Work, Matcher[Any]]:
    """What the tasks have in common, and a matcher of the client's own CPU. Raises what is wrong with it."""
    _check_client(client)
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} must be 1 or more, not {value}")
    words = {word: prepared[word] for word in ("metric", "domain", "algorithm", "search", "device")}
    engine_key(**words, threads=1)
    check_search_of_all(
        search["n"], search["min_score"], search["overlap"], search.get("region"), prepared["metric"]
    )
    if sandbox:
        open_sandbox()
    templates = _load(template, color, options or {}, sandbox)
    here = {**prepared, "algorithm": "auto", "device": "cpu"}
    _check_workers(client)
    matcher: Matcher[Any] = Matcher(templates, mask=mask, threads=1, **here)
    return Work(templates, mask, prepared, search, color, options, sandbox), matcher


def submit(client: Any, function: Any, *arguments: Any, **options: Any) -> Any:
    """client.submit of a function, whatever is sent with it: Dask says so where that is large."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(function, *arguments, pure=False, **options)


def fail(future: Any) -> None:
    """Raises what a task ended with."""
    if future.cancelled():
        raise RuntimeError("the client, or the cluster, was closed or restarted before all was matched")
    future.result()


def end(client: Any, work: Work) -> None:
    """Lets the workers forget the work, as far as they hear it."""
    if client.status == "running":
        try:
            client.run(forget, work.token, wait=False)
        except Exception:  # a worker that has just died; others forget the work with the next calls
            pass


class Crew:
    """The workers' threads, which come and go."""

    def __init__(self, client: Any, device: str):
        self.client = client
        self.on_gpu = device.startswith("cuda")
        self.resources: dict[str, float] | None = None
        self._threads = 1
        self._until = 0.0

    def threads(self) -> int:
        """How many there are, at least 1; they are counted anew each second."""
        if time.monotonic() < self._until:
            return self._threads
        threads = sum(self.client.nthreads().values())
        if self.on_gpu:
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
            gpus = sum(worker["resources"].get("GPU", 0) for worker in workers)
            self.resources = {"GPU": 1} if gpus else None
            threads = int(gpus) or threads
        self._threads = max(1, threads)
        self._until = time.monotonic() + LOOK_SECONDS
        return self._threads
