#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A disk that remembers the order of its writes and flushes.

    tests/soak/blocks.py IMAGE FOLDER RECORD

Serves IMAGE as the file FOLDER/disk through FUSE, without libfuse, until it is unmounted. Nothing
is written to IMAGE: every write and flush is appended to RECORD, from which read_record and
image_at make what the disk may hold after a power cut. Wants root."""
import ctypes
import errno
import os
import struct
import sys

SECTOR = 4096  # what the disk writes whole
WRITE, FLUSH = 0, 1
EVENT = struct.Struct("<BQI")

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE_FILE = 1, 2, 3, 4, 14, 15, 16
STATFS, RELEASE, FSYNC, FLUSH_FILE, INIT, OPENDIR, RELEASEDIR, BATCH_FORGET = 17, 18, 20, 25, 26, 27, 29, 42
HEADER = struct.Struct("<IIQQIIII")
DISK = 2  # the file's number; the folder's is 1
MOST = 128 << 10


def read_record(path):
    """The events: (offset, bytes) of a write, None of a flush."""
    events = []
    with open(path, "rb") as file:
        while header := file.read(EVENT.size):
            kind, offset, size = EVENT.unpack(header)
            events.append((offset, file.read(size)) if kind == WRITE else None)
    return events


def image_at(image, events, cut, keep):
    """What the disk holds when the power goes before event number cut: all that was written before
    the last flush, and of later sectors those for which keep() is true."""
    flushed = max((i for i in range(cut) if events[i] is None), default=0)
    disk = bytearray(image)
    for i, event in enumerate(events[:cut]):
        if event is None:
            continue
        offset, data = event
        for at in range(0, len(data), SECTOR):
            if i < flushed or keep():
                part = data[at:at + SECTOR]
                disk[offset + at:offset + at + len(part)] = part
    return disk


class Server:
    def __init__(self, image, folder, record):
        with open(image, "rb") as file:
            self.disk = bytearray(file.read())
        self.record = open(record, "ab", buffering=0)
        self.fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        libc = ctypes.CDLL(None, use_errno=True)
        data = f"fd={self.fuse},rootmode=40000,user_id=0,group_id=0".encode()
        if libc.mount(b"tmatch-blocks", folder.encode(), b"fuse", 0, data) != 0:
            raise OSError(ctypes.get_errno(), "mount")

    def attributes(self, node):
        size, mode = (len(self.disk), 0o100600) if node == DISK else (0, 0o40700)
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0,
                           SECTOR, 0)

    def lookup(self, node, body):
        if body != b"disk\0":
            return None
        return struct.pack("<QQQQII", DISK, 0, 1 << 30, 1 << 30, 0, 0) + self.attributes(DISK)

    def getattr(self, node, body):
        return struct.pack("<QII", 1 << 30, 0, 0) + self.attributes(node)

    def read(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        return bytes(self.disk[offset:offset + size])

    def write(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        data = body[40:40 + size]
        self.disk[offset:offset + size] = data
        self.record.write(EVENT.pack(WRITE, offset, size) + data)
        return struct.pack("<II", size, 0)

    def flush(self, node, body):
        self.record.write(EVENT.pack(FLUSH, 0, 0))
        return b""

    def init(self, node, body):
        major, minor, read_ahead, _ = struct.unpack_from("<IIII", body)
        big_writes = 1 << 5
        return struct.pack("<IIIIHHIIHH8I", 7, 31, read_ahead, big_writes, 16, 12, MOST, 1, 0, 0,
                           *([0] * 8))

    def serve(self):
        def opened(node, body):
            return struct.pack("<QII", 0, 0, 0)

        def nothing(node, body):
            return b""

        answers = {LOOKUP: self.lookup, GETATTR: self.getattr, SETATTR: self.getattr, READ: self.read,
                   WRITE_FILE: self.write, FSYNC: self.flush, INIT: self.init, OPEN: opened,
                   OPENDIR: opened, FLUSH_FILE: nothing, RELEASE: nothing, RELEASEDIR: nothing,
                   STATFS: lambda node, body: struct.pack("<5Q10I", *([0] * 15))}
        while True:
            try:
                request = os.read(self.fuse, MOST + 4096)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return  # ENODEV: it is unmounted
            _, operation, unique, node, *_ = HEADER.unpack_from(request)
            if operation in (FORGET, BATCH_FORGET):
                continue
            code, answer = 0, None
            if operation in answers:
                answer = answers[operation](node, request[HEADER.size:])
                code = 0 if answer is not None else -errno.ENOENT
            else:
                code = -errno.ENOSYS
            answer = answer or b""
            try:
                os.write(self.fuse, struct.pack("<IiQ", 16 + len(answer), code, unique) + answer)
            except OSError as error:
                if error.errno != errno.ENOENT:  # the request was interrupted
                    raise


if __name__ == "__main__":
    server = Server(*sys.argv[1:])
    print("ready", flush=True)
    server.serve()
