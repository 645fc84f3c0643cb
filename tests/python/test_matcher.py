# SPDX-License-Identifier: MIT
"""Matchers that are kept, arguments that are wrong, threads, and memory."""

import inspect
import os
import resource
import sys
import threading

import numpy as np
import pytest
import tmatch


def test_stream_of_frames(rng):
    template = rng.integers(0, 256, (9, 12), dtype=np.uint8)
    with tmatch.Matcher(template, device="cpu") as matcher:
        for _ in range(20):
            frame = rng.integers(0, 256, (rng.integers(20, 60), rng.integers(20, 60)), dtype=np.uint8)
            y, x = rng.integers(0, frame.shape[0] - 9), rng.integers(0, frame.shape[1] - 12)
            frame[y : y + 9, x : x + 12] = template
            assert matcher.match(frame) == tmatch.match(frame, template)
            assert matcher.match(frame)[0].box == (x, y, 12, 9)
            assert np.array_equal(
                np.asarray(matcher.score_map(frame)), np.asarray(tmatch.score_map(frame, template))
            )
        report = matcher.report
    assert (report.device, report.search in ("exhaustive", "certified")) == ("cpu", True)
    assert report.algorithm and report.plan and 0 < report.scored <= 1 and report.milliseconds >= 0
    with pytest.raises(ValueError, match="closed"):
        matcher.match(frame)
    matcher.close()


def test_several_templates(scene):
    frame, template = scene
    matcher = tmatch.Matcher([template, frame[:7, :9]])
    assert [m[0].box for m in matcher.match(frame)] == [(21, 13, 10, 8), (0, 0, 9, 7)]
    assert matcher.score_map(frame, index=1).best.box == (0, 0, 9, 7)
    with pytest.raises(IndexError):
        matcher.score_map(frame, index=2)


def test_templates_are_copied(scene):
    frame, template = scene
    matcher = tmatch.Matcher(template)
    before = matcher.match(frame)
    template[:] = 0
    assert matcher.match(frame) == before


def test_poses(data):
    template = tmatch.read(data / "part.png")
    matcher = tmatch.Matcher(template, angle=(0, 360, 45), scale=(0.9, 1.1, 0.1), support="full")
    assert matcher.poses == ((0, 360, 45), (0.9, 1.1, 0.1), "full", 8 * 3)
    frame = tmatch.read(data / "parts.jpg")
    assert matcher.match(frame) == tmatch.match(
        frame, template, angle=(0, 360, 45), scale=(0.9, 1.1, 0.1), support="full"
    )
    assert tmatch.Matcher(template).poses is None
    assert tmatch.Matcher(template, angle=np.float32(30), scale=[1, np.int64(2), 0.5]).poses == (
        (30, 30, 0),
        (1, 2, 0.5),
        "full",
        3,
    )
    with pytest.raises(TypeError, match="templates in poses have no score map"):
        matcher.score_map(frame)


@pytest.mark.parametrize(
    "arguments, kind, message",
    [
        ({"metric": "zncc"}, ValueError, "metric must be 'lcc', .* or 'sqdiff_normed', not 'zncc'"),
        ({"metric": ["lcc"]}, ValueError, "metric must be"),
        ({"domain": "inside"}, ValueError, "domain must be 'valid', 'same' or 'full', not 'inside'"),
        ({"algorithm": "fast"}, ValueError, "algorithm must be"),
        ({"search": "fast"}, ValueError, "search must be"),
        ({"device": "gpu"}, ValueError, "device must be 'auto', 'cpu', 'cuda', .*, not 'gpu'"),
        ({"device": "cuda:"}, ValueError, "device must be"),
        ({"device": "cuda:64"}, ValueError, "device must be"),
        ({"device": 0}, ValueError, "device must be"),
        ({"threads": -1}, ValueError, "."),
        ({"n": -1}, ValueError, "."),
        ({"n": None}, ValueError, "n=None asks for all matches: min_score must say"),
        ({"n": 0}, ValueError, "n=0 asks for all matches: min_score must say"),
        ({"n": 2.5}, TypeError, "n must be an integer, not 2.5"),
        ({"n": 2**63}, ValueError, "n is too large for 64 bits: 9223372036854775808"),
        ({"threads": 2**31}, ValueError, "threads is too large for 32 bits"),
        ({"threads": 1.5}, TypeError, "threads must be an integer"),
        ({"overlap": 2}, ValueError, "."),
        ({"overlap": "a lot"}, TypeError, "."),
        ({"min_score": "high"}, TypeError, "min_score must be a number, not 'high'"),
        ({"min_score": 2}, ValueError, "min_score must be from -1 to 1, as scores of 'lcc' are, not 2"),
        ({"min_score": -1.5}, ValueError, "min_score must be from -1 to 1"),
        ({"min_score": 1.1, "metric": "ccorr_normed"}, ValueError, "as scores of 'ccorr_normed' are, not 1.1"),
        ({"min_score": float("nan")}, ValueError, "not nan"),
        ({"angle": (1, 2, 3, 4)}, ValueError, "angle must be one number"),
        ({"angle": [0, 90, 180]}, ValueError, r"angle=\(0, 90, 180\) is \(from, to, step\), and the step is longer"),
        ({"angle": (0, 90, "a")}, TypeError, "angle must be two or three numbers"),
        ({"angle": ("a", "b")}, TypeError, "angle must be two or three numbers"),
        ({"scale": "large"}, ValueError, "scale must be one number"),
        ({"scale": (1, 1.2, 0.25)}, ValueError, "the step is longer than the range"),
        ({"scale": object()}, TypeError, "scale must be two or three numbers"),
        ({"angle": (0, 1e6)}, ValueError, "."),
        ({"scale": (0, 1)}, ValueError, "."),
        ({"angle": 3, "support": "half"}, ValueError, "support must be"),
        ({"support": "half"}, ValueError, "support must be 'auto', 'disc' or 'full', not 'half'"),
        ({"support": None}, ValueError, "support must be"),
        ({"region": (0, 0, 100, 100)}, ValueError, "is not inside the frame, which has 64 x 48 pixels"),
        ({"region": (-1, 0, 20, 20)}, ValueError, "not inside"),
        ({"region": (2**62, 0, 2**62, 20)}, ValueError, "not inside"),
        ({"region": (0, 0, 20, 0)}, ValueError, "not inside"),
        ({"region": (0, 0, 20)}, TypeError, "region"),
        ({"region": (0, 0, 20, 1.5)}, TypeError, "."),
        ({"mask": [None]}, TypeError, "the mask of the template is of type list"),
        ({"colour": True}, TypeError, "colour"),
    ],
)
def test_wrong_arguments(scene, arguments, kind, message):
    frame, template = scene
    before = [sys.getrefcount(o) for o in (frame, template)]
    with pytest.raises(kind, match=message):
        tmatch.match(frame, template, **arguments)
    assert [sys.getrefcount(o) for o in (frame, template)] == before


def test_library_errors(scene):
    frame, template = scene
    for status, call in {
        "FLAT_TEMPLATE": lambda: tmatch.match(frame, np.zeros((3, 3), np.uint8)),
        "FRAME_TOO_SMALL": lambda: tmatch.match(template, frame),
        "INVALID": lambda: tmatch.match(frame, np.stack([template] * 3, axis=2)),
        "TEMPLATE_TOO_LARGE": lambda: tmatch.Matcher(np.zeros((2**12, 2**12), np.uint8)),
    }.items():
        with pytest.raises(tmatch.InputError) as error:
            call()
        assert error.value.status == status and isinstance(error.value, ValueError) and str(error.value)
    with pytest.raises(tmatch.InputError):
        tmatch.match(frame.astype(np.uint16), template)
    with pytest.raises(tmatch.InputError, match="finite|NaN|nan"):
        tmatch.match(np.full((9, 9), np.nan, np.float32), np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match="no templates"):
        tmatch.match(frame, [])
    with pytest.raises(ValueError, match="a list with a mask"):
        tmatch.match(frame, [template], mask=[None, None])
    for name in ("device_memory", "host_memory"):
        with pytest.raises(ValueError, match=f"{name} is too large for 64 bits"):
            tmatch.Matcher(template, **{name: 2**63})
    with pytest.raises(ValueError, match="peaks is too large for 64 bits"):
        tmatch.Matcher(template).match(frame, peaks=2**63)
    with pytest.raises(tmatch.InputError, match="cpu_features"):
        tmatch.Matcher(template, cpu_features="mmx")
    if len(tmatch.devices()) == 1:
        with pytest.raises(tmatch.Error) as error:
            tmatch.match(frame, template, device="cuda")
        assert error.value.status == "NO_DEVICE" and not isinstance(error.value, ValueError)


def test_settings_do_not_change_the_result(rng):
    frame = rng.integers(0, 256, (90, 110), dtype=np.uint8)
    template = frame[20:44, 30:51].copy()
    expected = tmatch.match(frame, template, n=5)
    for arguments in (
        {"threads": 1},
        {"search": "exhaustive"},
        {"search": "certified"},
        {"algorithm": "direct"},
        {"algorithm": "reference"},
        {"device": "cpu"},
    ):
        assert tmatch.match(frame, template, n=5, **arguments) == expected
    for features in ("none", "sse4.1", "avx2", "all"):
        assert tmatch.Matcher(template, cpu_features=features).match(frame, n=5) == expected


def test_one_matcher_in_many_threads(rng):
    frames = [rng.integers(0, 256, (60, 70), dtype=np.uint8) for _ in range(8)]
    template = rng.integers(0, 256, (8, 9), dtype=np.uint8)
    matcher = tmatch.Matcher([template, template[1:]], threads=1)
    expected = [matcher.match(frame) for frame in frames]
    found = [None] * len(frames)

    def work(i):
        for _ in range(30):
            found[i] = matcher.match(frames[i])
            if found[i] != expected[i]:
                return
            matcher.report
            tmatch.match(frames[i], template, threads=1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(frames))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == expected


def test_other_python_threads_run_meanwhile(rng):
    frame = rng.integers(0, 256, (400, 400), dtype=np.uint8)
    count, done = 0, threading.Event()

    def tick():
        nonlocal count
        while not done.wait(0.001):
            count += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    tmatch.match(frame, frame[:60, :60], algorithm="reference", threads=1)
    counted = count
    done.set()
    ticker.join()
    assert counted >= 5


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork(scene):
    frame, template = scene
    matcher = tmatch.Matcher(template)
    expected = matcher.match(frame), tmatch.match(frame, template)
    child = os.fork()
    if child == 0:
        os._exit((matcher.match(frame), tmatch.match(frame, template)) != expected)
    assert os.waitpid(child, 0)[1] == 0


def resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def test_memory_stays_flat(scene):
    frame, template = scene[0][:8, :8].copy(), scene[1][:2, :2].copy()
    mirrored, flat, wrong = frame[:, ::-1], np.zeros_like(template), template.astype(np.float64)
    matcher = tmatch.Matcher(template, threads=1)

    def calls(count):
        for _ in range(count):
            matcher.match(frame)
            matcher.score_map(mirrored)
            matcher.match(mirrored, n=3, margin=True)
            tmatch.match(frame, template, threads=1)
            for bad in (flat, wrong, frame[:, :0], None):
                try:
                    tmatch.match(frame, bad, threads=1)
                except (TypeError, ValueError):
                    pass
            np.from_dlpack(matcher.score_map(frame))

    calls(1500)
    before = resident()
    calls(11_000)  # a hundred thousand calls
    assert resident() - before < 1 << 20


def test_everything_is_documented():
    for name in tmatch.__all__:
        if name not in ("ArrayLike", "__version__"):
            assert inspect.getdoc(getattr(tmatch, name)), name
    for name in ("match", "score_map", "report", "poses", "close"):
        assert inspect.getdoc(getattr(tmatch.Matcher, name)), name


def test_version():
    assert tmatch.__version__.count(".") == 2
