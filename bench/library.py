# SPDX-License-Identifier: MIT
"""libtmatch through ctypes, for scripts that time it beside others in one process."""

import argparse
import ctypes as c
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(ROOT, "build", "libtmatch.so")

ALGORITHMS = ("auto", "reference", "direct", "fft", "cufft")
METRICS = ("lcc", "ccorr")
STRATEGIES = ("auto", "exhaustive", "certified", "pyramid")


class Image(c.Structure):
    _fields_ = [("samples", c.c_void_p), ("width", c.c_int64), ("height", c.c_int64),
                ("stride", c.c_ssize_t), ("type", c.c_int), ("channels", c.c_int),
                ("mask", c.c_void_p), ("mask_stride", c.c_ssize_t)]


class Settings(c.Structure):
    _fields_ = [("size", c.c_size_t), ("metric", c.c_int), ("domain", c.c_int),
                ("algorithm", c.c_int), ("device", c.c_int), ("device_index", c.c_int),
                ("threads", c.c_int), ("cpu_features", c.c_uint32), ("device_mask", c.c_uint64),
                ("device_memory", c.c_int64), ("host_memory", c.c_int64), ("strategy", c.c_int)]


class Times(c.Structure):
    _fields_ = [(name, c.c_double) for name in ("to_device", "kernel", "from_device", "total")]


class Peak(c.Structure):
    _fields_ = [("x", c.c_int64), ("y", c.c_int64), ("score", c.c_double)]


class Map(c.Structure):
    _fields_ = [("data", c.c_void_p), ("stride", c.c_ssize_t)]


class Search(c.Structure):
    _fields_ = [("size", c.c_size_t), ("most", c.c_int64), ("min_score", c.c_double),
                ("overlap", c.c_double), ("peaks", c.c_int64), ("margin", c.c_int),
                ("subpixel", c.c_int), ("margin_ratio", c.c_double), ("only_matches", c.c_int)]


class Hits(c.Structure):
    _fields_ = [("items", c.c_void_p), ("count", c.c_size_t), ("cut_off", c.c_int), ("best", Peak)]


class PoseGrid(c.Structure):
    _fields_ = [("size", c.c_size_t), ("angle_from", c.c_double), ("angle_to", c.c_double),
                ("angle_step", c.c_double), ("scale_from", c.c_double), ("scale_to", c.c_double),
                ("scale_step", c.c_double), ("support", c.c_int)]


class Pose(c.Structure):
    _fields_ = [("angle", c.c_double), ("scale", c.c_double), ("width", c.c_int64),
                ("height", c.c_int64), ("pixels", c.c_int64), ("left_out", c.c_int)]


class PosedHit(c.Structure):
    _fields_ = [("score", c.c_double), ("angle", c.c_double), ("scale", c.c_double),
                ("center_x", c.c_double), ("center_y", c.c_double), ("corners", c.c_double * 8),
                ("x", c.c_int64), ("y", c.c_int64), ("width", c.c_int64), ("height", c.c_int64),
                ("margin", c.c_double), ("margin_below", c.c_double), ("fine_x", c.c_double), ("fine_y", c.c_double),
                ("fine_angle", c.c_double), ("fine_scale", c.c_double), ("pose", c.c_size_t)]


class PosedHits(c.Structure):
    _fields_ = [("items", c.POINTER(PosedHit)), ("count", c.c_size_t), ("cut_off", c.c_int),
                ("best", PosedHit)]


def load(path=BUILT):
    lib = c.CDLL(os.path.abspath(path))
    lib.tm_posed_template_count.restype = c.c_size_t
    for name in ("tm_matcher_plan", "tm_matcher_message", "tm_matcher_algorithm", "tm_matcher_strategy"):
        getattr(lib, name).restype = c.c_char_p
    lib.tm_matcher_scored.restype = c.c_double
    lib.tm_matcher_times.restype = Times
    return lib


def image_of(array):
    return Image(array.ctypes.data, array.shape[1], array.shape[0], array.strides[0])


class Matcher:
    """For 8-bit gray, on the CPU or, if that is named, a CUDA device."""

    def __init__(self, lib, threads, features="all", strategy="auto", cuda=None, algorithm="auto", metric="lcc"):
        self.lib, self.handle, self.template = lib, c.c_void_p(), c.c_void_p()
        settings, mask = Settings(), c.c_uint32()
        lib.tm_settings_default(c.byref(settings), c.c_size_t(c.sizeof(settings)))
        if lib.tm_cpu_features_parse(features.encode(), c.byref(mask)):
            raise SystemExit(f"no such features: {features}")
        settings.device, settings.threads, settings.cpu_features = 1, threads, mask
        if cuda is not None:
            settings.device, settings.device_index = 2, cuda
        settings.strategy = STRATEGIES.index(strategy)
        settings.algorithm, settings.metric = ALGORITHMS.index(algorithm), METRICS.index(metric)
        self.check(lib.tm_matcher_create(c.byref(self.handle), c.byref(settings)))

    def check(self, status):
        if status:
            raise SystemExit(self.lib.tm_matcher_message(self.handle).decode())

    def prepare(self, template):
        image = image_of(template)
        self.check(self.lib.tm_template_create(c.byref(self.template), self.handle, c.byref(image)))

    def forget(self):
        self.lib.tm_template_destroy(c.byref(self.template))

    def match(self, frame, scores=None):
        """(x, y, score), and the map of all scores in an array, if one is given: float32 for lcc, int64 for ccorr."""
        peak, image = Peak(), image_of(frame)
        to = None if scores is None else c.byref(Map(scores.ctypes.data, scores.strides[0]))
        self.check(self.lib.tm_match(self.handle, c.byref(image), self.template, c.byref(peak), to))
        return peak.x, peak.y, peak.score

    def match_all(self, frame, min_score, most=0):
        """(x, y, score) of the best place, and how many matches score min_score, or are the best so many."""
        search, hits, image = Search(), Hits(), image_of(frame)
        self.lib.tm_search_default(c.byref(search), c.c_size_t(c.sizeof(search)))
        search.min_score, search.most = min_score, most
        self.check(self.lib.tm_match_peaks(self.handle, c.byref(image), c.byref(self.template),
                                           c.c_size_t(1), c.byref(search), c.byref(hits), None))
        found = hits.best.x, hits.best.y, hits.best.score, hits.count
        self.lib.tm_hits_free(c.byref(hits))
        return found

    def close(self):
        self.lib.tm_matcher_destroy(c.byref(self.handle))

    def times(self):
        return self.lib.tm_matcher_times(self.handle)

    def plan(self):
        return self.lib.tm_matcher_plan(self.handle).decode()

    def ran(self):
        """"direct", "certified", "pyramid" or "fft", and the share of the windows that was scored."""
        algorithm = self.lib.tm_matcher_algorithm(self.handle).decode()
        strategy = self.lib.tm_matcher_strategy(self.handle).decode()
        if strategy != "exhaustive":
            algorithm = strategy
        return algorithm, self.lib.tm_matcher_scored(self.handle)


class Posed:
    """A template in poses, for a Matcher. angles and scales: (from, to, step)."""

    def __init__(self, matcher, template, angles, scales=(1, 1, 0)):
        self.matcher, self.lib, self.handle = matcher, matcher.lib, c.c_void_p()
        image, self.grid = image_of(template), PoseGrid()
        self.lib.tm_pose_grid_default(c.byref(self.grid), c.c_size_t(c.sizeof(PoseGrid)))
        self.grid.angle_from, self.grid.angle_to, self.grid.angle_step = angles
        self.grid.scale_from, self.grid.scale_to, self.grid.scale_step = scales
        matcher.check(self.lib.tm_posed_template_create(c.byref(self.handle), matcher.handle,
                                                        c.byref(image), c.byref(self.grid)))
        matcher.check(self.lib.tm_posed_template_grid(self.handle, c.byref(self.grid)))
        self.count = self.lib.tm_posed_template_count(self.handle)

    def forget(self):
        self.lib.tm_posed_template_destroy(c.byref(self.handle))

    def match(self, frame, most, min_score, subpixel=1, only_matches=0):
        """(the matches, the best of all), with sub-pixel places; only_matches: nothing of a best that is no match."""
        search, hits, image = Search(), PosedHits(), image_of(frame)
        self.lib.tm_search_default(c.byref(search), c.c_size_t(c.sizeof(search)))
        search.most, search.min_score, search.subpixel, search.only_matches = most, min_score, subpixel, only_matches
        self.matcher.check(self.lib.tm_match_posed(self.matcher.handle, c.byref(image), self.handle,
                                                   c.byref(search), c.byref(hits)))
        found = [PosedHit.from_buffer_copy(hits.items[i]) for i in range(hits.count)]
        best = PosedHit.from_buffer_copy(hits.best)
        self.lib.tm_posed_hits_free(c.byref(hits))
        return found, best


def processor():
    with open("/proc/cpuinfo") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return f"{names[0]}, {len(os.sched_getaffinity(0))} cores"


def commit():
    if "TMATCH_COMMIT" in os.environ:
        return os.environ["TMATCH_COMMIT"]
    try:
        return subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                                       text=True, stderr=subprocess.DEVNULL).strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine():
    """What results of the CPU were measured with, and when."""
    return {"cpu": processor(), "threads": os.cpu_count(), "commit": commit(),
            "date": datetime.date.today().isoformat()}


def gpu():
    """What a GPU's results were measured with, of a machine with one kind of GPU; {} without one."""
    try:
        name, driver = subprocess.check_output(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
            text=True, stderr=subprocess.DEVNULL).splitlines()[0].split(", ")
        cuda = re.search("release ([0-9.]+)", subprocess.check_output(["nvcc", "--version"], text=True)).group(1)
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"gpu": name, "driver": driver, "cuda": cuda}


def arguments(description, add, rounds=3, table=None):
    """The arguments of a script that writes its results: add adds its own to --rounds, --json and, where the script prints a
    table, --table, which prints that of a file that was written before, and nothing else."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", type=pathlib.Path)
    if table:
        parser.add_argument("--table", type=pathlib.Path)
    add(parser)
    o = parser.parse_args()
    if table and o.table:
        print(table(json.loads(o.table.read_text())))
        sys.exit()
    return o


def write(o, document):
    """Where --json says, if it says so."""
    if o.json:
        o.json.write_text(json.dumps(document, indent=1) + "\n")


def timed(call):
    start = time.perf_counter()
    result = call()
    return (time.perf_counter() - start) * 1e3, result
