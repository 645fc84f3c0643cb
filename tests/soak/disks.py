#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Disks that fail while tmatch writes: a message that says why, status 2, nothing half written, and
the resumed run comes to the results of one that went well.

    tests/soak/disks.py [--all] FAULTS build/tmatch

FAULTS is the library made of faults.c, by which calls fail one after the other. With --all, which wants
root, more of them, and disks that are really full, out of inodes or read-only. Prints TAP."""
import argparse
import errno
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import mounts
from frames import make_pictures
from kills import contents

FRAMES = 24
FAULTS = (("open", (1, 2, 7), ("ENOSPC", "EDQUOT", "EROFS")),
          ("write", (1, 2, 9), ("ENOSPC", "EDQUOT", "EIO")),
          ("rename", (1, 2, 9), ("ENOSPC", "EDQUOT", "EROFS")),
          ("mkdir", (1, 2), ("ENOSPC", "EROFS")),
          ("fdatasync", (1, 2, 9), ("EIO", "ENOSPC", "EDQUOT")),
          ("fsync", (2, 9), ("EIO",)))


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


class Tests:
    def __init__(self, options, folder):
        self.faults, self.program = options.faults.resolve(), options.tmatch.resolve()
        self.folder = folder
        self.work = folder / "work"
        self.count = self.failed = 0
        (folder / "frames").mkdir()
        for i, picture in enumerate(make_pictures(FRAMES, 160, 120)):
            (folder / f"frames/{i:02d}.pgm").write_bytes(picture)

    def start(self, environment):
        return subprocess.Popen(
            [self.program, "-q", "--device", "cpu", "-o", "seen", "--crops", "crops", "--resume", "log",
             "--report", "report.html", "-t", f"{self.folder}/frames/03.pgm[12x10+30+40]",
             "-t", f"{self.folder}/frames/05.pgm[40x30+9+9]", self.folder / "frames"],
            cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment})

    def match(self, **environment):
        process = self.start(environment)
        messages = process.communicate()[1]
        return process.returncode, messages

    def preloaded(self, **environment):
        return self.match(LD_PRELOAD=str(self.faults), **environment)

    def empty(self):
        run("rm", "-rf", *self.work.iterdir())

    def outputs(self):
        lines = (self.work / "log").read_bytes().splitlines()
        return lines, {name: contents(self.work / name) for name in ("seen", "crops")}

    def set_whole(self):
        self.work.mkdir(exist_ok=True)
        if self.match() != (0, ""):
            sys.exit("a run on a good disk fails")
        self.whole = self.outputs()
        self.empty()

    def tell(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ok' if faults else 'ok'} {self.count} - {name}", flush=True)
        for fault in faults:
            print(f"# {fault}")

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def leftovers(self):
        """Temporary files, pictures that are not whole, half lines."""
        for name, files in self.whole[1].items():
            for file, content in contents(self.work / name).items():
                if content != files.get(file):
                    yield f"{name}/{file} is not what it should be"
        log = self.work / "log"
        text = log.read_bytes() if log.exists() else b""
        if text and not text.endswith(b"\n"):
            yield "the log ends in half a line"

    def resumed(self):
        """What is not as in one run once this one is resumed."""
        if self.match() != (0, ""):
            yield "the resumed run fails"
        lines, pictures = self.outputs()
        for line in self.whole[0]:
            if lines.count(line) != 1 and b'"id"' in line:
                yield f"{lines.count(line)} times: {line.decode()[:100]}"
        if [line for line in lines if line not in self.whole[0] and b'"id"' in line]:
            yield "other lines"
        if pictures != self.whole[1]:
            yield "other pictures"
        if b"report" not in b"".join(p.name.encode() for p in self.work.iterdir()):
            yield "no report"

    def judge(self, name, status, messages, reasons):
        """What a run that failed should have said, and what should be there of it."""
        faults = list(self.leftovers())
        if status != 2:
            faults.append(f"status {status}")
        if not any(reason in messages for reason in reasons):
            faults.append(f"no such message: {messages[:300]}")
        self.tell(name, faults + list(self.resumed()))
        self.empty()

    def call_fails(self, call, number, error, mark):
        code = getattr(errno, error)
        status, messages = self.preloaded(TMATCH_SOAK_FAULT=f"{call}:{number}:{code}{mark}")
        self.judge(f"{call} {number}{mark} {error}", status, messages, [os.strerror(code)])

    def clock_goes_back(self):
        status, messages = self.preloaded(TMATCH_SOAK_CLOCK="1")
        faults = [] if self.outputs() == self.whole else ["other results"]
        self.tell("clock goes back", faults + ([] if (status, messages) == (0, "") else [messages]))
        self.empty()

    def log_behind_a_link(self):
        """Whose folder is synced is the log's own, not the link's."""
        (self.work / "elsewhere").mkdir()
        (self.work / "log").symlink_to("elsewhere/log")
        status, messages = self.preloaded(TMATCH_SOAK_SYNCED=str(self.folder / "synced"))
        faults = [] if self.outputs() == self.whole else ["other results"]
        if str(self.work / "elsewhere") not in (self.folder / "synced").read_text().splitlines():
            faults.append("the folder of the log was not synced")
        self.tell("log behind a link", faults + ([] if (status, messages) == (0, "") else [messages]))
        self.empty()

    def small_disk(self, name, options, room):
        run("mount", "-t", "tmpfs", "-o", options, "tmpfs", self.work)
        try:
            status, messages = self.match()
            run("mount", "-o", f"remount,{room}", self.work)
            self.judge(name, status, messages, [os.strerror(errno.ENOSPC)])
        finally:
            run("umount", self.work)

    def ext4(self, name, make, spoil, mend, reasons):
        """An ext4 of its own; spoil is called soon after the run has begun."""
        image = self.folder / "image"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        run("mkfs.ext4", "-q", *make, image)
        run("mount", "-o", "loop,errors=remount-ro", image, self.work)
        try:
            run("rm", "-rf", self.work / "lost+found")
            process = self.start({})
            spoil()
            messages = process.communicate()[1]
            faults = [] if process.returncode == 2 else [f"status {process.returncode}"]
            if not any(reason in messages for reason in reasons):
                faults.append(f"no such message: {messages[:300]}")
            mend(image)
            # A process that cannot write cannot remove what it leaves: the next one does.
            self.tell(name, faults + list(self.resumed()) + list(self.leftovers()))
        finally:
            run("umount", self.work)
            image.unlink()

    def read_only_in_the_middle(self):
        def spoil():
            while not len(list((self.work / "seen").glob("*.png"))) > 2:
                time.sleep(0.005)
            device = subprocess.run(["findmnt", "-no", "SOURCE", str(self.work)], check=True,
                                    capture_output=True, text=True).stdout.strip()
            pathlib.Path(f"/sys/fs/ext4/{pathlib.Path(device).name}/trigger_fs_error").write_text("1")

        def mend(image):
            run("umount", self.work)
            subprocess.run(["e2fsck", "-fy", str(image)], check=False, capture_output=True)
            run("mount", "-o", "loop", image, self.work)
            run("rm", "-rf", self.work / "lost+found")

        self.ext4("read-only in the middle", (), spoil, mend,
                  [os.strerror(errno.EROFS), os.strerror(errno.EIO), "Structure needs cleaning"])

    def quota(self, room):
        """A Btrfs with a quota, which root, too, has to keep."""
        image = self.folder / "image"
        try:
            with open(image, "wb") as file:
                file.truncate(256 << 20)
            run("mkfs.btrfs", "-q", image)
            run("mount", "-o", "loop", image, self.work)
        except (OSError, subprocess.CalledProcessError):
            self.skip(f"quota of {room}", "needs mkfs.btrfs and a kernel that has Btrfs")
            return
        try:
            run("btrfs", "quota", "enable", self.work)
            run("btrfs", "qgroup", "limit", room, self.work)
            status, messages = self.match()
            run("btrfs", "qgroup", "limit", "none", self.work)
            self.judge(f"quota of {room}", status, messages, [os.strerror(errno.EDQUOT)])
        finally:
            run("umount", self.work)
            image.unlink()

    def run_all(self, everything):
        self.set_whole()
        for call, numbers, errors in FAULTS:
            for number in numbers if everything else numbers[-1:]:
                for i, error in enumerate(errors if everything else errors[:1]):
                    self.call_fails(call, number, error, "+" if (i + number) % 2 else "")
        self.clock_goes_back()
        self.log_behind_a_link()
        if everything:
            for room in ("150k", "500k", "1m"):
                self.small_disk(f"disk of {room} full", f"size={room}", "size=1g")
            for inodes in (4, 9, 20):
                self.small_disk(f"{inodes} inodes", f"size=1g,nr_inodes={inodes}", "nr_inodes=0")
            for room in ("150K", "400K", "1M"):
                self.quota(room)
            self.read_only_in_the_middle()
        print(f"1..{self.count}")
        return self.failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("faults", type=pathlib.Path)
    parser.add_argument("tmatch", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if options.all:
        mounts.own()
    with tempfile.TemporaryDirectory(prefix="tmatch-disks-") as folder:
        return 1 if Tests(options, pathlib.Path(folder)).run_all(options.all) else 0


if __name__ == "__main__":
    sys.exit(main())
