# SPDX-License-Identifier: MIT
"""Frames, masks, templates and score maps in a GPU's memory: see gpu.py."""

import gc
import mmap
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tmatch
from gpu import CudaArray, DLPackArray, Gpu
from tmatch import _functions


@pytest.fixture
def no_engines(monkeypatch):
    monkeypatch.setattr(_functions, "_idle", {})  # of another backend


@pytest.fixture
def gpu(monkeypatch, no_engines):
    folder = os.environ.get("TMATCH_EMULATED_PLUGIN_DIR", "")
    if not os.path.exists(os.path.join(folder, "libtmatch-cuda.so")):
        pytest.skip("TMATCH_EMULATED_PLUGIN_DIR names no emulated device")
    monkeypatch.setenv("TMATCH_PLUGIN_DIR", folder)
    monkeypatch.setenv("TMATCH_EMULATED_DEVICES", "2")
    return Gpu(folder)


def layouts(a):
    yield "packed", a.copy()
    padded = np.zeros((a.shape[0] + 3, a.shape[1] + 5, *a.shape[2:]), a.dtype)
    padded[2:-1, 3:-2] = a
    yield "part of a larger one", padded[2:-1, 3:-2]
    yield "upside down", a[::-1].copy()[::-1]
    yield "mirrored", a[:, ::-1].copy()[:, ::-1]
    yield "by columns", np.asfortranarray(a)
    wide = np.zeros((a.shape[0], a.shape[1] * 3, *a.shape[2:]), a.dtype)
    wide[:, ::3] = a
    yield "every third column", wide[:, ::3]
    if a.ndim == 3:
        yield "planes", np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 2, 0)), 0, 2)
        yield "channels reversed twice", a[..., ::-1].copy()[..., ::-1]


@pytest.mark.parametrize("library", [CudaArray, DLPackArray])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_same_bits(gpu, rng, library, kind, channels):
    frame = rng.integers(0, 256, (24, 30, *channels)).astype(kind)
    template = frame[5:12, 8:14].copy()
    matcher = tmatch.Matcher(template, device="cuda:0", algorithm="direct")
    host = np.asarray(matcher.score_map(frame))
    hits = matcher.match(frame, n=4, margin=True)
    for name, view in layouts(frame):
        scores = matcher.score_map(library(gpu, view))
        assert isinstance(scores, tmatch.DeviceScoreMap) and scores.device == "cuda:0"
        assert scores.shape == host.shape and scores.dtype == host.dtype
        assert np.array_equal(gpu.get(scores.__cuda_array_interface__), host), name
        assert scores.best == hits[0] or scores.best.score == hits[0].score
        assert matcher.match(library(gpu, view), n=4, margin=True) == hits, name
        assert tmatch.match(library(gpu, view), library(gpu, template))[0].box == hits[0].box, name


@pytest.mark.parametrize("library", [CudaArray, DLPackArray])
def test_masks_and_regions(gpu, scene, rng, library):
    frame, template = scene
    mask = rng.integers(0, 2, template.shape).astype(bool)
    over = (rng.integers(0, 50, frame.shape) > 0).astype(np.uint8)
    region = (5, 4, 50, 40)
    expected = np.asarray(tmatch.score_map(frame, template, mask=mask, frame_mask=over, region=region))
    scores = tmatch.score_map(
        library(gpu, frame), template, mask=mask, frame_mask=library(gpu, over), region=region
    )
    assert np.array_equal(gpu.get(scores.__cuda_array_interface__), expected)
    assert scores.origin == (5, 4) and scores.skipped < -1e38


def test_refusing_buffers(gpu, scene):
    """CuPy's arrays have the buffer protocol, and refuse to give one."""
    samples = CudaArray(gpu, scene[0])

    class Closed(mmap.mmap):
        __cuda_array_interface__ = samples.__cuda_array_interface__

    there = Closed(-1, 1)
    there.close()
    with pytest.raises(ValueError, match="closed"):
        memoryview(there)
    assert tmatch.match(there, scene[1]) == tmatch.match(*scene)
    with pytest.raises(TypeError, match="lies in a GPU's memory"):
        tmatch.match(there, scene[1], device="cpu")
    plain = mmap.mmap(-1, 1)
    plain.close()
    with pytest.raises(ValueError, match="closed"):
        tmatch.match(plain, scene[1])


def test_on_the_stream(gpu, rng):
    """Frames one after the other in the same memory, each copied there in the stream's order."""
    frames = rng.integers(0, 256, (8, 40, 50), dtype=np.uint8)
    stream, template = gpu.stream(), frames[3, 10:20, 20:30].copy()
    there = CudaArray(gpu, frames[0].copy(), stream)
    matcher = tmatch.Matcher(template, device="cuda")
    for frame in frames:
        frame = frame.copy()
        gpu.call("cudaMemcpyAsync", there.data, frame.ctypes.data, frame.nbytes, 1, stream)
        assert matcher.match(there) == tmatch.match(frame, template, device="cpu")
    assert matcher.report.device.startswith("cuda:0")


def test_other_devices(gpu, scene):
    frame, template = scene
    expected = tmatch.match(frame, template, device="cpu")
    assert tmatch.match(DLPackArray(gpu, frame, device=1), template) == expected
    assert tmatch.match(CudaArray(gpu, frame, device=1), template, device="cuda:1") == expected
    with pytest.raises(tmatch.InputError, match="the picture lies on cuda:1, and the matcher is of cuda:0"):
        tmatch.match(DLPackArray(gpu, frame, device=1), template, device="cuda:0")
    with pytest.raises(tmatch.InputError, match="lie in the memory of cuda:1, not in that of cuda:0"):
        tmatch.match(CudaArray(gpu, frame, device=1), template, device="cuda:0")


def test_maps_of_a_device(gpu, scene):
    frame, template = scene
    matcher = tmatch.Matcher(template, device="cuda:0", device_memory=8 << 20)
    scores = matcher.score_map(CudaArray(gpu, frame))
    interface = scores.__cuda_array_interface__
    assert interface["version"] == 3 and interface["stream"] is None and interface["strides"] is None
    assert scores.__dlpack_device__() == (2, 0)
    assert "cuda:0" in repr(scores)
    with pytest.raises(TypeError, match="lies in the memory of cuda:0"):
        np.asarray(scores)
    for wrong in ({"dl_device": (1, 0)}, {"dl_device": (2, 1)}, {"copy": True}):
        with pytest.raises(BufferError):
            scores.__dlpack__(**wrong)
    before = sys.getrefcount(scores)
    capsule = scores.__dlpack__(stream=1, max_version=(1, 0), dl_device=(2, 0))
    assert sys.getrefcount(scores) == before + 1
    del capsule
    assert sys.getrefcount(scores) == before
    part = gpu.get(interface)[3:9, 4:9].copy()
    assert tmatch.match(scores, part)[0].box == (4, 3, 5, 6), "the map is a frame"
    assert sys.getrefcount(scores) == before
    del matcher  # the map keeps what it needs
    assert gpu.get(scores.__cuda_array_interface__).shape == scores.shape


@pytest.mark.parametrize("library", [CudaArray, DLPackArray])
def test_not_waited_for(gpu, rng, library):
    frames = rng.integers(0, 256, (9, 40, 50), dtype=np.uint8)
    template = frames[3, 10:20, 20:30].copy()
    there = [library(gpu, frame) for frame in frames]
    over = (rng.integers(0, 50, (40, 50)) > 0).astype(np.uint8)
    matcher, several = (tmatch.Matcher(t, device="cuda") for t in (template, [template, template[:5].copy()]))
    for wanted in range(2):  # memory of the first matches serves again
        begun = [matcher.match_async(frame) for frame in there]
        for frame, pending in zip(frames[::-1], begun[::-1]):
            while wanted and not pending.ready():
                pass
            assert pending.result() == tmatch.match(frame, template, device="cpu")
            assert pending.ready() and pending.result() is pending.result()
    masked = {"frame_mask": library(gpu, over), "region": (5, 4, 40, 30)}
    begun, other = several.match_async(there[3], **masked), several.match_async(there[4])
    del matcher
    assert begun.result() == several.match(there[3], **masked)
    del several, masked  # a match keeps what it needs
    assert [len(matches) for matches in other.result()] == [1, 1]


def test_not_waited_for_holds_the_frame(gpu, scene):
    frame, template = scene
    there = CudaArray(gpu, frame)
    matcher = tmatch.Matcher(template, device="cuda")
    before = sys.getrefcount(there)
    pending = matcher.match_async(there)
    assert sys.getrefcount(there) > before
    pending.result()
    assert sys.getrefcount(there) == before
    for _ in range(3):
        matcher.match_async(there)  # waits as it is dropped
        assert sys.getrefcount(there) == before
    pending = matcher.match_async(there)
    with ThreadPoolExecutor(4) as pool:
        results = [pool.submit(pending.result) for _ in range(8)]
    assert {str(r.result()) for r in results} == {str(tmatch.match(frame, template, device="cpu"))}


def test_not_waited_for_refused(gpu, scene):
    frame, template = scene
    there, floats = CudaArray(gpu, frame), CudaArray(gpu, np.full((30, 40), np.nan, np.float32))
    matcher = tmatch.Matcher(template, device="cuda")
    before = sys.getrefcount(there), sys.getrefcount(frame)
    with pytest.raises(TypeError, match="the frame lies in the host's memory"):
        matcher.match_async(frame)
    with pytest.raises(TypeError, match="lies in a GPU's memory"):
        tmatch.Matcher(template, device="cpu").match_async(there)
    with pytest.raises(ValueError, match="templates in poses"):
        tmatch.Matcher(template, device="cuda", angle=(0, 90, 30)).match_async(there)
    with pytest.raises(tmatch.InputError) as error:
        tmatch.Matcher(np.tile(template, (9, 9)), device="cuda").match_async(there)
    assert error.value.status == "FRAME_TOO_SMALL"
    with pytest.raises(ValueError, match="region"):
        matcher.match_async(there, region=(0, 0, 1000, 1000))
    del error
    gc.collect()
    assert (sys.getrefcount(there), sys.getrefcount(frame)) == before
    pending = tmatch.Matcher(template.astype(np.float32), device="cuda").match_async(floats)
    for _ in range(2):
        with pytest.raises(tmatch.InputError, match="a sample is not finite") as error:
            pending.result()
        assert error.value.status == "NO_POSITION"
    matcher.close()
    with pytest.raises(ValueError, match="closed"):
        matcher.match_async(there)


def test_not_waited_for_failing(gpu, scene, monkeypatch):
    """Whatever call of CUDA fails, it is said, the frame is given back, and the next matcher matches."""
    frame, template = scene
    there = CudaArray(gpu, frame)
    expected = tmatch.match(frame, template, device="cpu")
    before, failed = sys.getrefcount(there), 0
    for call in range(20, 140, 3):
        monkeypatch.setenv("TMATCH_FAULT", f"0:{call}:719")
        try:
            matcher = tmatch.Matcher(template, device="cuda")
            monkeypatch.delenv("TMATCH_FAULT")
            for _ in range(4):
                begun = [matcher.match_async(there) for _ in range(3)]
                assert all(pending.result() == expected for pending in begun)
        except tmatch.Error as error:
            failed += error.status in ("DEVICE", "DEVICE_MEMORY")
        begun = matcher = None
        gc.collect()
        assert sys.getrefcount(there) == before
    assert failed > 5


def test_memory_is_given_back(gpu, rng):
    frame = rng.integers(0, 256, (300, 400), dtype=np.uint8)
    matcher = tmatch.Matcher(frame[:9, :9].copy(), device="cuda:0", device_memory=6 << 20)
    there = CudaArray(gpu, frame)
    for _ in range(30):  # each of 0.5 MB
        matcher.score_map(there)
    kept = []
    with pytest.raises(tmatch.Error) as error:
        for _ in range(30):
            kept.append(matcher.score_map(there))
    assert error.value.status == "DEVICE_MEMORY" and kept
    kept.clear()
    gc.collect()
    assert matcher.score_map(there).best.score == 1


def test_refused(gpu, scene):
    frame, template = scene
    there, plain = CudaArray(gpu, frame), CudaArray(gpu, frame)
    matcher = tmatch.Matcher(template, device="cuda:0")

    def refused(error, message, call, *arguments, **more):
        counts = [sys.getrefcount(a) for a in (there, template)]
        with pytest.raises(error, match=message):
            call(*arguments, **more)
        gc.collect()
        assert [sys.getrefcount(a) for a in (there, template)] == counts
        assert matcher.match(there)[0].score == 1

    refused(TypeError, "the frame lies in a GPU's memory", tmatch.match, there, template, device="cpu")
    refused(TypeError, "the frame lies in a GPU's memory", tmatch.match, there, template, algorithm="reference")
    refused(TypeError, "the template lies in a GPU's memory", tmatch.match, frame, there, angle=(0, 90))
    refused(TypeError, "the frame lies in a GPU's memory", tmatch.match, there, template, angle=(0, 90))
    refused(TypeError, "the mask of the template lies in a GPU's memory", tmatch.match, frame, template, mask=there)
    refused(TypeError, "the mask of the frame lies in a GPU's memory", tmatch.match, frame, template, frame_mask=there)
    refused(ValueError, "the mask of the frame must lie beside it", matcher.match, there, frame_mask=frame)
    refused(tmatch.InputError, "sub-pixel", matcher.match, there, subpixel=True)
    refused(TypeError, "lies in a GPU's memory", tmatch.draw, there, [])
    plain.strides = (0, 1)
    refused(ValueError, "repeats its samples", matcher.match, plain)
    plain.strides = (64, 1)
    plain.address = frame.ctypes.data
    refused(tmatch.InputError, "samples lie in the host's memory, not in that of cuda:0", matcher.match, plain)
    refused(tmatch.InputError, "lie in the host's memory", tmatch.match, frame, plain)
    plain.address, plain.stream = there.address, 0
    refused(ValueError, "stream 0", matcher.match, plain)
    plain.stream = gpu.stream(1)
    refused(tmatch.InputError, "the stream is not one of cuda:0's", matcher.match, plain)


def test_no_device(scene, monkeypatch, no_engines):
    class Wrong:
        __cuda_array_interface__ = {"shape": (4, 4), "typestr": "|u1", "data": (64, False), "version": 3}

    monkeypatch.setenv("TMATCH_PLUGIN_DIR", "/nowhere")
    with pytest.raises(TypeError, match=r"the frame lies in a GPU's memory.*\.get\(\)"):
        tmatch.match(Wrong(), scene[1])


def cupy_arrays(cupy):
    other = cupy.cuda.Stream(non_blocking=True)
    return cupy.asarray, lambda scores: cupy.asarray(scores).get(), other


def torch_arrays(torch):
    other = torch.cuda.stream(torch.cuda.Stream())
    return lambda a: torch.from_numpy(a).cuda(), lambda scores: torch.from_dlpack(scores).cpu().numpy(), other


@pytest.mark.parametrize("package, make", [("cupy", cupy_arrays), ("torch", torch_arrays)])
def test_real_arrays(scene, no_engines, package, make):
    """On a machine with a GPU, CuPy and PyTorch."""
    library = pytest.importorskip(package)
    if all(device.kind == "cpu" for device in tmatch.devices()):
        pytest.skip("there is no GPU")
    to_gpu, to_host, other_stream = make(library)
    frame, template = scene
    expected = tmatch.match(frame, template, n=3, margin=True, device="cpu")
    scores = np.asarray(tmatch.score_map(frame, template, device="cpu"))
    matcher = tmatch.Matcher(to_gpu(template), device="cuda:0")
    for _ in range(2):
        there = to_gpu(frame[::-1].copy())
        there = there[::-1] if package == "cupy" else there.flip(0)
        assert matcher.match(there, n=3, margin=True) == expected
        assert np.array_equal(to_host(matcher.score_map(there)), scores)
        with other_stream:
            there = to_gpu(frame ^ 255) ^ 255
            assert matcher.match(there, n=3, margin=True) == expected
