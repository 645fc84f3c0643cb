# SPDX-License-Identifier: MIT
"""Pictures that are decoded in processes of their own."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tmatch
from cases import check_cases


@pytest.fixture(autouse=True)
def sandbox(data):
    try:
        tmatch.read(data / "camera.png", sandbox=True)
    except tmatch.Error as error:
        assert error.status == "SANDBOX"
        pytest.skip(f"there is no sandbox: {error}")
    if not helpers():
        pytest.skip("/proc does not tell which processes there are")


def same(a, b):
    return (
        np.array_equal(np.asarray(a), np.asarray(b))
        and (a.format, a.dtype, a.mask is None) == (b.format, b.dtype, b.mask is None)
        and (a.mask is None or np.array_equal(np.asarray(a.mask), np.asarray(b.mask)))
    )


def stat(process):
    """What /proc tells of a process from its state and its parent on; OSError: it has ended."""
    return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()


def helpers():
    """The processes from which decoders are forked."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int(stat(entry.name)[1])
            if parent == os.getpid() and b"--sandboxed-decoder" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has just ended
            pass
    return found


def test_same_pictures(data):
    names = [n for n in sorted(os.listdir(data)) if n.endswith((".png", ".jpg"))]
    for name in names[: check_cases(1000) // 2 + 1]:
        for options in ({}, {"color": True}, {"rows": (5, 9)}):
            there = tmatch.read(data / name, sandbox=True, **options)
            assert same(there, tmatch.read(data / name, **options)), (name, options)


def test_same_errors(data, tmp_path):
    (tmp_path / "cut.png").write_bytes((data / "camera.png").read_bytes()[:300])
    (tmp_path / "empty.png").write_bytes(b"")
    for name in ("cut.png", "empty.png", "none.png"):
        said = []
        for sandbox in (False, True):
            with pytest.raises((tmatch.InputError, FileNotFoundError)) as error:
                tmatch.read(tmp_path / name, sandbox=sandbox)
            said.append((type(error.value), str(error.value)))
        assert said[0] == said[1]


def test_files(data, tmp_path):
    for name in ("astronaut.png", "patch.jpg"):
        shutil.copy(data / name, tmp_path)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    here, there = (
        [
            (r.path, r.matches, str(r.error))
            for r in tmatch.files(tmp_path, data / "patch.jpg", sandbox=s, progress=False)
        ]
        for s in (False, True)
    )
    assert here == there and len(here) == 3


def test_in_threads(data):
    expected = tmatch.read(data / "patch.jpg")
    with ThreadPoolExecutor(4) as pool:
        assert all(
            same(read, expected)
            for read in pool.map(lambda _: tmatch.read(data / "patch.jpg", sandbox=True), range(40))
        )
    assert helpers()


def test_killed_helpers(data):
    """Others take their place."""
    expected = tmatch.read(data / "patch.jpg")
    for _ in range(3):
        before = helpers()
        assert before
        for helper in before:
            os.kill(helper, signal.SIGKILL)
        until = time.monotonic() + 60
        while set(before) & set(helpers()):
            assert time.monotonic() < until
        assert same(tmatch.read(data / "patch.jpg", sandbox=True), expected)


def test_forked_process(data):
    """It has helpers of its own, and leaves its parent's alone."""
    before = sorted(helpers())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            read = tmatch.read(data / "patch.jpg", sandbox=True)
            status = 0 if same(read, tmatch.read(data / "patch.jpg")) and len(helpers()) == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sorted(helpers()) == before
    assert same(tmatch.read(data / "patch.jpg", sandbox=True), tmatch.read(data / "patch.jpg"))


def runs(process):
    """Whether a process is there that has not ended; it may end between any two looks."""
    try:
        return stat(process)[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_helpers_end_with_the_process(data, end):
    program = (
        "import os, sys, tmatch\n"
        "tmatch.read(sys.argv[1], sandbox=True)\n"
        "task = f'/proc/self/task/{os.getpid()}/children'\n"
        "print(open(task).read(), flush=True)\n" + end
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, data / "patch.jpg"], capture_output=True, text=True, timeout=60
    )
    if not ran.stdout.strip():
        pytest.skip("this kernel does not tell a process's children")
    until = time.monotonic() + 30
    for helper in ran.stdout.split():
        while runs(helper):
            assert time.monotonic() < until
            time.sleep(0.01)


def test_no_sandbox(data):
    """Where it cannot be had nothing is decoded."""
    program = (
        "import sys, tmatch\n"
        "from tmatch import _files, _read, _tmatch\n"
        "_files.open_sandbox = _read.open_sandbox = lambda: _tmatch.open_sandbox('/none/tmatch')\n"
        "for call in (lambda: tmatch.read(sys.argv[1], sandbox=True),\n"
        "             lambda: tmatch.files([], sys.argv[1], sandbox=True)):\n"
        "    try:\n"
        "        call()\n"
        "    except tmatch.Error as error:\n"
        "        print(error.status, error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, data / "patch.jpg"], capture_output=True, text=True)
    line = "SANDBOX there is no /none/tmatch, from which the process that decodes is started\n"
    assert ran.stdout == line * 2
