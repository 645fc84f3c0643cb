# SPDX-License-Identifier: MIT
"""What the tests of the examples share: frames, what one run makes of them, and processes to kill."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/soak"))
from frames import make_pictures  # noqa: E402

# All have the same results; this one takes milliseconds a frame, so that there is time to kill it.
SLOW = ["--device", "cpu", "--algorithm", "reference"]
FRAMES = 160


class Skip(Exception):
    """Why a test cannot run here."""


class Machines:
    """A folder with frames and a template, and tmatch in the path."""

    def __init__(self, folder, program):
        self.folder, self.program = pathlib.Path(folder).resolve(), pathlib.Path(program).resolve()
        (self.folder / "bin").mkdir()
        (self.folder / "bin/tmatch").symlink_to(self.program)
        self.environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}:/usr/sbin", LC_ALL="C",
                                SHELL="/bin/bash", HOME=str(self.folder))
        (self.folder / "frames").mkdir()
        pictures = make_pictures(16, 96, 80)
        for i in range(FRAMES):
            (self.folder / f"frames/{i:04d}.pgm").write_bytes(pictures[i % 16])
        (self.folder / "template.pgm").write_bytes(pictures[0])
        self.words = ["-t", "template.pgm[32x24+20+20]", *SLOW, "frames"]

    def run(self, *command, timeout=60, **more):
        return subprocess.run([str(word) for word in command], cwd=self.folder, timeout=timeout, text=True,
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, **more)

    def start(self, *command, **more):
        return subprocess.Popen([str(word) for word in command], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, **more)

    def one_run(self):
        """What one run prints; quickly, as all algorithms have the same results."""
        words = [word for word in self.words if word not in SLOW[2:]]
        return self.run("tmatch", "-q", *words).stdout

    def processes(self, *words):
        """The tmatch processes of this folder with these words in their command line."""
        found = []
        for proc in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(proc / "cwd") != str(self.folder):
                    continue
                line = (proc / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended
            if pathlib.Path(line[0]).name == "tmatch" and all(word in line for word in words):
                found.append(int(proc.name))
        return found

    def lines(self, log):
        path = self.folder / log
        return path.read_bytes().count(b'{"frame"') if path.exists() else 0

    def wait(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"never: {what}")
            time.sleep(0.01)

    def catch_shard(self, number, after):
        """Waits until a shard's log has so many lines. False where it is finished, as on a busy machine."""
        self.wait(lambda: self.lines(f"log.{number}") >= after, f"{after} lines of shard {number}")
        return b'{"finished"' not in (self.folder / f"log.{number}").read_bytes()

    def kill_shard(self, number, shards, after):
        """Kills a shard when its log has so many lines. Returns how often it is begun, if it is begun again."""
        killed = False
        for pid in self.processes(f"{number}/{shards}") if self.catch_shard(number, after) else []:
            try:
                os.kill(pid, signal.SIGKILL)
                killed = True
            except ProcessLookupError:
                pass  # it has just ended
        return 1 + killed

    def check_logs(self, shards, begun, said):
        """That the shards were begun at least so often, and no frame was matched twice."""
        counts = [(self.folder / f"log.{n}").read_bytes().count(b'{"begun"') for n in range(1, shards + 1)]
        assert all(c >= b for c, b in zip(counts, begun)), f"shards were begun {counts} times, not {begun}\n{said}"
        matched = sum(self.lines(f"log.{n}") for n in range(1, shards + 1))
        assert matched == FRAMES, f"{matched} frames were matched\n{said}"
        if sum(begun) == len(begun):
            print("# all shards were finished before they could be killed")


def run_tests(tests, program):
    """Runs the functions, each with a folder of its own, as TAP. Returns the exit status."""
    import shutil
    import tempfile
    failures = 0
    random.seed()
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests.items(), 1):
        folder = tempfile.mkdtemp(prefix="tmatch-machines-")
        ending = ""
        try:
            test(Machines(folder, program))
        except Skip as why:
            ending = f" # SKIP {why}"
        except (AssertionError, subprocess.TimeoutExpired, OSError) as error:
            failures += 1
            print("not ", end="")
            ending = "\n# " + str(error).replace("\n", "\n# ")
        print(f"ok {number} - {name}{ending}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return int(failures > 0)
