# SPDX-License-Identifier: MIT
"""tmatch.dask: one frame over the workers."""

import os
import signal
import threading

import numpy as np
import pytest
import tmatch

distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
from tmatch.dask import match_frame  # noqa: E402


def random_search(rng):
    metric = str(rng.choice(["lcc", "lcc", "ccorr", "sqdiff_normed"]))
    least = {"lcc": 0.2, "ccorr": 10, "sqdiff_normed": 0.9}[metric]
    search = {
        "metric": metric,
        "domain": str(rng.choice(["valid", "same", "full"])),
        "n": int(rng.integers(1, 9)),
    }
    if rng.random() < 0.5:
        search |= {"min_score": least, "overlap": float(rng.choice([0, 0.3, 1]))}
    return search | {"margin": bool(rng.random() < 0.5), "subpixel": bool(rng.random() < 0.5)}


@pytest.mark.parametrize("round", range(8))
def test_frame_is_one_run(threads, rng, tmp_path, round):
    """Of few levels, so that equals and plateaus lie on the seams, too."""
    levels, kind = ((2, np.uint8), (4, np.uint16), (256, np.uint8))[round % 3]
    frame = rng.integers(0, levels, (int(rng.integers(30, 120)), int(rng.integers(20, 60)))).astype(kind)
    template = [frame[9:16, 3:12].copy(), frame[20:23, 4:9].copy()]
    frame[-9:-2, 5:14] = template[0]
    path = os.fspath(tmp_path / ("frame.npy" if round % 2 else "frame.png"))
    np.save(path, frame) if round % 2 else tmatch.write(path, frame)
    for parts in (None, 1, int(rng.integers(2, 30))):
        search = random_search(rng)
        expected = tmatch.match(frame, template, **search)
        for source in (frame, path, np.asfortranarray(frame)):
            assert match_frame(threads, template, source, parts=parts, **search) == expected, (search, parts)
        mask = rng.random(frame.shape) < 0.99
        expected = tmatch.match(frame, template[1], frame_mask=mask, **search)
        assert match_frame(threads, template[1], path, frame_mask=mask, parts=parts, **search) == expected


def test_frame_of_color_and_of_dask(threads, rng, data, tmp_path):
    color = np.asarray(tmatch.read(data / "astronaut.png", color=True))
    template = color[200:230, 100:150]
    expected = tmatch.match(color, template, n=5)
    np.save(tmp_path / "frame.npy", color)
    for frame in (
        data / "astronaut.png",
        tmp_path / "frame.npy",
        color,
        "file://" + os.fspath(data / "astronaut.png"),
    ):
        assert match_frame(threads, template, frame, color=True, n=5, parts=7) == expected
    array = pytest.importorskip("dask.array", reason="dask.array is not installed")
    lazy = array.from_array(color, chunks=(100, 130, 3))
    assert match_frame(threads, template, lazy, n=5, parts=7) == expected


def test_rows_of_files(threads, rng, tmp_path, monkeypatch):
    """Raw files and TIFF are not read whole, and need not be for the sake of transparency, which is ignored."""
    frame = rng.integers(0, 256, (120, 90), dtype=np.uint8)
    template = frame[70:80, 30:45]
    expected = tmatch.match(frame, template, n=4, margin=True)
    (tmp_path / "frame.pgm").write_bytes(b"P5 90 120 255\n" + frame.tobytes())
    names = ["frame.pgm"]
    try:
        from PIL import Image
    except ImportError:
        pass
    else:
        names += ["frame.bmp", "frame.tif", "alpha.tif"]
        for name in names[1:3]:
            Image.fromarray(frame).save(tmp_path / name)
        Image.fromarray(np.dstack([frame] * 4)).save(tmp_path / "alpha.tif")
    monkeypatch.setattr("tmatch.dask._rows.read_frame", None)
    for name in names:
        assert match_frame(threads, template, tmp_path / name, n=4, margin=True, parts=6) == expected
    masked = match_frame(threads, template, tmp_path / names[0], frame_mask=tmp_path / names[-1], parts=6)
    assert masked == tmatch.match(frame, template, frame_mask=frame)
    (tmp_path / "frame.pgm").write_bytes(b"P5 90 120 255\n" + frame.tobytes()[:-1])
    with pytest.raises(tmatch.InputError, match="frame.pgm: "):
        match_frame(threads, template, tmp_path / "frame.pgm")


def test_frame_of_a_killed_worker(rng, tmp_path):
    """One of two; the parts that it had are matched anew."""
    frame = rng.integers(0, 256, (1500, 1000), dtype=np.uint8)
    np.save(tmp_path / "frame.npy", frame)
    template = frame[700:740, 300:360]
    expected = tmatch.match(frame, template, n=3, margin=True)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        worker = min(client.run(os.getpid).values())
        killer = threading.Timer(float(rng.random()), os.kill, (worker, signal.SIGKILL))
        killer.start()
        for _ in range(3):
            options = {"n": 3, "margin": True, "search": "exhaustive", "parts": 30}
            assert match_frame(client, template, tmp_path / "frame.npy", **options) == expected
        killer.join()


def test_frame_fails_at_once(threads, data, rng):
    frame = rng.integers(0, 256, (50, 60), dtype=np.uint8)
    with pytest.raises(FileNotFoundError):
        match_frame(threads, frame[:9, :9], data / "none.png")
    with pytest.raises(tmatch.InputError):
        match_frame(threads, frame, frame[:20])
    with pytest.raises(ValueError, match="float samples"):
        match_frame(threads, frame[:9, :9].astype(np.float32), frame.astype(np.float32))
    with pytest.raises(ValueError, match="frame_mask has 9 rows, the frame 50"):
        match_frame(threads, frame[:9, :9], frame, frame_mask=np.ones((9, 60), bool))
    with pytest.raises(ValueError, match="parts must be 1 or more, not 0"):
        match_frame(threads, frame[:9, :9], frame, parts=0)
    with pytest.raises(TypeError, match="not int; try numpy.asarray"):
        match_frame(threads, frame[:9, :9], 5)
    with pytest.raises(TypeError, match="angle"):
        match_frame(threads, frame[:9, :9], frame, angle=(0, 90))
