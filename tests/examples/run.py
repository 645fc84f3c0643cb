#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs examples/parallel.sh, slurm.sh and tmatch-watch.service, as TAP: tests/examples/run.py build/tmatch [NAME]...

Shards are killed on the way. A test is skipped by name where GNU parallel, systemd or SLURM is missing or cannot
start."""
import os
import pathlib
import re
import shutil
import signal
import sys

from machines import SOURCE, Skip, run_tests
from slurm import slurm


def parallel(m):
    if not shutil.which("parallel"):
        raise Skip("no parallel")
    expected = m.one_run()
    m.environment["JOBS"] = "2"
    with open(m.folder / "out", "w") as out, open(m.folder / "err", "w") as err:
        process = m.start(SOURCE / "examples/parallel.sh", 4, *m.words, stdout=out, stderr=err)
    begun = [m.kill_shard(1, 4, 5), m.kill_shard(2, 4, 5), 1, 1]
    status = process.wait(timeout=60)
    said = (m.folder / "err").read_text()
    assert (m.folder / "out").read_text() == expected, "other results\n" + said
    assert status == 0, f"status {status}\n{said}"
    m.check_logs(4, begun, said)


def unit_of(m):
    """The unit with what is not there replaced, and its command."""
    text = (SOURCE / "examples/tmatch-watch.service").read_text()
    paths = {"/usr/bin/tmatch": str(m.program), "/srv/tmatch": str(m.folder)}  # all at once: the program may lie in the second
    text = re.sub("|".join(paths), lambda found: paths[found.group()], text)
    text = re.sub("^User=.*", "User=root", text, flags=re.M)
    return text, re.search("^ExecStart=(.*)$", text, re.M).group(1).split()


def systemd_unit(m):
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze")
    (m.folder / "tmatch-watch.service").write_text(unit_of(m)[0])
    made = m.run("systemd-analyze", "verify", m.folder / "tmatch-watch.service")
    ours = [line for line in (made.stdout + made.stderr).splitlines() if "tmatch-watch" in line]
    assert made.returncode == 0 and not ours, made.stdout + made.stderr


def watching(m):
    """The unit's command, as systemd starts it again after a crash and stops it."""
    command = unit_of(m)[1]
    (m.folder / "templates").mkdir()
    (m.folder / "incoming").mkdir()
    shutil.copy(m.folder / "template.pgm", m.folder / "templates")
    frames = sorted((m.folder / "frames").iterdir())[:6]
    results = m.folder / "results"

    def arrive(*some):
        for frame in some:
            shutil.copy(frame, m.folder / f".{frame.name}")
            os.rename(m.folder / f".{frame.name}", m.folder / "incoming" / frame.name)

    def start(count):
        with open(results, "ab") as out:
            process = m.start(*command, stdout=out)
        m.wait(lambda: results.read_bytes().count(b"\n") == count, f"{count} results")
        return process

    arrive(*frames[:2])
    process = start(2)
    arrive(*frames[2:4])
    m.wait(lambda: results.read_bytes().count(b"\n") == 4, "4 results")
    process.kill()
    process.wait()
    arrive(frames[4])
    process = start(5)
    arrive(frames[5])
    m.wait(lambda: results.read_bytes().count(b"\n") == 6, "6 results")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == -signal.SIGTERM, "did not end by SIGTERM"
    names = re.findall(r'"frame":"incoming/([^"]*)"', results.read_text())
    assert sorted(names) == [frame.name for frame in frames], f"results of {names}"


def main():
    tests = {"parallel": parallel, "systemd-unit": systemd_unit, "watch": watching, "slurm": slurm}
    wanted = sys.argv[2:] or list(tests)
    return run_tests({name: tests[name] for name in wanted}, pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
