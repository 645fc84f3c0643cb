# SPDX-License-Identifier: MIT
"""CUDA devices: those of tests/fake, which are threads of the CPU."""

import os

import numpy as np
import pytest
import tmatch


@pytest.fixture(autouse=True)
def fake_devices(monkeypatch):
    folder = os.environ.get("TMATCH_FAKE_PLUGIN_DIR")
    if not folder:
        pytest.skip("TMATCH_FAKE_PLUGIN_DIR names no CUDA backend for tests")
    monkeypatch.setenv("TMATCH_PLUGIN_DIR", folder)


@pytest.fixture
def scene(rng):
    frame = rng.integers(0, 256, (150, 200), dtype=np.uint8)
    return frame, frame[30:70, 50:80].copy()


def test_devices():
    assert [(d.kind, d.index) for d in tmatch.devices()] == [("cpu", 0)] + [("cuda", i) for i in range(4)]


def test_backend_path(monkeypatch, tmp_path):
    assert tmatch.cuda_backend() == os.path.join(os.environ["TMATCH_FAKE_PLUGIN_DIR"], "libtmatch-cuda.so")
    monkeypatch.setenv("TMATCH_PLUGIN_DIR", str(tmp_path))
    assert tmatch.cuda_backend() is None


def test_calibrate(scene, monkeypatch):
    frame, template = scene
    monkeypatch.setenv("TMATCH_FAKE_TIMES", "2.5")
    costs = tmatch.calibrate("cuda:1") + tmatch.calibrate("cpu")
    assert [line.split("\t")[2] for line in costs.splitlines()] == ["cuda", "cpu"]
    for device in ("cpu", "cuda:2"):
        plain, measured = tmatch.Matcher(template, device=device), tmatch.Matcher(template, device=device, costs=costs)
        assert plain.match(frame) == measured.match(frame)
        assert "measured here" in measured.report.plan and "measured here" not in plain.report.plan
    with pytest.raises(tmatch.Error):
        tmatch.calibrate("cuda:9")


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:3", "cuda:0,2"])
def test_same_results(scene, device):
    frame, template = scene
    expected = tmatch.match(frame, template, device="cpu", n=4, margin=True)
    assert tmatch.match(frame, template, device=device, n=4, margin=True) == expected
    matcher = tmatch.Matcher(template, device=device)
    scores = matcher.score_map(frame)
    assert matcher.report.device.startswith("cuda:")
    assert np.array_equal(np.asarray(scores), np.asarray(tmatch.score_map(frame, template, device="cpu")))


def test_no_such_device(scene):
    with pytest.raises(tmatch.Error) as error:
        tmatch.Matcher(scene[1], device="cuda:7")
    assert error.value.status == "NO_DEVICE"


def test_failing_devices(scene, monkeypatch):
    frame, template = scene
    expected = tmatch.match(frame, template, device="cpu")
    monkeypatch.setenv("TMATCH_FAULT", "0:3:719")
    for device, taker in (("cuda", "other devices"), ("cuda:0", "the CPU")):
        with pytest.warns(RuntimeWarning, match=f"cuda:0, .*: {taker} took over"):
            assert tmatch.Matcher(template, device=device).match(frame) == expected
    monkeypatch.setenv("TMATCH_FAULT", "1:4:-1")  # it hangs
    with tmatch.Matcher(template, device="cuda:1", device_timeout=0.2) as matcher:
        with pytest.warns(RuntimeWarning, match="cuda:1 did not answer within 0.2 s: the CPU took over"):
            assert matcher.match(frame) == expected
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError):
            tmatch.Matcher(template, device_timeout=wrong)
    monkeypatch.setenv("TMATCH_FAULT", "0:1:719")  # as it is opened
    with pytest.raises(tmatch.Error, match="cuda:0") as error:
        tmatch.Matcher(template, device="cuda:0")
    assert error.value.status == "DEVICE" and not isinstance(error.value, ValueError)
