# SPDX-License-Identifier: MIT
import os
import pathlib
import random

import numpy as np
import pytest

DATA = pathlib.Path(os.environ.get("TMATCH_DATA_DIR", pathlib.Path(__file__).parents[2] / "data"))


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    return DATA


@pytest.fixture
def rng(request) -> np.random.Generator:
    seed = int(os.environ.get("TMATCH_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"TMATCH_TEST_SEED={seed}")
    return np.random.default_rng(seed)


@pytest.fixture
def scene(rng):
    """A frame of noise and a template that lies in it at x = 21, y = 13."""
    frame = rng.integers(0, 256, (48, 64), dtype=np.uint8)
    return frame, frame[13:21, 21:31].copy()


@pytest.fixture(scope="module")
def threads():
    """Two workers of a thread in this process."""
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
