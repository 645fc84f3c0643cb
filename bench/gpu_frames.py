#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames that are on a GPU already, matched where they lie, beside CuPy's own ways: bench/gpu_frames.py

Each of 1,000 frames is made on the GPU by a kernel, then matched; its best place is needed on the host,
but where "not waited for" stands, which takes the best places of all frames in the end. Milliseconds of a
frame, the median of several rounds, and how many times tmatch's in place that is. The ways:

    host        the frame is copied to the host by CuPy and matched from there
    cupy        matched in place, by __cuda_array_interface__
    torch       matched in place, by DLPack; PyTorch makes the frames
    async       tm_match_device_async of the C library (--lib): not waited for
    cupy-fft    the correlation coefficient by cupy.fft and sums of windows, its argmax
    cucim       cucim.skimage.feature.match_template, its argmax

A package that is not installed is listed with the reason. All ways have to agree on the places. PyTorch's
profiler, which sees the calls of CUDA's runtime and driver of the whole process, then counts in one more
round how often the host waited for the device: more than once a frame in cupy and torch, or for single
frames in async, is a failure."""

import argparse
import ctypes
import json
import statistics
import sys
import time

import numpy as np
import tmatch

import library


class Settings(ctypes.Structure):
    """The first of tm_settings' fields; the size says that there are no more."""

    _fields_ = [("size", ctypes.c_size_t), ("metric", ctypes.c_int), ("domain", ctypes.c_int),
                ("algorithm", ctypes.c_int), ("device", ctypes.c_int), ("device_index", ctypes.c_int)]


class Image(ctypes.Structure):
    _fields_ = [("samples", ctypes.c_void_p), ("width", ctypes.c_int64), ("height", ctypes.c_int64),
                ("stride", ctypes.c_ssize_t), ("type", ctypes.c_int), ("channels", ctypes.c_int),
                ("mask", ctypes.c_void_p), ("mask_stride", ctypes.c_ssize_t)]


class DeviceImage(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("image", Image), ("pixel_stride", ctypes.c_ssize_t),
                ("channel_stride", ctypes.c_ssize_t), ("device", ctypes.c_int), ("stream", ctypes.c_void_p)]


class Problem:
    """Frames of noise in which the template lies somewhere else each time."""

    def __init__(self, options):
        rng = np.random.default_rng(options.seed)
        width, height, side = options.width, options.height, options.template
        self.count = options.frames
        self.noise = rng.integers(0, 256, (height, width), dtype=np.uint8)
        self.template = rng.integers(0, 256, (side, side), dtype=np.uint8)
        self.places = [(int(x), int(y)) for x, y in zip(rng.integers(0, width - side, self.count),
                                                        rng.integers(0, height - side, self.count))]

    def frames(self, noise, template):
        """Makes them one by one with the array library that noise and template belong to."""
        side = template.shape[0]
        for x, y in self.places:
            frame = noise ^ 85
            frame[y:y + side, x:x + side] = template
            yield frame


def host(p, options):
    import cupy
    noise, template = cupy.asarray(p.noise), cupy.asarray(p.template)
    matcher = tmatch.Matcher(p.template, device=f"cuda:{options.device}")
    return lambda: [matcher.match(frame.get())[0].box[:2] for frame in p.frames(noise, template)]


def cupy_in_place(p, options):
    import cupy
    noise, template = cupy.asarray(p.noise), cupy.asarray(p.template)
    matcher = tmatch.Matcher(p.template, device=f"cuda:{options.device}")
    return lambda: [matcher.match(frame)[0].box[:2] for frame in p.frames(noise, template)]


def torch_in_place(p, options):
    import torch
    place = f"cuda:{options.device}"
    noise, template = (torch.from_numpy(a).to(place) for a in (p.noise, p.template))
    matcher = tmatch.Matcher(p.template, device=place)
    return lambda: [matcher.match(frame)[0].box[:2] for frame in p.frames(noise, template)]


def not_waited_for(p, options):
    import cupy
    if not options.lib:
        raise ModuleNotFoundError("--lib names no libtmatch.so")
    library = ctypes.CDLL(options.lib)
    library.tm_matcher_message.restype = ctypes.c_char_p
    matcher, tmpl, settings = ctypes.c_void_p(), ctypes.c_void_p(), Settings()
    library.tm_settings_default(ctypes.byref(settings), ctypes.c_size_t(ctypes.sizeof(settings)))
    settings.device_index = options.device
    image = Image(p.template.ctypes.data, p.template.shape[1], p.template.shape[0], p.template.strides[0])

    def check(status):
        if status:
            raise RuntimeError(library.tm_matcher_message(matcher).decode())

    check(library.tm_matcher_create(ctypes.byref(matcher), ctypes.byref(settings)))
    check(library.tm_template_create(ctypes.byref(tmpl), matcher, ctypes.byref(image)))
    noise, template = cupy.asarray(p.noise), cupy.asarray(p.template)
    bests = cupy.zeros((p.count, 3), cupy.int64)  # x, y and the score's bits
    list_of_one = (ctypes.c_void_p * 1)(tmpl)

    def run():
        for i, frame in enumerate(p.frames(noise, template)):
            there = DeviceImage(ctypes.sizeof(DeviceImage),
                                Image(frame.data.ptr, frame.shape[1], frame.shape[0], frame.strides[0]),
                                0, 0, options.device, cupy.cuda.get_current_stream().ptr)
            check(library.tm_match_device_async(matcher, ctypes.byref(there), list_of_one, ctypes.c_size_t(1),
                                                ctypes.c_void_p(bests[i].data.ptr), None))
        return [(int(x), int(y)) for x, y in bests.get()[:, :2]]

    return run


def cupy_fft(p, options):
    import cupy
    noise, template = cupy.asarray(p.noise), cupy.asarray(p.template)
    height, width = p.noise.shape
    side = p.template.shape[0]
    t = template.astype(cupy.float32)
    spectrum = cupy.conj(cupy.fft.rfft2(t - t.mean(), (height, width)))

    def sums(a):
        s = cupy.pad(a.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        return s[side:, side:] - s[:-side, side:] - s[side:, :-side] + s[:-side, :-side]

    def best(frame):
        f = frame.astype(cupy.float32)
        products = cupy.fft.irfft2(cupy.fft.rfft2(f) * spectrum, (height, width))
        products = products[:height - side + 1, :width - side + 1]
        wide = frame.astype(cupy.float64)
        variances = sums(wide * wide) - sums(wide) ** 2 / side**2
        scores = products / cupy.sqrt(cupy.maximum(variances, 1))
        y, x = divmod(int(scores.argmax()), scores.shape[1])
        return x, y

    return lambda: [best(frame) for frame in p.frames(noise, template)]


def cucim(p, options):
    import cupy
    from cucim.skimage.feature import match_template
    noise, template = cupy.asarray(p.noise), cupy.asarray(p.template)

    def best(frame):
        scores = match_template(frame, template)
        y, x = divmod(int(scores.argmax()), scores.shape[1])
        return x, y

    return lambda: [best(frame) for frame in p.frames(noise, template)]


# Calls that return when the device has done something.
WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpy2D",
         "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2")
MOST_WAITS = {"cupy": 1, "torch": 1, "async": 0}  # a frame


def count_waits(run):
    """How often each of WAITS is called in a run, or None where nothing can tell."""
    try:
        from torch.profiler import ProfilerActivity, profile
    except ImportError:
        return None
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        run()
    calls = {entry.key: entry.count for entry in profiler.key_averages()}
    launches = sum(count for name, count in calls.items() if "LaunchKernel" in name)
    if not launches:
        return None  # it saw nothing
    return {name: calls[name] for name in WAITS if name in calls}


WAYS = {"cupy": cupy_in_place, "torch": torch_in_place, "async": not_waited_for, "host": host,
        "cupy-fft": cupy_fft, "cucim": cucim}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=1920)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--template", type=int, default=64, help="its side")
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", default=",".join(WAYS), help="default: %(default)s")
    parser.add_argument("--lib", help="libtmatch.so, for async")
    parser.add_argument("--json", help="a file for the results")
    options = parser.parse_args()
    problem, results, wrong, too_many = Problem(options), {}, 0, 0

    for name in options.ways.split(","):
        try:
            run = WAYS[name](problem, options)
        except ImportError as missing:
            print(f"{name:10} left out: {missing}")
            continue
        wrong += run() != problem.places  # and warms up
        times = []
        for _ in range(options.rounds):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3 / problem.count)
        results[name] = {"median": statistics.median(times), "min": min(times), "max": max(times)}
        ratio = results[name]["median"] / results.get("cupy", results[name])["median"]
        waits = results[name]["waits"] = count_waits(run)
        # Once more for what is left to the end, and once by the profiler itself.
        most = MOST_WAITS.get(name, float("inf")) * problem.count + 2
        too_many += waits is not None and sum(waits.values()) > most
        print(f"{name:10} {results[name]['median']:8.4f} ms  {ratio:6.2f}  waits: {waits}", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"commit": library.commit(), **library.gpu(), "options": vars(options), "ms_a_frame": results},
                      file, indent=1)
    if wrong:
        print(f"{wrong} ways found other places than where the template lies", file=sys.stderr)
    if too_many:
        print(f"{too_many} ways waited for the device more often than for their results", file=sys.stderr)
    return 1 if wrong or too_many or not results else 0


if __name__ == "__main__":
    sys.exit(main())
